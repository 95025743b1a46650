// The memory between the simulator and ranks that are processes of their own: one gate a rank,
// through which its library hands commands to its modelled host and network interface and control
// to the simulator; NI memory; the packets. One memfd; fixed-width fields and offsets only. What is
// here is every NI kind's; a kind adds commands of its own, and what its hosts see (ni_kind.h).
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "fairlead/base/counters.h"
#include "fairlead/base/even_nodes.h"
#include "fairlead/base/post.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/work_tally.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/hw/platform.h"

namespace fairlead::fabric::model {

// What every rank asks of its modelled host. A kind's own commands are numbered from kind_first on.
enum class GateOp : std::uint32_t {
  observe,  // nothing but the answer
  sync,
  compute,  // a: time in ps, b: watchdog in ps
  retire,
  block,           // a: deadline in ps; GateSlot::what
  block_for_more,  // the same, whatever is visible already
  kind_first = 16
};

struct GateCommand {
  std::uint32_t op;  // GateOp, or a kind's own
  std::uint32_t id;
  std::int64_t advance_ps;  // the host's own work before it
  std::uint64_t a;
  std::uint64_t b;
};
static_assert(sizeof(GateCommand) == 32);

// What came of the last command, and the host's clock after it.
struct GateAnswer {
  std::uint32_t ok;
  std::uint32_t id;  // as the command says
  std::uint64_t value;
  std::int64_t now_ps;
  std::uint32_t ahead;      // 1: the host's clock is ahead of the machine's: sync takes time
  std::uint32_t dismissed;  // 1: the simulator answers no more
};
static_assert(sizeof(GateAnswer) == 32);

// What the simulator asks of a rank's process while others wait too: to copy between its own memory
// and the packets, as a network interface does that reaches host memory by address.
struct GateMemoryRequest {
  enum What : std::uint32_t { kNone, kRead, kWrite };
  std::uint32_t what;
  std::uint32_t word_only;  // 1: to or from `word` instead of the packets
  std::uint64_t address;    // of the rank's
  std::uint64_t size;
  std::uint64_t offset;  // in the packets
  std::uint64_t word;
};

// Who runs. A rank is outside until it joins and once it has left; in between it and the simulator
// take turns. A rank whose turn comes with a memory request does that and gives the turn back.
enum class GateTurn : std::uint32_t { outside, rank, simulator, left };

struct alignas(64) GateSlot {
  static constexpr std::uint32_t kCommands = 128;
  static constexpr std::size_t kVisibleBytes = 4096;
  static constexpr std::size_t kWhatBytes = 256;

  // --- The hand-over; a futex.
  std::atomic<std::uint32_t> turn;              // GateTurn
  std::atomic<std::uint32_t> rank_sleeps;       // 1: wake it
  std::atomic<std::uint32_t> simulator_sleeps;  // 1: wake it
  std::atomic<std::uint32_t> left;              // 1: the rank's process is gone
  // --- The rank's.
  std::uint32_t queued;  // of `commands`
  std::uint32_t reserved;
  char what[kWhatBytes];  // what it blocks in, NUL-terminated
  GateCommand commands[kCommands];
  PortCounters counters;
  WorkTally tally;
  // --- The simulator's.
  GateAnswer answer;
  GateMemoryRequest memory;
  // What became visible since the last answer, as the kind lays it out.
  alignas(8) std::byte visible[kVisibleBytes];
};
static_assert(std::is_standard_layout_v<GateSlot> &&
              std::atomic<std::uint32_t>::is_always_lock_free);

struct GateHeader {
  static constexpr std::size_t kKindBytes = 1024;

  std::uint64_t magic;
  std::uint64_t total_bytes;
  std::uint64_t packets_offset;
  std::uint32_t ranks;
  std::uint32_t nodes;
  std::uint32_t ranks_per_node;
  std::uint32_t reserved;
  std::uint64_t ni_memory_bytes;  // of each node
  std::uint64_t region_bytes;     // of each rank
  char platform[64];              // its name, NUL-terminated
  char ni_kind[16];               // the same
  Ps look;                        // what an empty look takes: that at a clock, too
  // hw::HostRates of every host.
  alignas(8) std::byte host_rates[sizeof(hw::HostRates)];
  // What a rank's library must know of host and NI, as the kind lays it out.
  alignas(8) std::byte kind[kKindBytes];
};
static_assert(std::is_trivially_copyable_v<GateHeader>);

// What peers may do with memory that a rank has registered, among a command's numbers.
constexpr std::uint32_t kGateKeyRead = 1;
constexpr std::uint32_t kGateKeyWrite = 2;

// The mapped memory; creator and ranks alike.
class GateMemory {
 public:
  // Sparse: what the packets in flight fill is what counts.
  static constexpr std::uint64_t kPacketBytes = std::uint64_t{8} << 30;

  // Error: what the kernel refused and why.
  static Result<std::unique_ptr<GateMemory>> create(const EvenNodes& ranks, std::uint32_t nodes,
                                                    const hw::Platform& platform);
  // Maps what another process made; `fd` stays the caller's. Checks every number it reads.
  static Result<std::unique_ptr<GateMemory>> open(int fd);
  ~GateMemory();
  GateMemory(const GateMemory&) = delete;
  GateMemory& operator=(const GateMemory&) = delete;

  // The descriptor, owned by this object; -1 where it was opened.
  int fd() const { return fd_; }
  const GateHeader& header() const { return *reinterpret_cast<const GateHeader*>(base_); }
  EvenNodes ranks() const { return {header().ranks, header().ranks_per_node}; }
  GateSlot& slot(Rank rank) const {
    return reinterpret_cast<GateSlot*>(base_ + kSlotsOffset)[rank];
  }
  // The NI memory of every node, one after the other.
  std::span<std::byte> ni_memory() const;
  std::span<std::byte> packets() const {
    return {base_ + header().packets_offset, static_cast<std::size_t>(kPacketBytes)};
  }
  // The regions of all ranks, one after the other.
  std::span<std::byte> regions() const {
    return {packets().data() + kPacketBytes,
            static_cast<std::size_t>(header().ranks * header().region_bytes)};
  }
  // The rank's process is gone: whoever waits for it goes on. By its supervisor, in any process.
  void mark_left(Rank rank);

 private:
  static constexpr std::size_t kSlotsOffset = 4096;
  static_assert(sizeof(GateHeader) <= kSlotsOffset);
  static std::uint64_t packets_offset(std::uint32_t ranks, std::uint64_t ni_bytes);

  GateMemory(int fd, std::byte* base, std::size_t bytes) : fd_(fd), base_(base), bytes_(bytes) {}

  int fd_;
  std::byte* base_;
  std::size_t bytes_;
};

// Gives control to the rank or to the simulator, and wakes it if it sleeps. What was written before
// is seen by who gets it.
void give_turn(GateSlot& slot, GateTurn to);
// Waits until the turn is the rank's (`mine` = rank) or no longer the rank's or outside (`mine` =
// simulator; left counts too), at most `sleep_max` (a length of real time). False: not yet.
[[nodiscard]] bool await_turn(GateSlot& slot, GateTurn mine, Ps sleep_max);

}  // namespace fairlead::fabric::model
