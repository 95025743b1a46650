// A rank's outgoing messages: as many packets as a message's size takes, to a rank or a group.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/lci/port.h"

namespace fairlead::tools {

// A bench measures a network that works: what is refused or lost ends it (CHECK).
void expect_accepted(Post answer);

class Messages {
 public:
  // `peer` stands for the paths taken. fill: each packet is copied from the message; else the
  // message is taken to be in packets already. The port outlives it.
  Messages(lci::Port& port, Rank peer, lci::Chan chan, bool fill)
      : port_(port), peer_(peer), chan_(chan), fill_(fill) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  // For messages of up to `bytes`.
  void use_buffer(std::uint64_t bytes) { buffer_.assign(bytes, std::byte{1}); }
  std::span<const std::byte> buffer() const { return buffer_; }
  // Waits for room. `bytes` is at most what use_buffer() had.
  void send(lci::Dest dest, std::uint64_t bytes);
  // Until no send needs the buffer any more.
  void await_sent();
  // Packets that a message of `bytes` is.
  std::uint64_t packets_of(std::uint64_t bytes) const;

 private:
  void send_packet(lci::Dest dest, std::uint64_t offset, std::uint64_t bytes);
  const lci::Caps& caps() const { return port_.caps(peer_); }

  lci::Port& port_;
  Rank peer_;
  lci::Chan chan_;
  bool fill_;
  std::vector<std::byte> buffer_;
  lci::Words words_{};
  Counter sent_;
  std::uint64_t sends_ = 0;
};

// A rank's incoming messages on a channel: counted, and copied into a linear array if asked.
class Arrivals {
 public:
  // Binds `chan`, which nothing else uses. The port outlives it.
  Arrivals(lci::Port& port, lci::Chan chan);
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  // Until so many packets have come in beyond those awaited before.
  void await(std::uint64_t packets);
  // Copies what comes in into an array of `bytes`, round and round; 0: looks at nothing.
  void copy_to(std::uint64_t bytes);
  // When the packet that completes await(packets) came in; ask for it before it comes.
  void time(std::uint64_t packets) { timed_index_ = awaited_ + packets; }
  Ps timed() const { return timed_at_; }

 private:
  static Keep on_message(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  void copy(std::span<const std::byte> data);

  lci::Port& port_;
  std::vector<std::byte> copy_;
  std::uint64_t copy_at_ = 0;
  std::atomic<std::uint64_t> received_{0};
  std::uint64_t awaited_ = 0;
  std::uint64_t timed_index_ = 0;
  Ps timed_at_{};
};

// Short messages without data that ranks tell each other things by.
class Signals {
 public:
  // Binds `chan`, which nothing else uses. The port outlives it.
  Signals(lci::Port& port, lci::Chan chan);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  void tell(Rank rank, Ps time = Ps{});
  // Until so many have come in beyond those awaited before.
  void await(std::uint64_t count);
  // The latest time told since the last call of this.
  Ps take_latest();

 private:
  static Keep on_message(void* self, lci::Packet* packet, const lci::Arrival& arrival);

  lci::Port& port_;
  lci::Chan chan_;
  std::atomic<std::uint64_t> heard_{0};
  std::uint64_t awaited_ = 0;
  Ps latest_{};
};

}  // namespace fairlead::tools
