// The packets of one message, kept until they are copied to where the receiver wants the data.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/panda/panda.h"
#include "fairlead/systems/panda/wire.h"

namespace fairlead::panda {

class ReceivedPool;

// Messages that small leave their packet at once: to keep it would cost more than the copy.
constexpr std::size_t kSmallBytes = 64;

struct Chunk {
  lci::Packet* packet = nullptr;  // nullptr: the message's own memory
  std::span<const std::byte> data;
};

struct Received {
  ReceivedPool* pool = nullptr;
  Received* next_free = nullptr;
  Rank source = 0;
  Service service = 0;
  Kind kind = Kind::message;
  bool via_group = false;
  bool early = false;         // it has waited for its service's handler
  bool gathers = false;       // its packets are copied into `own` as they come, if it takes several
  std::uint64_t extra = 0;    // Head's
  std::size_t size = 0;       // of the whole message
  std::size_t arrived = 0;    // of it
  std::size_t left = 0;       // not yet popped, once it is whole
  std::uint32_t packets = 0;  // that came
  std::size_t at = 0;         // bytes of the front chunk that are popped
  Ring<Chunk, 1> chunks;
  std::unique_ptr<std::byte[]> own;  // of a message to this rank itself, and of one that gathers
  std::byte small[kSmallBytes];
  std::byte joined[kHeaderBytesMax];  // what front() shows, where it lies in two packets
};

// Makes received messages, and frees them together with their packets.
class ReceivedPool {
 public:
  // `port` outlives it. held: give() may be called while an upcall could run, in Panda-MT.
  ReceivedPool(lci::Port& port, bool held) : port_(port), held_(held) {}
  ReceivedPool(const ReceivedPool&) = delete;
  ReceivedPool& operator=(const ReceivedPool&) = delete;

  // Messages of this service gather, but for answers. service < kServices.
  void gather(Service service) { gathering_.set(service); }
  Received* take(Rank source, const Head& head, bool via_group);
  // The next bytes of the message. Keep::yes: `packet` is the message's now.
  Keep append(Received& message, lci::Packet* packet, std::span<const std::byte> data);
  // The whole of a message to this rank itself: copied.
  void fill(Received& message, const Message& from);
  void give(Received* message);

  // --- What Incoming does.
  void pop(Received& message, void* to, std::size_t size);
  void skip(Received& message, std::size_t size);
  std::span<const std::byte> front(Received& message);
  std::span<const std::byte> block(const Received& message) const;

 private:
  Keep append_to_own(Received& message, std::span<const std::byte> data);
  void pass(Received& message, std::size_t size);

  lci::Port& port_;
  bool held_;
  std::bitset<kServices> gathering_;
  Received* free_ = nullptr;
  std::vector<std::unique_ptr<Received>> all_;
};

}  // namespace fairlead::panda
