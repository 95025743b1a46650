// State per peer that is made when the peer is first met: an endpoint of a large machine pays for
// the peers it talks to, not for all there are.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/prefetch.h"

namespace fairlead::proto {

// Open addressing, entries in place: one cache line for most look-ups. A reference stays valid
// until a further peer is met.
template <class State>
class PeerTable {
 public:
  // What an entry for one peer takes; a table is up to two thirds larger.
  static constexpr std::size_t entry_bytes() { return sizeof(Entry); }

  // `initial`: of every peer.
  explicit PeerTable(State initial = {}) : initial_(std::move(initial)) {}

  State& of(Peer peer) {
    if (!entries_.empty()) {
      for (std::size_t i = first(peer);; i = next(i)) {
        Entry& entry = entries_[i];
        if (entry.peer == peer) return entry.state;
        if (entry.peer == kNobody) break;
      }
    }
    return meet(peer);
  }

  // Peers met.
  std::size_t size() const { return size_; }
  // Brings what of() reads first into the cache.
  void prepare(Peer peer) const {
    if (!entries_.empty()) prefetch(&entries_[first(peer)], sizeof(Entry));
  }

 private:
  static constexpr Peer kNobody = UINT32_MAX;
  static constexpr std::size_t kFirst = 4;
  // The key lies in the state's tail padding where there is some; an entry lies in one cache line
  // where it fits.
  struct alignas(sizeof(State) > kCacheLine / 2 ? kCacheLine : alignof(Peer)) Entry {
    [[no_unique_address]] State state;
    Peer peer = kNobody;
  };

  // The product's high bits: peers at distances of powers of two differ in those alone.
  std::size_t first(Peer peer) const { return (peer * 0x9E3779B1u) >> shift_; }
  std::size_t next(std::size_t i) const { return (i + 1) & (entries_.size() - 1); }

  State& meet(Peer peer) {
    if ((size_ + 1) * 4 > entries_.size() * 3) grow();
    ++size_;
    return place(peer, initial_);
  }
  void grow() {
    const std::vector<Entry> old = std::move(entries_);
    entries_ = std::vector<Entry>(old.empty() ? kFirst : old.size() * 2, Entry{initial_, kNobody});
    shift_ = 32 - static_cast<unsigned>(std::countr_zero(entries_.size()));
    for (const Entry& entry : old) {
      if (entry.peer != kNobody) place(entry.peer, entry.state);
    }
  }
  State& place(Peer peer, const State& state) {
    std::size_t i = first(peer);
    while (entries_[i].peer != kNobody) i = next(i);
    entries_[i] = Entry{state, peer};
    return entries_[i].state;
  }

  std::vector<Entry> entries_;  // a power of two, a quarter free
  std::size_t size_ = 0;
  unsigned shift_ = 0;
  State initial_;
};

}  // namespace fairlead::proto
