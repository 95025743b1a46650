// FIFO lists of small items that share one slab: what waits for a window, what waits for its
// acknowledgment. A list costs 8 bytes, and a single item lies in them; memory grows to the largest
// backlog so far.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/check.h"

namespace fairlead::proto {

// One list; ItemLists' to change.
struct ItemList {
  std::uint32_t first = UINT32_MAX;  // in the slab; where it is single, the item itself
  std::uint32_t last = UINT32_MAX;   // in the slab, or one of these
  static constexpr std::uint32_t kEmpty = UINT32_MAX;
  static constexpr std::uint32_t kSingle = UINT32_MAX - 1;
  bool empty() const { return last == kEmpty; }
};

class ItemLists {
 public:
  void push(ItemList& list, std::uint32_t item) {
    ++size_;
    if (list.empty()) {
      list = {item, ItemList::kSingle};
      return;
    }
    if (list.last == ItemList::kSingle) list.first = list.last = fresh(list.first);
    const std::uint32_t index = fresh(item);
    items_[list.last].next = index;
    list.last = index;
  }
  // The oldest item; the list is not empty.
  std::uint32_t front(const ItemList& list) const {
    return list.last == ItemList::kSingle ? list.first : items_[list.first].item;
  }
  void pop(ItemList& list) {
    FAIRLEAD_DCHECK(!list.empty(), "pop of an empty list");
    --size_;
    if (list.last == ItemList::kSingle) {
      list = {};
      return;
    }
    const std::uint32_t index = list.first;
    if (index == list.last) {
      list = {};
    } else {
      list.first = items_[index].next;
    }
    items_[index].next = free_;
    free_ = index;
  }
  // Oldest first. `visit` changes no list.
  template <class Visit>
  void for_each(const ItemList& list, Visit&& visit) const {
    if (list.empty()) return;
    if (list.last == ItemList::kSingle) return visit(list.first);
    for (std::uint32_t i = list.first;; i = items_[i].next) {
      visit(items_[i].item);
      if (i == list.last) return;
    }
  }
  // Over all lists.
  std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Item {
    std::uint32_t item;
    std::uint32_t next;
  };

  std::uint32_t fresh(std::uint32_t item) {
    if (free_ == kNone) {
      items_.push_back({item, kNone});
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t index = free_;
    free_ = items_[index].next;
    items_[index] = {item, kNone};
    return index;
  }

  std::vector<Item> items_;
  std::uint32_t free_ = kNone;
  std::uint32_t size_ = 0;
};

}  // namespace fairlead::proto
