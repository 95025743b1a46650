// The upper waist: the low-level communication interface (LCI, paper section 2) as one class.
// Programming systems stand on it; implementations differ in where protocol work runs and how
// data moves, never in meaning. docs/ARCHITECTURE.md draws the picture.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"

namespace fairlead {
struct PortCounters;
}

namespace fairlead::lci {

class StraightWay;

using Chan = std::uint16_t;   // same number = same service on every rank
using SegId = std::uint32_t;  // exposed memory, named by its owner
using CtrId = std::uint16_t;  // remotely incrementable counter; kNoCounter: none
using Words = std::uint32_t[4];
// The same as one value.
using WordVector [[gnu::vector_size(16)]] = std::uint32_t;

// Channels from here on belong to lci itself (remote memory by packets, groups).
constexpr Chan kClientChannels = 64;  // of 128
constexpr CtrId kNoCounter = 0xffff;

// An upcall may send only on a strictly higher lane than its packet came on, so that replies
// always drain. Longer chains go through defer().
enum class Lane : std::uint8_t { request, reply, control };

struct Dest {
  std::uint32_t id;    // rank, or group id
  bool group = false;  // true: every other member of the group
};

// Work the program declares; the platform turns it into time. In the real world it costs nothing.
struct Work {
  std::uint64_t ops = 0;    // simple operations (one per cycle on the modelled hosts)
  std::uint64_t bytes = 0;  // bytes swept over once, in order or not
  std::uint64_t working_set_bytes =
      0;                           // what `bytes` and `copied_bytes` range over: cache or memory
  std::uint64_t copied_bytes = 0;  // bytes moved by memcpy
};

struct Packet;  // an MTU buffer: alloc's caller owns it, then send, then the upcall that keeps it

// A received packet as its upcall sees it; `data` is read-only and valid until the upcall returns
// or, when it answers Keep::yes, until release().
struct Arrival {
  Rank source;
  Chan chan;
  Lane lane;
  bool via_group;
  std::uint32_t words[4];
  std::span<const std::byte> data;
};

struct Upcall {
  Keep (*run)(void* context, Packet* packet, const Arrival& arrival) = nullptr;
  void* context = nullptr;
  // Optional, for a hot path: where a port has a small packet at hand it may ask this first, with
  // all there is to know in registers. False: it was nothing for the short way, and run() gets it.
  bool (*run_small)(void* context, Rank source, WordVector words, const std::byte* data,
                    std::size_t size) = nullptr;
};
// Gets a packet that could not be delivered, whole, with the reason.
struct Returned {
  void (*run)(void* context, const Arrival& arrival, Post why) = nullptr;
  void* context = nullptr;
};
struct Task {
  void (*run)(void* context) = nullptr;
  void* context = nullptr;
};

enum Flag : std::uint32_t {
  kNoFlags = 0,
  kAfter = 1,    // of packets and puts: not visible at the target before my earlier puts there;
                 // where those are on their way and this may not wait, again_credit
  kMore = 2,     // another send to the same peer follows at once
  kNoBlock = 4,  // answer again_* instead of waiting for room
};

struct PutPiece {
  std::uint64_t offset;
  const void* data;
  std::size_t size;
};
struct Remote {
  Rank rank;
  SegId segment;
  std::uint64_t offset;
};
enum class Atomic : std::uint8_t { add, swap, compare_swap, bit_and, bit_or, bit_xor };
enum class Cmp : std::uint8_t { eq, ne, lt, le, gt, ge };
// ni: memory of the network interface, home of fetch-and-add words (paper section 4.3).
enum class Place : std::uint8_t { host, ni };
enum class Wake : std::uint8_t { poll_only, watchdog, immediate };

enum Permission : std::uint32_t { kRead = 1, kWrite = 2, kAtomic = 4 };

enum CapFlag : std::uint64_t {
  kHwRdma = 1,          // get and put move data without the target's processor
  kMappable = 2,        // map() answers an address
  kHwAtomic = 4,        // atomics without the target's processor
  kHwMulticast = 8,     // group sends are forwarded below the host
  kOrderedPut = 16,     // puts are in order with later packets without kAfter
  kInterrupt = 32,      // Wake::watchdog and immediate work
  kSingleCopy = 64,     // get and put move bulk data with one copy
  kFreeWork = 128,      // charge() does nothing on this port: a hot path may leave it out
  kRemoteCopy = 256,    // long gets and puts are copies of the network's, not packets
  kRemoteAtomic = 512,  // atomics are the network's, not packets
};

// Where a path has kRemoteCopy: gets and puts of so many bytes and more are copies; below, packets
// are there first.
constexpr std::size_t kRemoteCopyBytesMin = 48 * 1024;

// Per path, not per port.
struct Caps {
  std::uint32_t mtu_bytes;         // largest body + gather of one packet
  std::uint32_t inline_bytes_max;  // largest send_small
  std::uint32_t put_atomic_bytes;  // naturally aligned puts up to this size become visible at once
  std::uint64_t flags;             // CapFlag
};

// What wait() waits for; unset members do not count. Any one that holds ends the wait.
struct Until {
  const Counter* counter = nullptr;  // counter->ok + counter->failed >= at
  std::uint64_t at = 0;
  const std::atomic<std::uint64_t>* word = nullptr;  // *word cmp value
  Cmp cmp = Cmp::eq;
  std::uint64_t value = 0;
  bool any_packet = false;  // an upcall ran
  Ps deadline = kNever;     // virtual or real time since the World started
  const char* what = "";    // shown when a job hangs; a string that outlives the wait
};

// Purpose: one rank's access to the network, in either world. One per process, or per fiber.
// Thread: one thread at a time; systems that have threads lock around it.
// Upcalls: at most one at a time, never inside another, only from poll(), wait() and the blocking
// forms of alloc/send; inside one the client may send on a higher lane, put/get/atomic without
// waiting, release and defer; it may not poll or wait (CHECK in debug builds).
class Port {
 public:
  virtual ~Port() = default;

  virtual Rank self() const = 0;
  virtual Rank size() const = 0;
  virtual const Caps& caps(Rank peer) const = 0;
  // Since the World started: virtual in the model, monotonic in the real world.
  virtual Ps now() const = 0;
  virtual void charge(const Work& work) = 0;
  // Runs `task` from poll()/wait() once `delay` has passed. At most 1024 outstanding: CHECK.
  virtual void after(Ps delay, Task task) = 0;

  // Names the receiver of a channel (chan < kClientChannels). Packets that arrive for an unbound
  // channel wait for the bind.
  virtual void bind(Chan chan, Upcall upcall, Returned returned) = 0;

  // A packet for `dest`, its body in the path's own memory; nullptr with kNoBlock or inside an
  // upcall when there is no buffer, else waits for one. The caller owns it until send or release.
  virtual Packet* alloc(Dest dest, Lane lane, std::size_t size_hint, std::uint32_t flags) = 0;
  // The writable body, caps.mtu_bytes long.
  virtual std::span<std::byte> body(Packet* packet) = 0;
  // Sends the first `size` bytes of the body, then `gather` (user memory, which belongs to the
  // system until `done` counts; with done == nullptr it is copied before return). After done or
  // pending the packet is the system's. Without kNoBlock and outside an upcall it waits for room.
  virtual Post send(Packet* packet, Chan chan, const Words& words, std::size_t size,
                    std::span<const Piece> gather, Counter* done, std::uint32_t flags) = 0;
  // What fits one cache line, without a packet object: data.size() <= caps.inline_bytes_max.
  virtual Post send_small(Dest dest, Chan chan, Lane lane, const Words& words,
                          std::span<const std::byte> data, std::uint32_t flags) = 0;
  // Small packets of a channel and lane, sent and received on a hot path, where they go through
  // slots in shared memory. What it refers to is the Port's (lci/straight_way.h, which programs
  // outside have no use for).
  virtual StraightWay straight_way(Chan, Lane);
  // Gives back a kept packet (in any order), or an allocated one that is not to be sent.
  virtual void release(Packet* packet) = 0;

  // Runs the upcalls of what has arrived; answers how many ran. In the model an empty poll
  // charges the platform's poll cost and lets due events run.
  virtual int poll() = 0;
  // The only blocking point. done: the condition holds; maybe_delivered: counter->failed moved;
  // peer_down: a peer was lost while waiting; again_credit: the deadline passed.
  virtual Post wait(const Until& until) = 0;
  // Runs `task` from the next poll(), outside any upcall. At most 1024 outstanding: CHECK.
  virtual void defer(Task task) = 0;
  // Between hold() and the matching allow() (they nest) no upcall runs.
  virtual void hold() = 0;
  virtual void allow() = 0;
  // Whether upcalls also run while the client computes, where caps say kInterrupt (in the model: in
  // charge(), and not between hold() and allow()). poll_only: they do not, the default. watchdog:
  // when a packet has waited so long for a poll (zero: the platform's time; LCI paper section 4.1).
  // immediate: at once. Each costs an interrupt.
  virtual void wake(Wake policy, Ps watchdog) = 0;

  // Memory peers can reach, zeroed, exposed to all with every permission under `segment`; owned by
  // the port. nullptr: none left. Place::ni holds 8-byte words only.
  virtual void* allocate(SegId segment, std::size_t size, Place place) = 0;
  // Lets peers put/get/atomic in [base, base+size), which stays the caller's. `alias`, when not
  // null, is a second mapping of the same memory that serves them. allowed empty: every rank.
  virtual Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions,
                      void* alias, std::span<const Rank> allowed) = 0;
  virtual Post withdraw(SegId segment) = 0;
  // Address of a peer's allocated segment for plain loads and stores; nullptr where the path
  // cannot (the only call that may answer no).
  virtual void* map(Rank rank, SegId segment) = 0;
  // Unordered among themselves; visible at the target after fence(), the remote counter or a
  // later kAfter packet. `done`: the sources may be reused.
  virtual Post put(Dest dest, SegId segment, std::span<const PutPiece> pieces, Counter* done,
                   CtrId remote, std::uint32_t flags) = 0;
  virtual Post get(Remote from, void* to, std::size_t size, Counter* done, std::uint32_t flags) = 0;
  // On an aligned 8-byte word. add: a; swap: a; compare_swap: a = expected, b = new; bit_*: a.
  // `old` (may be null) holds the former value when `done` counts.
  virtual Post atomic(Remote word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
                      Counter* done) = 0;
  // `done` counts once every earlier put and atomic to `dest` is visible there.
  virtual Post fence(Dest dest, Counter* done) = 0;
  // A counter that peers' puts bump by one each (remote argument of put). Owned by the caller.
  virtual void expose_counter(CtrId id, Counter* counter) = 0;

  // Names a set of ranks, the same call with the same ranks in the same order on each member.
  // Group 0 is every rank. Group packets are FIFO per source, unordered with unicast.
  virtual Post group(std::uint16_t id, std::span<const Rank> members) = 0;

  // Counts since the start: packets, bytes, acks, stalls, polls, copies.
  virtual const PortCounters& counters() const = 0;
};

}  // namespace fairlead::lci
