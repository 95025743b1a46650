// --splitc amvia-shm: ranks of one node load from and store to each other's heaps, which all of
// them map (Split-C paper, section 5.3); other nodes are reached as in amvia. Within a node, too,
// ranks meet at a barrier by an array of words, of which the first rank of the node has the one and
// each rank its own answer to it; and atomic, and the messages of Collectives, go through a bounded
// queue at the end of each heap (node_heaps.h), which its owner serves whenever it polls.
//
// On a modelled machine an access takes a step and a line of memory, and is made in the order of
// virtual time.
//
// A rank that waits looks at the words of its own that neighbours change, where its Port sees
// memory that others store to (kMappable). Elsewhere it says that it sleeps, and who changes a word
// of it rings: sends it an empty packet.
#pragma once
#include <cstdint>

#include "fairlead/run/layer_costs.h"
#include "fairlead/systems/splitc/amvia.h"
#include "fairlead/systems/splitc/node_heaps.h"

namespace fairlead::splitc {

class AmviaShm final : public Amvia {
 public:
  // A queue that is full is looked at so often where nothing tells of room.
  static constexpr Ps kRoomNap = microseconds(20);

  // All outlive it.
  AmviaShm(lci::Port& port, const run::LayerCosts& costs, Host& host, const NodeHeaps& node);

  void close() override;
  void atomic(Rank rank, std::span<const std::byte> call) override;
  void poll() override;
  void wait(const lci::Until& until) override;
  Collectives::Road road() override;
  bool takes_time() const override { return takes_time_; }
  void touch(Rank rank, std::size_t bytes, bool counts) override;
  void stored_at(Rank rank, std::uint64_t all) override;

 private:
  // What calls in queues are. From kTogether on: a message of Collectives, by its kind.
  enum Kind : std::uint32_t { kAtomic, kTogether };

  void touch(Rank rank, std::size_t bytes) { touch(rank, bytes, false); }
  CallQueue& calls() { return node_.page(port().self()).calls; }
  // Runs calls of neighbours. False: there were none.
  bool serve_calls();
  void run_atomic(CallQueue::Place& call);
  // Puts a call in the queue of a neighbour, once there is room.
  CallQueue::Claim call(Rank rank, std::uint32_t kind, const lci::Words& words,
                        std::span<const std::byte> data);
  void send_here_or_there(Rank to, std::uint32_t kind, const lci::Words& words,
                          std::span<const std::byte> data);
  // Wakes a neighbour, of whom a word has been changed, where it would not see that.
  void ring(Rank rank);
  // Sleeps where a neighbour rings; stores are of interest from `wants_stored` bytes on.
  void sleep_until_rung(const lci::Until& any, std::uint64_t wants_stored);
  bool gather(std::uint64_t barrier);
  void let_go(std::uint64_t barrier);

  const NodeHeaps& node_;
  const bool takes_time_;
  const run::LayerCosts& costs_;
  const bool watches_;      // this rank's waits see what others store to its memory
  bool serving_ = false;    // a function of atomic runs
  std::uint64_t rung_ = 0;  // times that another rank has rung, or will
  Counter heard_;
};

}  // namespace fairlead::splitc
