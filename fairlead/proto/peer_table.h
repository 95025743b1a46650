// State per peer that is made when the peer is first met: an endpoint of a large machine pays for
// the peers it talks to, not for all there are.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "fairlead/base/post.h"

namespace fairlead::proto {

// A reference stays valid until a further peer is met.
template <class State>
class PeerTable {
 public:
  // `initial`: of every peer.
  explicit PeerTable(State initial = {}) : initial_(std::move(initial)) {}

  State& of(Peer peer) {
    if (!slots_.empty()) {
      const std::size_t mask = slots_.size() - 1;
      for (std::size_t i = hash(peer) & mask; slots_[i] != 0; i = (i + 1) & mask) {
        Entry& entry = entries_[slots_[i] - 1];
        if (entry.peer == peer) return entry.state;
      }
    }
    return meet(peer);
  }

  std::size_t size() const { return entries_.size(); }
  // In the order in which they were met.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Entry& entry : entries_) visit(entry.peer, entry.state);
  }

 private:
  struct Entry {
    Peer peer;
    State state;
  };

  static std::size_t hash(Peer peer) { return peer * 0x9E3779B1u; }

  State& meet(Peer peer) {
    if (entries_.size() * 2 >= slots_.size()) grow();
    entries_.push_back({peer, initial_});
    place(static_cast<std::uint32_t>(entries_.size()));
    return entries_.back().state;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 4 : slots_.size() * 2, 0);
    for (std::uint32_t i = 1; i <= entries_.size(); ++i) place(i);
  }
  void place(std::uint32_t number) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash(entries_[number - 1].peer) & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = number;
  }

  State initial_;
  std::vector<std::uint32_t> slots_;  // 1 + index of an entry; 0: free
  std::vector<Entry> entries_;
};

}  // namespace fairlead::proto
