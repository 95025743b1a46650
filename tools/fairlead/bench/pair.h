// Two ranks that exchange messages: what the benches between a rank and its partner share.
#pragma once
#include <cstdint>

#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/messages.h"

namespace fairlead::tools {

// Messages are packets, or with options.put remote-memory copies, from exposed memory to exposed
// memory, that bump a counter of the other side. What the ranks tell each other beside them are
// packets.
class Pair {
 public:
  Pair(lci::Port& port, Rank other, const BenchOptions& options);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  lci::Port& port() { return port_; }

  // For messages of up to `bytes`, on both sides alike; with options.copy arrivals are copied into
  // an array of that size.
  void use_buffer(std::uint64_t bytes);
  // A message of `bytes` from this side's buffer. Waits for room.
  void send(std::uint64_t bytes);
  // What a message of `bytes` is awaited as: its packets, or one put.
  std::uint64_t parts_of(std::uint64_t bytes) const {
    return put_ ? 1 : messages_.packets_of(bytes);
  }
  // Until so many parts of messages have come in beyond those awaited before.
  void await(std::uint64_t parts);
  // Until no send needs the buffer any more.
  void await_sent();
  // Messages come in without an upcall.
  bool silent() const { return put_; }

  void signal() { signals_.tell(other_); }    // tells the other side to go on
  void await_signal() { signals_.await(1); }  // from the other side, one for each signal()

  // When the part that completes await(parts) came in; ask for it before it comes, and await it
  // apart from those behind it.
  void time_arrival(std::uint64_t parts);
  Ps timed_arrival() const { return put_ ? timed_at_ : arrivals_.timed(); }

 private:
  lci::Port& port_;
  Rank other_;
  bool put_;
  bool copy_;
  Messages messages_;
  Arrivals arrivals_;
  Signals signals_;
  Counter put_done_;
  Counter put_here_;
  void* put_from_ = nullptr;
  std::uint64_t puts_ = 0;
  std::uint64_t puts_awaited_ = 0;
  std::uint64_t timed_index_ = 0;
  Ps timed_at_{};
};

// The other side of `self` in a bench of two ranks, or self for a rank that has nothing to do.
Rank other_of(Rank self, Rank partner);

// Cost of a call of now() in the real world, 0 in the model: what a timed call is too long by.
Ps clock_cost(lci::Port& port);

// Keeps the processor busy for `time` without a poll.
void stay_busy(lci::Port& port, Ps time);

}  // namespace fairlead::tools
