// Jobs that wait for company on their way to a rank: a bin per destination, made at its first job.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/base/post.h"

namespace fairlead::multigame {

template <class Item>
class Outbox {
 public:
  Outbox(Rank ranks, std::uint32_t capacity) : bins_(ranks), capacity_(capacity) {}

  // All that waits for `to` when it has become a message full, which emptied(to) must follow; else
  // nothing.
  std::span<const Item> add(Rank to, const Item& item) {
    Bin& bin = bins_[to];
    if (bin.items.capacity() == 0) bin.items.reserve(capacity_);
    bin.items.push_back(item);
    if (!bin.listed) {
      bin.listed = true;
      listed_.push_back(to);
    }
    return bin.items.size() < capacity_ ? std::span<const Item>{}
                                        : std::span<const Item>(bin.items);
  }
  void emptied(Rank to) { bins_[to].items.clear(); }

  // Calls send(to, items) for each destination that something waits for, in the order in which the
  // first job of each came.
  template <class Send>
  void flush(Send&& send) {
    for (const Rank to : listed_) {
      Bin& bin = bins_[to];
      bin.listed = false;
      if (bin.items.empty()) continue;
      send(to, std::span<const Item>(bin.items));
      bin.items.clear();
    }
    listed_.clear();
  }

  // Throws away what waits; how many that was.
  std::uint64_t drop() {
    std::uint64_t dropped = 0;
    flush([&](Rank, std::span<const Item> items) { dropped += items.size(); });
    return dropped;
  }

 private:
  struct Bin {
    std::vector<Item> items;
    bool listed = false;
  };
  std::vector<Bin> bins_;
  std::vector<Rank> listed_;
  std::uint32_t capacity_;
};

}  // namespace fairlead::multigame
