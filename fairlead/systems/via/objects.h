// What a rank's program has made of VIPL: network interfaces, protection tags, VIs, completion
// queues, connections that were asked for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/ring.h"
#include "fairlead/base/units.h"
#include "fairlead/systems/via/descriptor.h"
#include "fairlead/systems/via/handles.h"
#include "fairlead/systems/via/vipl.h"
#include "fairlead/systems/via/wire.h"

namespace fairlead::via {

constexpr std::uint32_t kDescriptorsMax = 4096;  // of one queue
constexpr std::uint32_t kEntriesMax = 1u << 20;  // of a completion queue
constexpr std::uint32_t kReadsMax = 16;          // RDMA reads of one VI under way

struct Object {
  void* handle = nullptr;
  std::uint16_t index = 0;
};

struct Nic : Object {
  void* error_context = nullptr;
  void (*error_handler)(void*, VIP_ERROR_DESCRIPTOR*) = nullptr;
};

struct Ptag : Object {
  Nic* nic = nullptr;
};

struct Queue : Object {
  struct Entry {
    void* vi = nullptr;
    bool is_receive = false;
    bool counted = false;  // the network interface wrote it
  };
  using Handler = void (*)(void*, void*, void*, VIP_BOOLEAN);

  Nic* nic = nullptr;
  std::size_t room = 0;
  std::uint32_t users = 0;  // queues of VIs
  Ring<Entry> entries;
  Handler handler = nullptr;  // of the next entry
  void* context = nullptr;
  // For network interfaces that count the entries that they write (lci::ViRdma::count_entries): the
  // queue's number, 0 where they do not, and how many of theirs have been taken.
  std::uint16_t number = 0;
  std::uint32_t consumed = 0;
};

// A posted descriptor.
struct Posted {
  enum class State : std::uint8_t { waits, moves, left, done };

  VIP_DESCRIPTOR* descriptor = nullptr;
  VIP_MEM_HANDLE memory = 0;
  State state = State::waits;
  bool told = false;         // its status is written
  std::uint32_t status = 0;  // without VIP_STATUS_DONE
  std::uint32_t moved = 0;   // bytes
  std::uint16_t sequence = 0;
  bool handed = false;   // the network interface has the descriptor, and says what becomes of it
  bool counted = false;  // it has written an entry of the completion queue
  bool overrun = false;  // it found no room there
  Shape shape;
};

// One of a VI's two work queues: posted, then in order done, then handed back.
struct WorkQueue {
  using Handler = void (*)(void*, void*, void*, VIP_DESCRIPTOR*);

  Ring<Posted> posted;
  std::size_t told = 0;  // of them, at the front: their status is written
  std::size_t next = 0;  // the first one that is not yet sent, or filled
  Queue* completions = nullptr;
  Handler handler = nullptr;  // of the next completion
  void* context = nullptr;
};

// A message that is coming in.
struct Incoming {
  bool active = false;
  bool dropped = false;
  DataKind kind = DataKind::send;
  std::uint16_t sequence = 0;
  std::uint32_t got = 0;
};

struct Vi : Object {
  Nic* nic = nullptr;
  VIP_VI_ATTRIBUTES attributes{};
  VIP_VI_STATE state = VIP_STATE_IDLE;
  WorkQueue send;
  WorkQueue receive;

  // The connection, or the one that is asked for.
  std::uint32_t queue = 0;      // of the Port, where it has such: Port::open_queue()
  std::uint8_t connection = 0;  // how many there were; wraps
  Rank peer = 0;
  ViName peer_vi;
  VIP_VI_ATTRIBUTES peer_attributes{};
  std::uint32_t peer_queue = 0;  // as `queue`, of the other side
  bool by_interface = false;     // the network interface moves messages and RDMA
  bool by_peers = false;         // asked for by VipConnectPeerRequest
  bool answered = false;         // the request was, by `answer`
  VIP_RETURN answer = VIP_SUCCESS;
  Ps deadline = kNever;  // of a request between peers
  Discriminator local;
  Discriminator remote;

  std::uint16_t next_sequence = 0;  // to be sent
  std::uint16_t expected = 0;       // levels 2 and 4: to come
  std::uint16_t newest = 0;         // level 1: that came, and which of the 32 up to it
  std::uint32_t came = 0;
  Incoming incoming;
  std::uint32_t reads = 0;   // under way
  std::uint32_t served = 0;  // reads of the other side that wait to be answered
  bool stalled = false;      // waits for room

  bool reliable() const { return attributes.ReliabilityLevel != VIP_SERVICE_UNRELIABLE; }
  bool tells() const { return attributes.ReliabilityLevel == VIP_SERVICE_RELIABLE_RECEPTION; }
  ViName name() const { return {index, connection}; }
};

// A client that waits for its server.
struct Request {
  Rank source = 0;
  ViName vi;
  std::uint32_t queue = 0;  // Vi::peer_queue
  VIP_VI_ATTRIBUTES attributes{};
  Discriminator from;
  Discriminator to;
};
struct Connection : Object {
  Nic* nic = nullptr;
  Request request;
  bool cancelled = false;
};

}  // namespace fairlead::via
