// Packets to messages. The Port delivers packets of one source in order and once; what does not
// agree with that is told apart, because packets come from outside.
#pragma once
#include <cstdint>

#include "fairlead/systems/panda/peers.h"
#include "fairlead/systems/panda/received.h"

namespace fairlead::panda {

class Fragments {
 public:
  enum class Verdict : std::uint8_t {
    part,       // taken; more is to come
    whole,      // taken, and the message is whole
    duplicate,  // came before: dropped
    malformed,  // cannot be a packet of ours: dropped
    gap,        // one before it is missing: the message can never be whole
  };
  struct Came {
    Verdict verdict;
    Keep keep = Keep::no;
    Received* message = nullptr;  // of part and whole
  };

  Fragments(Peers& peers, ReceivedPool& pool, std::size_t mtu_bytes)
      : peers_(peers), pool_(pool), mtu_bytes_(mtu_bytes) {}

  // In the Port's upcall. arrival.source is a rank of the job.
  Came arrived(lci::Packet* packet, const lci::Arrival& arrival);

 private:
  Came first(Stream& stream, lci::Packet* packet, const lci::Arrival& arrival, const Head& head);
  Came following(Stream& stream, lci::Packet* packet, const lci::Arrival& arrival,
                 const Head& head);
  Came taken(Stream& stream, Received& message, lci::Packet* packet,
             std::span<const std::byte> data);

  Peers& peers_;
  ReceivedPool& pool_;
  std::size_t mtu_bytes_;
};

}  // namespace fairlead::panda
