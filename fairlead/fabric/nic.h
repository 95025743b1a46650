// The lower waist: move this packet. Reliability is never here; a fabric says what it loses.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fairlead/base/counters.h"
#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/bell.h"
#include "fairlead/fabric/packet.h"

namespace fairlead::fabric {

struct ShmParts;
class GroupHardware;

enum NicFlag : std::uint64_t {
  // Nothing is lost, duplicated or reordered per (source, destination, lane), and only the client
  // part of the header travels: the rest arrives as zero.
  kReliable = 1,
  kSingleCopy = 2,      // read_peer/write_peer work
  kMappable = 4,        // region() returns every peer's memory
  kSameSpace = 8,       // peers live in this address space: any address of theirs can be used
  kRemoteMemory = 16,   // register_memory, forget_memory and copy_remote work
  kRemoteAtomics = 32,  // change_remote works too
  kImmediate = 64,      // a copy to a peer's memory may tell it a number (RemoteCopy::tells)
  // Copies that read a peer's memory are executed there in the order in which copy_remote() took
  // them: no later one reads what is older than what an earlier one read.
  kOrderedReads = 128,
};

constexpr std::uint32_t kSmallBytes = 96;
constexpr std::size_t kPlacedBehind = 32;
constexpr std::uint32_t kCopyBytesMin = 48 * 1024;

struct NicCaps {
  std::uint32_t mtu_bytes;         // largest payload of one packet
  std::uint32_t inline_bytes_max;  // payload that travels with the header; at most kSmallBytes
  std::uint64_t flags;             // NicFlag
  std::uint32_t run_packets = 1;   // of mtu_bytes that post_many() sends at the cost of one
  // Copies of fewer bytes are there later than packets that carry them (kRemoteMemory).
  std::uint32_t copy_bytes_min = kCopyBytesMin;
  // Aligned writes to a peer's memory of so many bytes become visible at once.
  std::uint32_t put_atomic_bytes = 8;
  // Such writes are made of whole, aligned units of so many bytes; parts of one cost more.
  std::uint32_t put_grain_bytes = 1;
  std::uint32_t rails = 1;  // networks or links that lead to the peer
};

// A received packet; payload is the fabric's memory, valid until the sink returns, or until
// release(token) when it answered Keep::yes, which only a keepable packet allows. The header is
// valid during the call.
struct Incoming {
  Peer source;
  const PacketHeader* header;
  std::span<const std::byte> payload;
  std::uint64_t token;
  bool keepable;
  std::size_t placed = 0;  // bytes behind `payload` that lie where Sink::place said
};

// A packet of at most inline_bytes_max bytes, copied out of the fabric's memory whole.
struct alignas(64) SmallPacket {
  ClientHeader header;
  std::byte payload[kSmallBytes];
};

// What a peer must know to reach memory that was registered for it. Nobody can guess one.
struct RemoteKey {
  std::uint64_t key = 0;
  std::uint64_t base = 0;  // what offsets count from
};

// A copy between memory of this process and memory that a peer registered.
struct RemoteCopy {
  enum class What : std::uint8_t { read, write };

  What what = What::read;
  Peer peer = 0;
  RemoteKey key;
  std::uint64_t offset = 0;  // in the peer's memory
  void* local = nullptr;     // read: filled; write: taken from, and not changed
  std::size_t size = 0;      // at most kRemoteCopyBytesMax
  std::uint64_t token = 0;   // the caller's
  // Counted from 1, up to NicCaps::rails: the rail it is to go by as long as that lives, where the
  // fabric has several to choose from. 0: by any.
  std::uint8_t rail = 0;
  // write: when it is there, the peer's sink is told `immediate` (kImmediate), in the order of the
  // packets that come.
  bool tells = false;
  std::uint32_t immediate = 0;
};
constexpr std::size_t kRemoteCopyBytesMax = std::size_t{64} << 20;

// An atomic operation on an aligned word of memory that a peer registered to be read and written.
// Whoever executes it, the processor's own atomics on that word lose nothing by it.
struct RemoteChange {
  // As lci's Atomic. compare_swap: a = expected, b = new.
  enum class What : std::uint8_t { add, swap, compare_swap, bit_and, bit_or, bit_xor };

  What what = What::add;
  Peer peer = 0;
  RemoteKey key;
  std::uint64_t offset = 0;  // in the peer's memory
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t* old = nullptr;  // the former value, before its end is told as done; may be null
  std::uint64_t token = 0;       // the caller's
  bool word4 = false;            // the word has 4 bytes, not 8: a and b are cut, *old extended by 0
};

struct Sink {
  Keep (*arrived)(void* context, const Incoming& packet) = nullptr;
  // Once per peer, from reap() or sleep().
  void (*peer_lost)(void* context, Peer peer) = nullptr;
  void* context = nullptr;
  // Optional: small packets whose header names the lane and the source they came from, and kind
  // data, come this way. `packet` is what the last call answered, at first `landing`; its header
  // but for `size` and `stamp` is set. Answers where the next one is to be copied to.
  SmallPacket* (*arrived_small)(void* context, SmallPacket* packet, std::size_t size) = nullptr;
  SmallPacket* landing = nullptr;
  // Once for each that copy_remote() or change_remote() took, from reap(), in any order: done,
  // denied (the key is worth nothing there; nothing was copied or changed), or maybe_delivered.
  void (*copied)(void* context, std::uint64_t token, Post result) = nullptr;
  // Optional, for fabrics to whose clients packets of kind copy_piece come: where what follows the
  // first kPlacedBehind bytes of a packet's payload, `begin`, may be put at once; as far as the
  // fabric can tell, arrived() gets that packet next. nullptr: with the rest of it, as ever.
  std::byte* (*place)(void* context, const PacketHeader& header,
                      std::span<const std::byte> begin) = nullptr;
  // Optional, for fabrics of several networks: one of them carries nothing to or from the peer any
  // more, or does so again.
  void (*path_changed)(void* context, Peer peer, bool lost) = nullptr;
  // For fabrics with kImmediate: a peer's copy to this memory is there, and has this number.
  void (*told)(void* context, Peer peer, std::uint32_t immediate) = nullptr;
};

// How a reap() that found nothing may go on looking.
struct Patience {
  std::uint32_t looks = 0;  // at most so many more, a processor pause before each; counted down
  // Ends when *word is no longer `seen`. nullptr: no such word.
  const std::atomic<std::uint64_t>* word = nullptr;
  std::uint64_t seen = 0;
};

// One of several packets that leave together. Its payload of header.client.size bytes is what
// `data` holds, at most kPlacedBehind bytes where there is a body, and then `body`.
struct Outgoing {
  PacketHeader header;
  const std::byte* data;
  std::span<const std::byte> body = {};

  std::span<const std::byte> front() const { return {data, header.client.size - body.size()}; }
};

// Bit i: lane i may be reaped.
using LaneMask = std::uint32_t;
constexpr LaneMask kAllLanes = 7;
constexpr std::uint32_t kLanes = 3;

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
  // header.client.size is the sum of the pieces.
  virtual Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) = 0;
  // As above, for several packets to one peer, as many as there is room for: fabrics for which a
  // call is dear make one of them. Returns how many went.
  virtual std::size_t post_many(Peer dest, std::span<const Outgoing> packets) {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const std::span<const std::byte> front = packets[i].front();
      const Piece pieces[] = {{front.data(), front.size()},
                              {packets[i].body.data(), packets[i].body.size()}};
      const std::size_t count = packets[i].body.empty() ? 1 : 2;
      if (post(dest, packets[i].header, {pieces, count}) != Post::done) return i;
    }
    return packets.size();
  }
  // What all packets to and from all peers go through, if that is memory which all share.
  virtual const ShmParts* shm_parts() const { return nullptr; }
  // As above, for a packet of at most inline_bytes_max bytes, counted as sent in `tally` when it
  // is; route as route_of() makes it. Not inline: a compiler that guesses which nic it is would
  // give every caller the frame of this header.
  [[gnu::noinline]] virtual Post post_small(Peer dest, std::uint64_t route, WordVector words,
                                            const void* data, std::size_t size,
                                            PortCounters& tally) {
    const PacketHeader header{make_client_header(route, words, size), dest, 0, 0, 0};
    const Piece piece{data, size};
    const Post answer = post(dest, header, {&piece, 1});
    if (answer == Post::done) count_sent(tally, size);
    return answer;
  }
  // A buffer of the path's own, at least mtu_bytes long, for a payload built in place, handed over
  // by post_buffer() when it returns done, or by cancel_buffer(). nullptr: again.
  virtual std::byte* buffer(Peer dest, std::size_t size) = 0;
  virtual Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) = 0;
  virtual void cancel_buffer(Peer dest, std::byte* buffer) = 0;

  // Calls the sink for at most `budget` packets of the given lanes; returns how many. A fabric
  // that keeps one queue for all lanes ignores the mask.
  virtual int reap(int budget, LaneMask lanes) = 0;
  // As above; a fabric that can look cheaply does so again while nothing has come.
  virtual int reap(int budget, LaneMask lanes, Patience& patience) {
    (void)patience;
    return reap(budget, lanes);
  }
  virtual void release(std::uint64_t token) = 0;

  // Blocks until something may have arrived, a peer was lost, or `timeout` (a length) passed;
  // spurious returns are fine. Last rung of the wait ladder: it may sleep in the kernel.
  virtual void sleep(Ps timeout) = 0;
  // For a second thread that sleeps while this one makes no calls: what arrives from now on, or is
  // to be looked at, rings `bell`. In the endpoint's turn, as every call; the sleep needs none. The
  // next reap() may end it: packets found by looking need ring nothing. False: something is here
  // already. The default: looked at again and again.
  virtual bool listen(Bell& bell) {
    constexpr Ps kLookEvery = microseconds(200);
    bell.look_after(kLookEvery);
    return true;
  }

  // Peers have what was sent to them, or need it no more. An endpoint that is about to be polled no
  // more is asked until it is so, with reap() in between; a fabric that needs no poll for it is.
  virtual bool settled() { return true; }
  // Gives back what would outlive the process. Nothing is sent or received from here on.
  virtual void shut() {}

  // Copies straight from or to a peer's memory (kSingleCopy). not_delivered: the kernel refused.
  virtual Post read_peer(Peer peer, std::uint64_t address, void* to, std::size_t size) = 0;
  virtual Post write_peer(Peer peer, std::uint64_t address, const void* from, std::size_t size) = 0;

  // Lets peers that are told the key read or write this memory (kRemoteMemory), until
  // forget_memory(). nullopt: it cannot be registered.
  virtual std::optional<RemoteKey> register_memory(std::span<std::byte>, bool /*read*/,
                                                   bool /*write*/) {
    return std::nullopt;
  }
  virtual void forget_memory(const RemoteKey&) {}
  // Which of the lanes that copies have (the client's last one and those beyond) goes by that rail
  // of several, counted from 0; the same at both ends.
  virtual std::uint32_t stripe_of(Peer, std::uint32_t rail) const { return rail; }
  // Begins a copy (kRemoteMemory). done: Sink::copied tells when it has ended, a write when it can
  // be seen at the peer; the local memory is the fabric's until then. A copy to a peer that is lost
  // ends within a second or two. Also again_credit, again_buffer, peer_down, not_delivered (the
  // fabric cannot).
  virtual Post copy_remote(const RemoteCopy&) { return Post::not_delivered; }
  // Begins an atomic operation (kRemoteAtomics); answers and end as copy_remote()'s.
  virtual Post change_remote(const RemoteChange&) { return Post::not_delivered; }

  // Why a peer that Sink::peer_lost told of is lost, where the fabric knows: a string of the Nic's.
  // nullptr: it does not.
  virtual const char* why_lost(Peer) const { return nullptr; }

  // What this fabric can do for several peers at once, and after a counter; the Nic's. nullptr:
  // nothing of it.
  virtual GroupHardware* group_hardware() { return nullptr; }

  // Memory of `peer` that every peer can load and store (kMappable), zero at the start, laid out by
  // lci; of the same size everywhere, touched on use only. Empty: the fabric has none.
  virtual std::span<std::byte> region(Peer peer) = 0;

  // This endpoint's counters, in memory that outlives it where the fabric has such.
  virtual PortCounters& counters() = 0;
};

}  // namespace fairlead::fabric
