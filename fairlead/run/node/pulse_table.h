// Which nodes of a job are there, from what is heard of each: the decisions of the keep-alive
// between nodes (node_pulse.h), without its socket. Times are of one clock of this node.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/units.h"

namespace fairlead::run {

enum class NodeState : std::uint32_t {
  unheard,
  running,
  done,  // its ranks have ended in order: its silence is no loss
  lost,
};

class PulseTable {
 public:
  // `silence`: kNever: no node is lost.
  PulseTable(std::uint32_t nodes, std::uint32_t self, Ps silence, Ps now)
      : self_(self), silence_(silence), looked_(now), entries_(nodes) {
    for (Entry& entry : entries_) entry.heard = now;
  }

  NodeState state(std::uint32_t node) const { return entries_[node].state; }

  // A pulse of `node` came, its sender's `count`-th or so: it only grows. False: it is an old one,
  // or of nobody; nothing else of it may be believed.
  bool heard(std::uint32_t node, std::uint64_t count, NodeState said, Ps now) {
    if (node >= entries_.size() || node == self_) return false;
    Entry& entry = entries_[node];
    if (count <= entry.count || entry.state == NodeState::lost) return false;
    entry.count = count;
    entry.heard = now;
    if (entry.state != NodeState::done) entry.state = said;
    return true;
  }

  // Calls lost(node) for each that is lost from now on. To be called several times within the
  // silence: where this process was stopped meanwhile, nobody was heard, and nobody is to blame.
  template <class Lost>
  void look(Ps now, Lost&& lost) {
    const bool stopped = now - looked_ > silence_ / 2;
    looked_ = now;
    if (silence_ == kNever) return;
    for (std::uint32_t node = 0; node < entries_.size(); ++node) {
      Entry& entry = entries_[node];
      if (stopped) entry.heard = now;
      const bool over = entry.state == NodeState::done || entry.state == NodeState::lost;
      if (node == self_ || over || now - entry.heard <= silence_) continue;
      entry.state = NodeState::lost;
      lost(node);
    }
  }

 private:
  struct Entry {
    NodeState state = NodeState::unheard;
    std::uint64_t count = 0;
    Ps heard{};
  };
  std::uint32_t self_;
  Ps silence_;
  Ps looked_;
  std::vector<Entry> entries_;
};

}  // namespace fairlead::run
