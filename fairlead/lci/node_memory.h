// Memory that ranks of a node have in common: a part of what ports can do that stand on a fabric
// with regions (fabric::Nic::region()), in either world. Others have none of it.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// One rank's, beside its Port, whose calls and these are made by the same thread.
class NodeMemory {
 public:
  // Whether share() may give memory of that rank's: this rank and it are on one node, where memory
  // can be shared. In the model, too, where stores of one rank that another one loads take no time:
  // who shares memory there charges what it costs, and waits for no word that a rank of its node
  // stores, but by store().
  virtual bool shares(Rank rank) = 0;
  // As Port::allocate() of Place::host, for others to share.
  virtual void* make_shared(SegId segment, std::size_t size) = 0;
  // Exposes `size` bytes of what `owner` has allocated as `theirs`, as this rank's segment `mine`,
  // with every permission: what peers put there comes to this rank, which may wait for the words of
  // it, and lies in the memory that all have in common. Its address here; nullptr: there is no such
  // memory, or less of it, or it cannot be shared, or `mine` is exposed already. It ends with
  // withdraw(mine); `owner` does not withdraw `theirs` before.
  virtual void* share(SegId mine, Rank owner, SegId theirs, std::size_t size) = 0;

  // Whether these bytes lie in memory of this rank's that the processors of ranks it shares() with
  // reach, once they are exposed: what allocate() and make_shared() gave does.
  virtual bool holds(const void* at, std::size_t size) = 0;

  // Whether ranks of this node can wait (Port::wait) for words that others store() in memory that
  // they share; the same on every rank.
  virtual bool tells() = 0;
  // Stores, behind all that this rank stored before; `readers`, of its node, look if they wait for
  // the word. In the model nothing else tells them, and who reads charges kMissed.
  virtual void store(std::atomic<std::uint64_t>& word, std::uint64_t value,
                     std::span<const Rank> readers) = 0;
  // Lines that another processor, or the network, wrote last are in no cache of who reads them:
  // Work::working_set_bytes of that.
  static constexpr std::uint64_t kMissed = UINT64_MAX;

  // Whether one packet of the network reaches the first ranks of neighbouring nodes: puts to and
  // queries of groups of those are the network's, as with kContiguousGroups (port.h). The same on
  // every rank.
  virtual bool reaches_leaders() = 0;

  // Segments that this rank has made and shared so far.
  struct Counts {
    std::uint64_t made = 0;
    std::uint64_t shared = 0;
  };
  virtual Counts counts() = 0;

 protected:
  ~NodeMemory() = default;
};

// A Port that may have such an interface.
class NodeMemoryPort {
 public:
  // The Port's. nullptr: it has none.
  virtual NodeMemory* node_memory() = 0;

 protected:
  ~NodeMemoryPort() = default;
};

// As above, of any Port.
inline NodeMemory* node_memory_of(Port& port) {
  auto* const above = dynamic_cast<NodeMemoryPort*>(&port);
  return above == nullptr ? nullptr : above->node_memory();
}

}  // namespace fairlead::lci
