// The memory between the simulator and ranks that are processes of their own: one gate a rank,
// through which its library hands commands to its modelled network interface and control to the
// simulator; the NIs' words; the packets. One memfd; fixed-width fields and offsets only.
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
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/hw/host_cost.h"

namespace fairlead::fabric::model {

// What a rank asks of its ModelHostNi (host_ni.h), by the names there. Those from `alloc` on are
// answered: the rank hands control over; the others are queued until then.
enum class GateOp : std::uint32_t {
  write,               // a: bytes
  post,                // id, a: descriptor lines
  cancel,              // id
  release,             // id
  release_local,       // id
  return_host_buffer,  // id: the packet that stays
  alloc,               // a: payload bytes, b: reserve
  alloc_local,         // a: payload bytes
  image,               // id: the buffer, a: 1 for a detached one
  add_words,           // id: segment, a: count
  observe,             // nothing but the answer
  sync,
  compute,  // a: time in ps, b: watchdog in ps
  retire,
  block,           // a: deadline in ps; GateSlot::what
  block_for_more,  // the same
};

struct GateCommand {
  std::uint32_t op;  // GateOp
  std::uint32_t id;
  std::int64_t advance_ps;  // the host's own work before it
  std::uint64_t a;
  std::uint64_t b;
};
static_assert(sizeof(GateCommand) == 32);

// What came of the last command, and the host's view after it.
struct GateAnswer {
  std::uint32_t ok;
  std::uint32_t id;  // of a packet; of the first word
  std::int64_t now_ps;
  std::uint32_t ahead;  // ModelHostNi::ahead()
  std::uint32_t send_buffers;
  // What became visible, at most GateSlot's arrays full; the rest comes with the next answers.
  std::uint32_t received;
  std::uint32_t completed;
  std::uint32_t answered;
  std::uint32_t dismissed;  // 1: the simulator answers no more
  // Since when the oldest of `received` that is to be looked at was there; as of watchdogs.
  std::int64_t visible_since_ps;
};
static_assert(sizeof(GateAnswer) == 48);

// Who runs. A rank is outside until it joins and once it has left; in between it and the simulator
// take turns.
enum class GateTurn : std::uint32_t { outside, rank, simulator, left };

struct alignas(64) GateSlot {
  static constexpr std::uint32_t kCommands = 128;
  static constexpr std::uint32_t kVisible = 128;
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
  // --- The simulator's.
  GateAnswer answer;
  std::uint32_t received[kVisible];
  std::uint64_t completed[kVisible];
  HostAnswer answered[kVisible];
};
static_assert(std::is_standard_layout_v<GateSlot> &&
              std::atomic<std::uint32_t>::is_always_lock_free);

struct GateHeader {
  std::uint64_t magic;
  std::uint64_t total_bytes;
  std::uint64_t packets_offset;
  std::uint32_t ranks;
  std::uint32_t nodes;
  std::uint32_t send_buffers;
  std::uint32_t host_ring_batch;
  char platform[64];  // its name, NUL-terminated
  hw::HostRates rates;
};
static_assert(std::is_trivially_copyable_v<GateHeader>);

// The mapped memory; creator and ranks alike.
class GateMemory {
 public:
  // Sparse: what the packets in flight fill is what counts.
  static constexpr std::uint64_t kPacketBytes = std::uint64_t{8} << 30;

  // Error: what the kernel refused and why.
  static Result<std::unique_ptr<GateMemory>> create(std::uint32_t ranks, std::uint32_t nodes,
                                                    const hw::Platform& platform);
  // Maps what another process made; `fd` stays the caller's. Checks every number it reads.
  static Result<std::unique_ptr<GateMemory>> open(int fd);
  ~GateMemory();
  GateMemory(const GateMemory&) = delete;
  GateMemory& operator=(const GateMemory&) = delete;

  // The descriptor, owned by this object; -1 where it was opened.
  int fd() const { return fd_; }
  const GateHeader& header() const { return *reinterpret_cast<const GateHeader*>(base_); }
  GateSlot& slot(Rank rank) const {
    return reinterpret_cast<GateSlot*>(base_ + kSlotsOffset)[rank];
  }
  // NiHardware::kWords of every node.
  std::span<std::uint64_t> words() const;
  std::span<std::byte> packets() const {
    return {base_ + header().packets_offset,
            static_cast<std::size_t>(header().total_bytes - header().packets_offset)};
  }
  // The rank's process is gone: whoever waits for it goes on. By its supervisor, in any process.
  void mark_left(Rank rank);

 private:
  static constexpr std::size_t kSlotsOffset = 4096;
  static_assert(sizeof(GateHeader) <= kSlotsOffset);
  static std::uint64_t packets_offset(std::uint32_t ranks, std::uint32_t nodes);

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
