// What is under way in an RDMA machine: packets on the wire, and the messages in work queues that
// they are cut from.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fairlead/base/units.h"
#include "fairlead/fabric/model/packet_store.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/packet.h"

namespace fairlead::fabric::model {

enum class RdmaKind : std::uint8_t {
  send,       // a client's packet
  write,      // a copy to the destination's memory, or one packet of it
  read,       // asks for a copy of the destination's memory
  read_data,  // what was asked for, or one packet of it
  atomic,
  answer,   // how one of the above ended, but for read_data
  credit,   // so many more receive buffers
  query,    // a condition on words of several hosts, and what is stored where it holds on all
  look,     // the host changed a counter that operations wait for
  tport,    // what the host asks of the thread that matches messages
  reduce,   // an operand of a reduction, or what was made of several
  reduced,  // what all of them became
  ack,      // where links lose packets: up to which request the responder has them
};

// The queues of a pair of NIs: one for each lane, then copies and atomics, then what the responder
// sends. Each is in order; none holds up another.
constexpr std::uint8_t kCopyQueue = kLanes;
constexpr std::uint8_t kReplyQueue = kLanes + 1;
constexpr std::uint8_t kRdmaQueues = kLanes + 2;
constexpr std::uint8_t kBackgroundQueue = kRdmaQueues;  // another job's
constexpr std::uint8_t kNoQueue = 0xff;                 // answers and credits go at once
constexpr std::uint32_t kNoOperation = ~0u;
// Connections of a pair of ranks, where packets are numbered: one for each queue of requests.
constexpr std::uint8_t kConnections = kCopyQueue + 1;
constexpr std::uint8_t kNoConnection = 0xff;

constexpr std::uint16_t kNoEvent = 0xffff;

// Operations on what the interface knows by its number (RdmaTerms::names).
struct RdmaNamed {
  std::uint8_t used = 0;            // 1: `key` is a segment's number
  std::uint8_t compare = 0;         // query: as lci's Cmp
  std::uint8_t stores = 0;          // query
  std::uint16_t bumped = kNoEvent;  // counter of the destination
  std::uint16_t after = kNoEvent;   // begins when this counter of the host's own ...
  std::uint32_t members = 1;        // destinations: so many ranks, `dest` the first
  std::uint64_t after_value = 0;    // ... has come so far
  std::uint64_t store_key = 0;      // query
  std::uint64_t store_offset = 0;
};

// What a host asks of the program that matches its messages (fabric/message_matching.h). In an
// entry: the one of them is named.compare, the channel named.bumped; key: the context; a: source
// and tag, b: their masks, the tags in the upper halves; address and size: where a receive's bytes
// go; offset: where a MatchFound goes; operation: the request's number, which b is where one is
// taken or withdrawn; open has the channel of answers as a, their lane as b.
enum class RdmaTport : std::uint8_t { receive, claim, watch, look, take, withdraw, open, count };
// RdmaCompletion::lane where `operation` is the number of such a request.
constexpr std::uint8_t kTportLane = 0xfe;
constexpr std::uint32_t kTportRequestsMax = 1 << 20;  // of a host

// A reduction, in an entry: the first ranks of named.members consecutive nodes take part, dest is
// that of the first node; named.compare is the ReduceOp, named.stores a ReduceWhere, word_bytes the
// ReduceType; size bytes at address are the operand, whose result goes to where `offset` says; a:
// which one of those of the same ranks. Its parts, as packets, have a name instead:
constexpr std::uint64_t reduction_name(Peer first, std::uint32_t members, std::uint64_t number,
                                       std::uint64_t part) {
  return std::uint64_t{first} << 48 | std::uint64_t{members - 1} << 32 | (number & 0xffff) << 16 |
         part;
}
constexpr Peer first_of(std::uint64_t reduction_name) {
  return static_cast<Peer>(reduction_name >> 48);
}
constexpr std::uint64_t members_of(std::uint64_t reduction_name) {
  return (reduction_name >> 32 & 0xffff) + 1;
}
constexpr Rank kReductionRanksMax = 1 << 16;
constexpr std::uint64_t kReductionPartsMax = 1 << 16;

// What an interface reads of its host's memory for a packet.
// context, translation: parts of tables that the interface does not keep all of; `responder`: those
// for a packet that arrived.
enum class RdmaFetch : std::uint8_t { entry, payload, word, context, translation, responder };
// What it writes there: a packet for a receive buffer, part of a peer's put, part of what this host
// asked for, a completion, a word that an atomic operation has changed, part of a reduction's
// result.
// told: the completion of a write that has an immediate number.
enum class RdmaStore : std::uint8_t { received, put, got, completion, word, reduced, told };

// A work queue entry as the host writes it.
struct RdmaEntry {
  RdmaKind kind;           // send, write, read or atomic
  std::uint8_t queue;      // of a send: its lane
  std::uint8_t signalled;  // 1: a send that is answered
  RemoteChange::What what;
  std::uint8_t word_bytes;  // of an atomic: 4 or 8
  std::uint8_t tells;       // 1: a write whose immediate number, `a`, its destination's host gets
  Peer dest;
  std::uint32_t operation;  // the host's number of a copy or atomic
  std::uint64_t size;       // of a copy
  std::uint64_t key;
  std::uint64_t offset;   // in what the key stands for
  std::uint64_t address;  // of the host's own memory
  std::uint64_t a;
  std::uint64_t b;
  RdmaNamed named;
};

// What lies before a packet's payload in memory that host and NI see: the entry of a message that
// is posted, the header of one that was received.
struct alignas(64) RdmaFront {
  RdmaEntry entry;
  PacketHeader header;
  Peer source;
  std::uint8_t lane;
  std::uint8_t told;  // 1: no packet, but the immediate number of a write, words[0] of the header
  Ps seen;            // when the host could see it
  Ps taken;           // when the host that sends it took it
};
static_assert(std::is_trivially_copyable_v<RdmaFront>);

// When what has come to `host` and was not looked at interrupts its rank: the oldest packet after
// the watchdog's time, an urgent one at once. `received`: not empty.
template <class Host, class Received>
Ps interrupts_at(Host& host, Received& received, Ps watchdog) {
  constexpr std::size_t kLooks = 256;  // behind so many, the watchdog's time is over anyway
  Ps when = host.front(received.front()).seen + watchdog;
  for (std::size_t i = 0; i < received.size() && i < kLooks && watchdog > Ps{0}; ++i) {
    const RdmaFront& front = host.front(received[i]);
    if ((front.header.ack & kUrgentMark) != 0) when = std::min(when, front.seen);
  }
  return when;
}

// An entry of the completion queue in host memory.
struct RdmaCompletion {
  // The host's; kNoOperation: sends to `peer`, signal_every of them, or, not `ok`, it is lost.
  std::uint32_t operation;
  Peer peer;
  std::uint64_t old;  // of an atomic
  std::uint8_t lane;
  std::uint8_t ok;
  std::uint8_t began = 0;  // 1: an operation that waited for a counter has begun; not its end
};
static_assert(std::is_trivially_copyable_v<RdmaCompletion>);

struct RdmaPacket {
  RdmaKind kind = RdmaKind::send;
  std::uint8_t queue = kNoQueue;
  bool fetched = false;     // its work queue entry is in the NI
  bool with_entry = false;  // and its payload came with that
  bool ready = false;       // its payload is in the NI
  bool signalled = false;   // a send that is answered
  bool last = false;        // of its message
  bool tells = false;       // write: `a` goes to the destination's host
  bool ok = false;          // answer
  RemoteChange::What what = RemoteChange::What::add;
  std::uint8_t word_bytes = 8;  // atomic: 4 or 8
  Peer source = 0;
  Peer dest = 0;
  std::uint32_t operation = kNoOperation;  // the requester's number
  std::uint8_t lane = 0;                   // that credits, or the end of sends, are about
  std::uint32_t credits = 0;
  std::uint32_t bytes = 0;    // payload of this packet
  std::uint64_t size = 0;     // of the whole copy
  std::uint64_t started = 0;  // of that, cut off so far
  std::uint64_t key = 0;
  std::uint64_t offset = 0;         // in what the key stands for
  std::uint64_t address = 0;        // of the payload, in the memory of the host that has or gets it
  std::uint64_t reply_address = 0;  // read: in the requester's memory
  std::uint64_t a = 0;              // atomic; answer: the former value
  std::uint64_t b = 0;
  PacketHeader header{};  // send
  RdmaNamed named{};
  bool background = false;  // another job's, whose memory nobody looks at
  // --- Where links lose packets (reliable_connection.h). A request's, and its answer's.
  std::uint8_t connection = kNoConnection;
  bool again = false;           // sent once more
  std::uint32_t number = 0;     // ack: of the request that is expected
  std::uint64_t position = 0;   // read_data: bytes of the answer before these
  std::uint32_t execution = 0;  // read_data: which of the responder's
  // --- What is read for it.
  RdmaFetch fetching = RdmaFetch::entry;
  std::uint32_t reads_open = 0;  // under way
  std::uint64_t read_left = 0;   // bytes not asked for
  // --- Where packets hold circuits.
  std::uint32_t circuit = 0;
  std::uint32_t users = 1;         // who still needs it
  std::uint32_t parent = 0;        // the message that it was cut from
  std::uint64_t acknowledged = 0;  // bytes of a message
  std::uint64_t store_address = 0;
};

using RdmaPackets = PacketStore<RdmaPacket, RdmaFront>;

}  // namespace fairlead::fabric::model
