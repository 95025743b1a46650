// Virtual interfaces by network interfaces that know them (VIA 1.0): what a host's system software
// tells its interface of memory, connections and completion queues. The interface believes nothing
// else.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"

namespace fairlead::fabric {

// NiPacket::source of a data packet, with a ViMessageHead as its words (vi_message.h), which only
// interfaces make. message, message_write: a piece of a message, or of an RDMA write. message_done:
// all of one is in memory. read: asks for what an RDMA read wants; read_data: a piece of that.
// broken: the connection is. From `send_token` on they stay in one node: send_token, receive_token:
// a descriptor that the interface reads. fragment: bytes of a packet that lie elsewhere in host
// memory than the others. told: what a host is told.
enum class ViOp : std::uint8_t {
  none,
  message,
  message_write,
  message_done,
  read,
  read_data,
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
  // A segment that this rank's Port has exposed, and `handle` is its name: puts of the Port's reach
  // it, virtual interfaces of programs do not. With bytes 0 it is exposed no more.
  bool segment = false;
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

// Reads of one virtual interface that may be under way.
constexpr std::uint32_t kViReadsMax = 16;

}  // namespace fairlead::fabric
