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

class FastPath;

using Chan = std::uint16_t;   // same number = same service on every rank
using SegId = std::uint32_t;  // exposed memory, named by its owner
using CtrId = std::uint16_t;  // remotely incrementable counter; kNoCounter: none
using Words = std::uint32_t[4];
// As above, as one value.
using WordVector [[gnu::vector_size(16)]] = std::uint32_t;

// Who uses which of these names: fairlead/run/names.h. Channels from here on belong to lci itself
// (remote memory by packets, groups).
constexpr Chan kClientChannels = 192;  // of 256
constexpr CtrId kCountersMax = 1024;   // ids of counters are below
constexpr CtrId kNoCounter = 0xffff;
constexpr SegId kNoSegment = 0xffffffff;  // nobody's
constexpr std::size_t kWhenMax = 4096;    // operations of one port that wait for a counter

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
  std::uint64_t page_faults = 0;   // accesses that ended in a handler of the program
  std::uint64_t protections = 0;   // changes of protection of neighbouring pages, one call each
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
  kAfter = 1,    // packets, puts: not visible at the target before my earlier puts there; gets,
                 // atomics: not executed there before them. Where those are on their way and this
                 // may not wait, again_credit
  kMore = 2,     // another send to the same peer follows at once
  kNoBlock = 4,  // answer again_* instead of waiting for room
  kWord4 = 8,  // of atomics: the word has 4 bytes; operands are cut, the former value extended by 0
  // Packets to a rank, which have no words of 4 bytes: this one may pass others of this rank and be
  // passed by them, so that a path of several rails may send it by any (NI engines over udp do).
  // It still comes exactly once. For parts of long messages that say themselves where they belong.
  kAnyOrder = kWord4,
  // Packets: they ask for the receiver's processor (InfiniBand's solicited event). Where its port
  // wakes in the model, a direct one interrupts for them even while the rank waits: they are served
  // by a thread of their own, not by who looks. Elsewhere it changes nothing.
  kSolicited = 16,
  // Puts, to a rank whose path has kRawPuts; elsewhere it changes nothing. The put may be lost,
  // whole or in part, when the path changes: `done` then counts failed, and path().lost has grown
  // since the call. A put without `done` makes the next fence to that rank fail instead. What of it
  // came through is there once a later fence has ended. Without the flag the port puts again what
  // was lost, until it is there or the peer is down. For clients that can put again themselves, and
  // would rather know than have the port wait (remote shared memory).
  kRaw = 32,
  // Packets to a rank: somebody waits for this one. Where small packets wait for others to share a
  // frame (udp), it leaves at once with those before it, kMore or not. Where the receiver's
  // interface can tell (RDMA engines of the model), it asks for the processor as kSolicited does,
  // and before the time of a watchdog is over (Wake::watchdog). Elsewhere it is like any other: a
  // watchdog of the real world sees no packet before it looks. It passes nothing that was sent
  // before it.
  kUrgent = 64,
  // Packets: this one is a part of a message that another packet counts: a fragment behind the
  // first, or a packet of the protocol that moves the message. It travels like any other, and is
  // counted in PortCounters::parts_sent, so that messages_sent() tells messages from packets.
  kPart = 128,
};
// Among the flags of a put, get or send to a rank: it goes by this rail (Caps::rails; counted from
// 0), so that a client may spread what it moves itself. Copies of the network's keep to it where
// that has rails of its own to choose from (udp's further rails, Fire Link's links). Packets keep
// their order, and with it the way of the pair's other packets, whatever rail is named: so do puts
// and gets that are packets (below kRemoteCopyBytesMin on udp without NI engines, and what must
// come behind earlier puts with them), and all on fabrics that choose by themselves. A rail that is
// lost keeps nothing back: what would go by it goes by another. no_rail: the path has fewer rails;
// nothing was done.
constexpr std::uint32_t kRailShift = 8;
constexpr std::uint32_t kRailMask = 0xff;
constexpr std::uint32_t kRailsMax = kRailMask;  // that can be named
constexpr std::uint32_t on_rail(std::uint32_t rail) {
  return (rail < kRailsMax ? rail + 1 : kRailMask) << kRailShift;
}
// The rail that flags name, counted from 1; 0: none.
constexpr std::uint32_t rail_of(std::uint32_t flags) { return flags >> kRailShift & kRailMask; }
// Among the flags of a send to a rank: it goes by this queue (Port::open_queue), 0: the common one.
constexpr std::uint32_t kQueueShift = 16;
constexpr std::uint32_t on_queue(std::uint32_t queue) { return queue << kQueueShift; }

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

// What query() asks of every member of a group, the caller included: whether its aligned 8-byte
// word at `offset` of `segment` compares so with `value`.
struct Query {
  std::uint16_t group = 0;
  SegId segment = 0;
  std::uint64_t offset = 0;
  Cmp cmp = Cmp::eq;
  std::uint64_t value = 0;
  // Stored into a second aligned 8-byte word of every member where the condition holds on all.
  bool stores = false;
  SegId store_segment = 0;
  std::uint64_t store_offset = 0;
  std::uint64_t store_value = 0;
};

// What when() begins later: one put, or one atomic whose former value nobody asks for. Fixed-width
// fields, so that it may lie on a network interface.
struct Operation {
  enum class Kind : std::uint8_t { put, atomic };

  Kind kind = Kind::put;
  Atomic op = Atomic::add;  // atomic
  std::uint32_t flags = 0;  // Flag, as of the call
  Dest dest{0};             // put: a rank or a group; atomic: a rank
  SegId segment = 0;
  std::uint64_t offset = 0;
  const void* data = nullptr;  // put: read when it begins, the caller's again when `done` counts
  std::size_t size = 0;        // put: 0 only bumps `remote`
  CtrId remote = kNoCounter;   // put
  std::uint64_t a = 0;         // atomic
  std::uint64_t b = 0;
  Counter* done = nullptr;  // counts as that call's
};

// A way to a peer, and what happened to it since the job started.
struct PathState {
  std::uint64_t changes = 0;  // times that it was lost or restored, rails counted one by one
  std::uint64_t lost = 0;     // of those, lost
  const char* reason = "";    // why the last change came about; a string that outlives the port
  bool down = false;          // the peer is gone for the rest of the job
};
struct Event {
  enum class Kind : std::uint8_t { path_lost, path_restored, segment_withdrawn, peer_down };

  Kind kind;
  Rank rank;                // the peer
  SegId segment = 0;        // segment_withdrawn: the peer's, which this rank had used
  const char* reason = "";  // as PathState's
};
struct EventSink {
  void (*run)(void* context, const Event& event) = nullptr;
  void* context = nullptr;
};

enum Permission : std::uint32_t {
  kRead = 1,
  kWrite = 2,
  kAtomic = 4,
  // No right of peers: the owner is told what they store there, so that it can wait for it
  // (Until::segment). It costs whoever stores a packet where the target's processor has no part in
  // it.
  kTold = 8,
};

enum CapFlag : std::uint64_t {
  kHwRdma = 1,          // get and put move data without the target's processor
  kMappable = 2,        // map() returns an address
  kHwAtomic = 4,        // every atomic on allocated memory without the target's processor
  kHwMulticast = 8,     // sends to group 0 are forwarded below the host; to others it may pass them
  kOrderedPut = 16,     // puts are in order with later packets without kAfter
  kInterrupt = 32,      // Wake::watchdog and immediate work
  kSingleCopy = 64,     // get and put move bulk data with one copy
  kFreeWork = 128,      // charge() does nothing on this port: a hot path may leave it out
  kRemoteCopy = 256,    // long gets and puts are copies of the network's, not packets
  kRemoteAtomic = 512,  // atomics are the network's, not packets
  kHwFetchAdd = 1024,   // adds to words of Place::ni are done by the network interface
  kHwPut = 2048,        // the network interface moves puts; gets may need the target's processor
  kHwQuery = 4096,      // query() is answered without the members' processors
  kHwTrigger = 8192,    // when() begins its operation without this rank's processor
  // A put may be lost when the path to its target changes: the next fence to it fails, and
  // path().lost has grown. Packets are never lost by it.
  kRawPuts = 16384,
  // Puts to and queries of groups of consecutive ranks are the network's: one packet reaches all
  // members, and its answers come back as one.
  kContiguousGroups = 32768,
  // Packets may be lost, come twice, and overtake each other (--lci raw): for clients that mend it.
  kMayLose = 65536,
  // A put of one piece bumps the target's counter by itself when it is there, however long it is:
  // neither a packet nor the target's processor moves anything (InfiniBand's write with immediate).
  kCountedPut = 131072,
  // This rank's gets from the peer are executed there in the order of the calls: what a later one
  // reads is no older than what an earlier one read. It holds for memory that allocate() gave
  // (Place::host), that nobody is told of stores to (kTold) and that is not withdrawn meanwhile,
  // without kAfter and on_rail(); and, where long gets are copies and short ones packets
  // (kRemoteCopy without kHwRdma), for gets of fewer than kRemoteCopyBytesMin bytes.
  kOrderedGet = 262144,
};

// Where a path has kRemoteCopy: gets and puts of so many bytes and more are copies; below, packets
// are there first, unless it has kHwRdma, too: then all are copies.
constexpr std::size_t kRemoteCopyBytesMin = 48 * 1024;

// Per path, not per port, and the same for the whole job: what a client needs to know of a network
// it asks these, and never its name.
struct Caps {
  std::uint32_t mtu_bytes;         // largest body + gather of one packet
  std::uint32_t inline_bytes_max;  // largest send_small
  std::uint32_t put_atomic_bytes;  // naturally aligned puts up to this size become visible at once
  std::uint64_t flags;             // CapFlag
  // Puts of whole, naturally aligned units of so many bytes are what the path does; others work
  // too, and cost messages.
  std::uint32_t put_grain_bytes = 1;
  // Networks, or links of one, that lead to the peer ("rails"): packets go by one of them, or by
  // several where their order is kept all the same, and copies may go by all at once. What path()
  // counts as lost and restored are these; the number stays what it was when the job started.
  std::uint32_t rails = 1;

  friend bool operator==(const Caps&, const Caps&) = default;
};

// What wait() waits for; unset members do not count. Any one that holds ends the wait.
struct Until {
  const Counter* counter = nullptr;  // counter->ok + counter->failed >= at
  std::uint64_t at = 0;
  const std::atomic<std::uint64_t>* word = nullptr;  // *word cmp value
  Cmp cmp = Cmp::eq;
  std::uint64_t value = 0;
  const std::atomic<std::uint32_t>* word4 =
      nullptr;              // the same of a 4-byte word, with cmp and value
  bool any_packet = false;  // an upcall ran; by wake(): also since the last wait
  // What this rank can do may have changed: an upcall ran, an operation completed, an event was
  // told, or a peer or a buffer pool has room again after an again_* answer (a fabric that cannot
  // say so ends the wait early, for another try: at once, then later and later, up to 100 us).
  bool any_change = false;
  // A rank has stored into this segment of the caller's by a put or an atomic (a put that comes in
  // parts: maybe not all of it yet) since a wait for it ended so, or since it was exposed: look,
  // then wait, and nothing is missed. What is stored is there by then. (A put to a group, or one
  // that bumps a counter, ends waits for all such segments where the network does it: kHwTrigger.)
  // Only what was exposed with kTold, or regranted so before the put began, is told; else wait()
  // returns invalid. Nobody hears of plain stores to mapped memory and of what a query stores:
  // `word` is for those.
  SegId segment = kNoSegment;
  Ps deadline = kNever;   // virtual or real time since the World started
  const char* what = "";  // shown when a job hangs; a string that outlives the wait
  // More conditions, each of which ends the wait, too: their counters, words and segments only. The
  // first one's counter decides between done and maybe_delivered. They outlive the wait.
  const Until* also = nullptr;
};

// Purpose: one rank's access to the network, in either world. One per process, or per fiber.
// Thread: one thread at a time: systems that have threads lock around it, or share() it.
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
  // channel wait for the bind; what comes after it, on any channel, does not overtake them.
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
  // slots in shared memory. What it refers to is the Port's (lci/client/fast_path.h, which programs
  // outside have no use for).
  virtual FastPath fast_path(Chan, Lane);
  // Gives back a kept packet (in any order), or an allocated one that is not to be sent.
  virtual void release(Packet* packet) = 0;

  // Runs the upcalls of what has arrived; returns how many ran. In the model an empty poll
  // charges the platform's poll cost and lets due events run.
  virtual int poll() = 0;
  // The only blocking point. done: the condition holds; maybe_delivered: counter->failed moved;
  // peer_down: a peer was lost while waiting; again_credit: the deadline passed; invalid: a segment
  // of `until` is not one of this rank's that was exposed with kTold.
  virtual Post wait(const Until& until) = 0;
  // Runs `task` from the next poll(), outside any upcall. At most 1024 outstanding: CHECK.
  virtual void defer(Task task) = 0;
  // Between hold() and the matching allow() (they nest) no upcall runs. An upcall may call them.
  virtual void hold() = 0;
  virtual void allow() = 0;
  // How many hold() have not had their allow() yet.
  virtual std::uint32_t held() const = 0;
  // Grows with what ends a wait for any change, room apart: who has let others use the port learns
  // from it whether there is something to look at.
  virtual std::uint64_t changes() const = 0;
  // Whether upcalls also run while the client computes, where caps say kInterrupt (in the model: in
  // charge(), and not between hold() and allow()). poll_only: they do not, the default. watchdog:
  // when a packet has waited so long for a poll (zero: the platform's time; LCI paper section 4.1).
  // immediate: at once. Each costs an interrupt. On a modelled node with a processor beside the
  // rank's (hw::HostParams::beside) the upcalls take that one's time, and the rank computes on.
  // In the real world a helper thread sleeps until something arrives, then runs the upcalls as this
  // rank: never two at once, none between hold() and allow(), none inside a call of the Port. What
  // they share with the rank's own code needs hold() around it.
  virtual void wake(Wake policy, Ps watchdog) = 0;
  // A descriptor for poll(2): readable once something may have arrived for this rank since the last
  // poll() that found nothing; the Port's, and only poll(2) may use it. -1: the time of this world
  // does not pass in poll(2) (the model, loop).
  virtual int doorbell() { return -1; }
  // Whether upcalls may run while no call of the rank does, as wake() or doorbell() asked: to be
  // looked at before enter(), on a hot path. Changed by the rank's own thread only.
  bool wakes() const { return wakes_; }
  // For a system whose own code shares with its upcalls what hold() would have to guard, and which
  // lets them run in its calls: from enter() to the matching leave(), by the same thread (they
  // nest), no upcall runs but in poll(), wait() and the blocking forms, as if wake() had not been
  // called. Not around wake() and doorbell().
  virtual void enter() {}
  virtual void leave() {}
  // Several threads of this rank call from now on; until now one did. Each call is a turn of its
  // thread's, as is what lies between enter() and leave(); poll() and wait() let other threads have
  // theirs, from inside an enter() too, and a wait for any packet or change may end by it. wakes()
  // is true from here on. Only where it is shareable(): not in the model, nor where ranks are
  // fibers of one thread.
  virtual bool shareable() const { return false; }
  virtual void share() {}

  // A queue of this rank's at its network interface, beside the common one to each peer, where that
  // interface looks at queues in turn (virtual interfaces): on_queue() names it. What goes by one
  // queue to one peer keeps its order; it may pass what goes by another one. 0: there are none
  // here, or no more.
  virtual std::uint32_t open_queue() { return 0; }
  // Nothing more is sent by it.
  virtual void close_queue(std::uint32_t /*queue*/) {}

  // Memory peers can reach, zeroed, page-aligned (Place::host), exposed to all with every
  // permission under `segment`; owned by the port. nullptr: none left of what the job was started
  // with (Place:: ni: of the network interface's memory; it need not be addressable by this rank
  // where caps of this rank to itself lack kMappable).
  virtual void* allocate(SegId segment, std::size_t size, Place place) = 0;
  // A second address of the pages that allocate() gave for `segment`, with protection of its own
  // (readable and writable at first); the same at every call, until the segment is withdrawn.
  // nullptr: not allocated here, or in NI memory.
  virtual void* alias(SegId) { return nullptr; }
  // Lets peers put/get/atomic in [base, base+size), which stays the caller's. `alias`, when not
  // null, is a second mapping of the same memory that serves them. allowed empty: every rank.
  virtual Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions,
                      void* alias, std::span<const Rank> allowed) = 0;
  // Ends it: operations of peers are refused from now on (as `withdrawn` where that is known when
  // they are called, of the last 64 that a rank withdrew); those that came before are done. What
  // put() and get() move by copies of the network ends first. Peers that used it are told
  // (Event::segment_withdrawn).
  virtual Post withdraw(SegId segment) = 0;
  // Changes who may do what, in place: for what begins from now on. invalid: not exposed here.
  virtual Post regrant(SegId, std::uint32_t /*permissions*/, std::span<const Rank> /*allowed*/) {
    return Post::invalid;
  }
  // Address of a peer's allocated segment for plain loads and stores; nullptr where the path
  // cannot (the only call that may return no).
  virtual void* map(Rank rank, SegId segment) = 0;
  // Unordered among themselves; visible at the target after fence(), the remote counter or a
  // later kAfter packet. `done`: the sources may be reused.
  virtual Post put(Dest dest, SegId segment, std::span<const PutPiece> pieces, Counter* done,
                   CtrId remote, std::uint32_t flags) = 0;
  virtual Post get(Remote from, void* to, std::size_t size, Counter* done, std::uint32_t flags) = 0;
  // On an aligned word of 8 bytes, or 4 (kWord4). add: a; swap: a; compare_swap: a = expected, b =
  // new; bit_*: a. `old` (may be null) holds the former value when `done` counts. Processors' own
  // atomics on that word lose nothing by it.
  virtual Post atomic(Remote word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
                      Counter* done, std::uint32_t flags = kNoFlags) = 0;
  // `done` counts once every earlier put and atomic to `dest` is visible there.
  virtual Post fence(Dest dest, Counter* done) = 0;
  // A counter that peers' puts bump by one each (remote argument of put). Owned by the caller.
  virtual void expose_counter(CtrId id, Counter* counter) = 0;

  // Names a set of ranks, the same call with the same ranks in the same order on each member.
  // Group 0 is every rank. Group packets are FIFO per source, unordered with unicast.
  virtual Post group(std::uint16_t id, std::span<const Rank> members) = 0;
  // Forgets a group other than 0, whose id may then be used again: once every member has what was
  // sent to it, which is the client's to know (a barrier). The same call on each member.
  virtual Post ungroup(std::uint16_t id) = 0;
  // The network conditional (QsNet's test-and-set broadcast; Quadrics paper section 4): whether the
  // condition holds on every member at one time, and then the store. Needs kRead, to store kWrite
  // too. `all` holds the answer when `done` counts (both the caller's until then); failed counts
  // where a member refused or was lost. Queries of one group by several members are in one order,
  // the same for all. invalid: no such group here.
  virtual Post query(const Query&, bool* /*all*/, Counter* /*done*/) { return Post::invalid; }
  // Begins `operation` once counter->ok + counter->failed >= at: at once, or from poll(), wait() or
  // below. The counter may be one that peers' puts bump, so that operations form chains over ranks.
  // Operations of one counter begin in the order of `at`. Both belong to the port until then. At
  // most kWhenMax are pending: again_buffer. What it is refused later is counted as `done` failed.
  virtual Post when(Counter*, std::uint64_t /*at*/, const Operation&) { return Post::invalid; }

  // The path to a peer, as it is now. It does not change but where packets can go by several
  // networks, or when the peer goes down, which loses it for good.
  virtual PathState path(Rank peer) const = 0;
  // Whom to tell of what changes from now on: from poll() or wait(), outside any upcall, in order,
  // each change once. A peer that goes down is told as peer_down, and nothing of it afterwards. The
  // sink may do what a deferred task may. One sink at a time; none: {}.
  virtual void on_event(EventSink sink) = 0;

  // Counts since the start: packets, bytes, acks, stalls, polls, copies.
  virtual const PortCounters& counters() const = 0;

 protected:
  bool wakes_ = false;
};

// A system's call, from here to the end of the scope: Port::enter().
class PortTurn {
 public:
  explicit PortTurn(Port& port) : port_(port.wakes() ? &port : nullptr) {
    if (port_ != nullptr) port_->enter();
  }
  ~PortTurn() {
    if (port_ != nullptr) port_->leave();
  }
  PortTurn(const PortTurn&) = delete;
  PortTurn& operator=(const PortTurn&) = delete;

 private:
  Port* port_;
};

}  // namespace fairlead::lci
