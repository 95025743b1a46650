// RDMA of virtual interfaces by network interfaces that know them (VIA 1.0): what a host's system
// software tells its interface of memory and connections, and what stands before an operation's
// data. The interface believes nothing else.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/base/post.h"

namespace fairlead::fabric {

// NiPacket::source of a data packet. write, read: an operation that the receiving interface
// performs, with an RdmaHead before its data. read_data: what was read. done: a write is in memory.
// Those of messages (vi_message.h): message, message_write: a piece of one, or of an RDMA write
// with immediate data. message_done: one is in memory. broken: the connection is. From `send_token`
// on they stay in one node: send_token, receive_token: a descriptor that the interface reads.
// fragment: bytes of a packet that lie elsewhere in host memory than the others. told: what a host
// is told.
enum class ViOp : std::uint8_t {
  none,
  write,
  read,
  read_data,
  done,
  message,
  message_write,
  message_done,
  broken,
  send_token,
  receive_token,
  fragment,
  told
};

// Registered memory, which virtual interfaces with its protection tag may reach.
struct ViMemory {
  std::uint32_t handle;
  std::uint32_t ptag;
  std::uint64_t base;
  std::uint64_t bytes;
  bool writes;  // permits RDMA writes of the other side; as does the next one reads
  bool reads;
};

// One end of a connection, or of one that is asked for.
struct ViEnd {
  std::uint32_t queue;      // of the virtual interface (lci::Port::open_queue)
  Rank peer;                // the only one whose operations it takes
  std::uint8_t connection;  // how many there were of this virtual interface; wraps
  std::uint32_t ptag;
  bool writes;  // permits RDMA writes; as does the next one reads
  bool reads;
  bool breaks;  // an operation that is refused ends the connection
  // For messages:
  bool tells = false;         // a send is complete when the other side's memory has it
  bool send_entries = false;  // sends have a completion queue; as the next one receives
  bool receive_entries = false;
  std::uint8_t peer_connection = 0;  // of the other end, which it calls `connection`
  std::uint16_t peer_queue = 0;      // the same, its `queue`; 0: it is not known yet
  std::uint16_t chan = 0;            // on which the host is told
  std::uint32_t transfer_max = 0;    // bytes of one message, below 2^24
};

// A completion queue of which a virtual interface's entries are. The host takes entries, and says
// how many it has taken in a word of its memory, the consumer index, which wraps.
struct ViEntries {
  std::uint16_t number;    // of the queue; 1 to kViEntriesNumberMax
  std::uint32_t room;      // entries, below 2^31; 0: the queue is no more
  std::uint64_t consumed;  // address of the consumer index, 4 bytes
};
constexpr std::uint16_t kViEntriesNumberMax = 4095;

struct RdmaHead {
  std::uint64_t address;  // where the whole operation begins, in the memory of the target's rank
  std::uint32_t handle;   // of that memory
  std::uint32_t bytes;    // of the whole operation
  std::uint32_t offset;   // of this piece
  std::uint16_t queue;    // the target's virtual interface
  std::uint8_t connection;
  std::uint8_t wants_done;  // a write's last piece is answered
  // The words of the packets that answer. To the second one the offset of a piece is added.
  std::uint32_t answer[4];
};
static_assert(sizeof(RdmaHead) == 40 && std::is_trivially_copyable_v<RdmaHead>);

// Reads of one virtual interface that may be under way.
constexpr std::uint32_t kViReadsMax = 16;

}  // namespace fairlead::fabric
