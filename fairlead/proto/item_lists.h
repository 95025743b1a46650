// FIFO lists of small items that share one slab: what waits for a window, what waits for its
// acknowledgment. A list costs 8 bytes; memory grows to the largest backlog so far.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/check.h"

namespace fairlead::proto {

struct ItemList {
  std::uint32_t first = UINT32_MAX;
  std::uint32_t last = UINT32_MAX;
  bool empty() const { return first == UINT32_MAX; }
};

template <class T = std::uint32_t>
class ItemLists {
 public:
  void push(ItemList& list, T item) {
    const std::uint32_t index = fresh();
    items_[index] = Item{item, kNone};
    if (list.empty()) {
      list.first = index;
    } else {
      items_[list.last].next = index;
    }
    list.last = index;
    ++size_;
  }
  // The oldest item; the list is not empty.
  T front(const ItemList& list) const { return items_[list.first].item; }
  void pop(ItemList& list) {
    FAIRLEAD_DCHECK(!list.empty(), "pop of an empty list");
    const std::uint32_t index = list.first;
    list.first = items_[index].next;
    items_[index].next = free_;
    free_ = index;
    --size_;
  }
  // Oldest first. `visit` changes no list.
  template <class Visit>
  void for_each(const ItemList& list, Visit&& visit) const {
    for (std::uint32_t i = list.first; i != kNone; i = items_[i].next) visit(items_[i].item);
  }
  // Over all lists.
  std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Item {
    T item;
    std::uint32_t next;
  };

  std::uint32_t fresh() {
    if (free_ == kNone) {
      items_.push_back({T{}, kNone});
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t index = free_;
    free_ = items_[index].next;
    return index;
  }

  std::vector<Item> items_;
  std::uint32_t free_ = kNone;
  std::uint32_t size_ = 0;
};

}  // namespace fairlead::proto
