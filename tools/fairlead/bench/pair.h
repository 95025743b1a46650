// Two ranks that exchange messages: what the benches between a rank and its partner share.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "fairlead/lci/port.h"

namespace fairlead::tools {

// Channel 0 carries the measured messages, channel 1 what the ranks tell each other beside them.
class Pair {
 public:
  Pair(lci::Port& port, Rank other);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  lci::Port& port() { return port_; }

  // A message of `bytes` (at most buffer_bytes()) from this side's buffer: one packet where it fits
  // the path's largest, as many as it takes beyond that. Waits for room.
  void send(std::uint64_t bytes);
  // Packets that a message of `bytes` is.
  std::uint64_t packets_of(std::uint64_t bytes) const;
  // Until so many packets of messages have come in beyond those awaited before.
  void await(std::uint64_t packets);
  // Until no send needs the buffer any more.
  void await_sent();

  void signal();        // tells the other side to go on
  void await_signal();  // from the other side, one for each signal()

  void use_buffer(std::uint64_t bytes) { buffer_.assign(bytes, std::byte{1}); }
  // Copies what comes in into an array of `bytes`, round and round; 0: looks at nothing.
  void copy_arrivals_to(std::uint64_t bytes);
  // When the packet that completes await(packets) came in; ask for it before it comes.
  void time_arrival(std::uint64_t packets) { timed_index_ = awaited_ + packets; }
  Ps timed_arrival() const { return timed_at_; }

 private:
  static Keep on_message(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  static Keep on_signal(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  void copy_arrival(std::span<const std::byte> data);
  void send_packet(std::uint64_t offset, std::uint64_t bytes);

  lci::Port& port_;
  Rank other_;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> copy_;
  std::uint64_t copy_at_ = 0;
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> signals_{0};
  std::uint64_t awaited_ = 0;
  std::uint64_t signals_awaited_ = 0;
  lci::Words words_{};
  Counter sent_;
  std::uint64_t sends_ = 0;
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
