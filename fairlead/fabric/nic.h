// The lower waist: move this packet. Reliability is never here; a fabric says what it loses.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/packet.h"

namespace fairlead::fabric {

enum NicFlag : std::uint64_t {
  kReliable = 1,    // nothing is lost, duplicated or reordered per (source, destination)
  kSingleCopy = 2,  // read_peer/write_peer work
  kMappable = 4,    // map_peer works
};

struct NicCaps {
  std::uint32_t mtu_bytes;         // largest payload of one packet
  std::uint32_t inline_bytes_max;  // payload that travels with the header in one cache line
  std::uint64_t flags;             // NicFlag
};

// A received packet; payload is the fabric's memory, valid until the sink returns, or until
// release(token) when it answered Keep::yes.
struct Incoming {
  Peer source;
  const PacketHeader* header;
  std::span<const std::byte> payload;
  std::uint64_t token;
};

struct Sink {
  Keep (*arrived)(void* context, const Incoming& packet) = nullptr;
  void (*peer_lost)(void* context, Peer peer) = nullptr;
  void* context = nullptr;
};

// One endpoint's access to a fabric. Thread: one at a time.
class Nic {
 public:
  virtual ~Nic() = default;

  virtual Peer self() const = 0;
  virtual Peer peers() const = 0;
  virtual const NicCaps& caps(Peer peer) const = 0;

  // Names who gets what arrives. Before any reap().
  virtual void attach(Sink sink) = 0;

  // Sends header and payload (at most mtu_bytes over all pieces), which may be reused on return.
  // done, again_credit (the way to the peer is full), again_buffer, invalid or peer_down.
  virtual Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) = 0;
  // A buffer of the path's own for a payload built in place, handed over by post_buffer() or
  // cancel_buffer(). nullptr: again.
  virtual std::byte* buffer(Peer dest, std::size_t size) = 0;
  virtual Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) = 0;
  virtual void cancel_buffer(Peer dest, std::byte* buffer) = 0;

  // Calls the sink for at most `budget` packets; answers how many.
  virtual int reap(int budget) = 0;
  virtual void release(std::uint64_t token) = 0;

  // Blocks until something may have arrived, a peer was lost, or `timeout` passed; spurious
  // returns are fine. Last rung of the wait ladder: it may sleep in the kernel.
  virtual void sleep(Ps timeout) = 0;

  // Copies straight from or to a peer's memory (kSingleCopy). not_delivered: the kernel refused.
  virtual Post read_peer(Peer peer, std::uint64_t address, void* to, std::size_t size) = 0;
  virtual Post write_peer(Peer peer, std::uint64_t address, const void* from, std::size_t size) = 0;
};

}  // namespace fairlead::fabric
