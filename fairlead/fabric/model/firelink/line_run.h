// What is under way on Fire Link machines: runs of lines of 64 bytes that a processor stores into
// another host's memory or loads from it, at most 32 lines each, one event each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fairlead/base/units.h"
#include "fairlead/fabric/model/packet_store.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/hw/firelink/firelink_params.h"

namespace fairlead::fabric::model {

enum class RunKind : std::uint8_t {
  packet,  // into a ring of the destination
  room,    // so many slots of the source's ring there are free again
  put,     // into memory that a key stands for
  load,    // out of such memory; the processor waits for it
  other,   // another job's store: no rank's, nothing is written
};

constexpr std::uint32_t kRunLinesMax = 32;
constexpr std::uint32_t kRunBytesMax = kRunLinesMax * hw::kFirelinkLineBytes;
static_assert(hw::kFirelinkSlotBytesMax + 32 == kRunBytesMax);
// In a packet's first line: the client's header, in which the valid flag is.
constexpr std::uint32_t kSlotHeaderBytes = 32;
// Bytes that one remote interrupt carries: the rest of its line names the sender.
constexpr std::uint32_t kInterruptBytes = 48;

constexpr std::uint32_t lines_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + hw::kFirelinkLineBytes - 1) / hw::kFirelinkLineBytes);
}

// What a host's library says of a run.
struct RunOrder {
  RunKind kind;
  std::uint8_t lane;       // packet, room
  std::uint8_t last;       // 1: of its put
  std::uint8_t interrupt;  // 1: less than a line, by remote interrupts
  std::uint8_t raw;        // put; 1: what is lost of it is not the library's again
  std::uint8_t rail;       // put, load: the way it goes by while that lives, from 1; 0: any
  Peer dest;
  std::uint32_t bytes;      // of payload
  std::uint32_t operation;  // put: the host's number of it
  std::uint32_t slots;      // room
  std::uint64_t key;        // put, load
  std::uint64_t offset;     // in what the key stands for
};

inline std::uint32_t lines_in(const RunOrder& order) {
  switch (order.kind) {
    case RunKind::packet:
      return lines_of(kSlotHeaderBytes + order.bytes);
    case RunKind::put:
      // An empty interrupt after those that carry data says that these are done.
      if (order.interrupt != 0) return (order.bytes + kInterruptBytes - 1) / kInterruptBytes + 1;
      return lines_of(order.bytes);
    case RunKind::other:
      return lines_of(order.bytes);
    case RunKind::room:
    case RunKind::load:
      return 1;
  }
  return 1;
}

// What lies before a run's payload in memory that hosts see.
struct alignas(64) RunFront {
  RunOrder order;
  PacketHeader header;  // packet
  Peer source;          // of a packet that came
  std::uint8_t lane;
  Ps taken;  // when the host that sends it took it
};
static_assert(std::is_trivially_copyable_v<RunFront>);

// What a host can see, beside packets.
struct FirelinkNews {
  enum class What : std::uint8_t {
    room,        // count: slots that are free again, at `peer`, of the lane
    ended,       // id: a put; ok: kPutRefused, kPutThere, or (raw) kPutLost: count as ok of lost
    lost,        // id: a run, which is the library's again; ok: its way is whole, store it again
    way_lost,    // to the ranks on node `peer`: a link carries nothing more, others do
    way_back,    // a link does again
    way_looked,  // the driver has looked at the links, and nothing is different
    cut_off,     // node `peer` cannot be reached any more: link `id` of node `count` was the last
                 // one, and was found dead `at`
  };
  static constexpr std::uint8_t kPutRefused = 0;
  static constexpr std::uint8_t kPutThere = 1;
  static constexpr std::uint8_t kPutLost = 2;

  What what;
  std::uint8_t ok;
  std::uint8_t lane;
  Peer peer;
  std::uint32_t id;
  std::uint32_t count;
  Ps at{};
};
static_assert(std::is_trivially_copyable_v<FirelinkNews>);

// How a load ended.
enum class LoadEnd : std::uint8_t {
  done,
  denied,
  lost,     // a link died
  cut_off,  // the node cannot be reached
};

// What the machine knows of one run.
struct LineRun {
  static constexpr std::uint32_t kWaysMax = 4;  // links of an interface

  struct OnLink {
    std::uint32_t out;    // link of the source
    std::uint32_t in;     // link of the destination
    std::uint32_t lines;  // that go by it
  };

  RunOrder order{};
  Rank source = 0;
  bool lost = false;         // on its way before: what follows but the ways stays as it was
  std::uint64_t number = 0;  // packet: of its flow, from 0 on; else its first line in what the key
                             // stands for
  std::uint32_t lines = 0;
  std::uint32_t ways = 0;
  OnLink on[kWaysMax] = {};
  std::uint64_t downs = 0;  // of these links, as it went
  Ps spread{};              // from the first line to the last, as the processor stores
  Ps tail{};                // the last line is out of the source
  LoadEnd end = LoadEnd::done;
};

using LineRuns = PacketStore<LineRun, RunFront>;

}  // namespace fairlead::fabric::model
