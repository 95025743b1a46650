// Deadlines per peer, the earliest first. Lazy: an entry that has come too early is put back by its
// owner, so that a packet sent or acknowledged touches none. At most one entry a peer and kind
// counts.
//
// A queue per kind: entries of one kind mostly come in order of time, as their delay is the same
// for all peers, so that adding and taking one touch a line of memory each. One that comes out of
// order passes those after it.
#pragma once
#include <array>
#include <cstdint>

#include "fairlead/base/check.h"
#include "fairlead/base/post.h"
#include "fairlead/base/prefetch.h"
#include "fairlead/base/ring.h"
#include "fairlead/base/units.h"

namespace fairlead::proto {

class Deadlines {
 public:
  static constexpr std::uint32_t kKinds = 2;

  struct Entry {
    Ps at = kNever;
    Peer peer = 0;
    std::uint32_t kind = 0;  // below kKinds
  };

  void add(Ps at, Peer peer, std::uint32_t kind) {
    FAIRLEAD_DCHECK(kind < kKinds, "kind {}", kind);
    const Entry entry{at, peer, kind};
    Ring<Entry>& queue = queues_[kind];
    queue.push_back(entry);
    for (std::size_t i = queue.size() - 1; i > 0 && later(queue[i - 1], entry); --i) {
      queue[i] = queue[i - 1];
      queue[i - 1] = entry;
    }
    if (later(first_, entry)) first_ = entry;
  }
  // kNever: there is none.
  Ps earliest() const { return first_.at; }
  // Not empty.
  const Entry& first() const { return first_; }
  // Not empty.
  Entry take() {
    const Entry taken = first_;
    queues_[taken.kind].pop_front();
    first_ = {};
    for (const Ring<Entry>& queue : queues_) {
      if (!queue.empty() && later(first_, queue.front())) first_ = queue.front();
    }
    return taken;
  }

  // Brings what take() will read into the cache.
  void prepare() const {
    for (const Ring<Entry>& queue : queues_) {
      if (!queue.empty()) prefetch(&queue.front());
    }
  }

 private:
  // A total order: the same run on every library.
  static bool later(const Entry& a, const Entry& b) {
    if (a.at != b.at) return a.at > b.at;
    return a.peer != b.peer ? a.peer > b.peer : a.kind > b.kind;
  }

  Entry first_;  // asked for more often than the queues change
  std::array<Ring<Entry>, kKinds> queues_;
};

}  // namespace fairlead::proto
