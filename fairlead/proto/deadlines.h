// Deadlines per peer, the earliest first. Lazy: an entry that has come too early is put back by its
// owner, so that a packet sent or acknowledged touches no heap. At most one entry a peer and kind
// counts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"

namespace fairlead::proto {

class Deadlines {
 public:
  struct Entry {
    Ps at;
    Peer peer;
    std::uint32_t kind;
  };

  void add(Ps at, Peer peer, std::uint32_t kind) {
    heap_.push_back({at, peer, kind});
    std::push_heap(heap_.begin(), heap_.end(), later);
    earliest_ = heap_.front().at;
  }
  Ps earliest() const { return earliest_; }
  // Not empty.
  Entry take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    earliest_ = heap_.empty() ? kNever : heap_.front().at;
    return entry;
  }

 private:
  // A total order: the same run on every library.
  static bool later(const Entry& a, const Entry& b) {
    if (a.at != b.at) return a.at > b.at;
    return a.peer != b.peer ? a.peer > b.peer : a.kind > b.kind;
  }

  Ps earliest_ = kNever;  // asked for more often than the heap changes
  std::vector<Entry> heap_;
};

}  // namespace fairlead::proto
