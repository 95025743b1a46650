// The host-NI interface of real ranks, as it lies in shared memory: at the end of each rank's
// region (ShmJob) stand its queues to the NI engine of its node, its packet buffers and its NI
// words. Fixed-width fields, indices and offsets only.
//
//   rank    descriptors: "send this buffer"      offers: "here is an empty receive buffer"
//   engine  taken (their buffers are free)       receives: "it is full", answers to fetch-and-adds
//
// Indices count up for ever; an entry lies at index modulo capacity. Who writes an index publishes
// what lies before it. The engine believes nothing: of an index the distance to its own, of an
// entry its range, and what it uses it has copied before. A rank may be gone at any moment.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "fairlead/base/counters.h"
#include "fairlead/base/node_map.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/shm/job.h"

namespace fairlead::fabric::engine {

constexpr std::uint32_t kSendBuffers = 64;
// Entries a rank may have posted: of multicasts several name one buffer.
constexpr std::uint32_t kDescriptors = 256;
// The engine fills at most so many for a rank that does not look; as many again a client may keep.
constexpr std::uint32_t kReceiveBuffers = 512;
constexpr std::uint32_t kReceiveSlots = 1024;
constexpr std::uint32_t kAnswers = 256;
constexpr std::uint32_t kWords = 8192;
constexpr std::uint32_t kWordSegments = 256;
// The largest payload: a page of the client's data and what lci puts before it.
constexpr std::uint32_t kPayloadMax = 8192 + 32;
// Not a power of two: buffers then start in different sets of the cache.
constexpr std::uint32_t kSlotBytes = (sizeof(NiPacket) + kPayloadMax + 63) / 64 * 64 + 64;
// Destination of a packet for every rank.
constexpr Rank kEveryRank = UINT32_MAX;

struct Descriptor {
  std::uint32_t buffer;
  Rank to;  // kEveryRank: group 0, forwarded from NI to NI
};

struct WordSegment {
  std::uint32_t segment;
  std::uint32_t first;
  std::uint32_t count;
};

struct alignas(64) RankQueues {
  // --- Written by the rank.
  alignas(64) std::atomic<std::uint32_t> posted;
  std::atomic<std::uint32_t> offered;
  std::atomic<std::uint32_t> received_taken;
  std::atomic<std::uint32_t> answers_taken;
  std::atomic<std::uint32_t> word_segments;
  // --- Written by the engine.
  alignas(64) std::atomic<std::uint32_t> posted_taken;
  std::atomic<std::uint32_t> received;
  std::atomic<std::uint32_t> answered;
  // Moves when the engine changed this rank's memory: a rank may wait for a word of it.
  std::atomic<std::uint32_t> touched;

  alignas(64) Descriptor descriptors[kDescriptors];
  std::uint32_t offers[kReceiveSlots];
  std::uint32_t receives[kReceiveSlots];
  HostAnswer answers[kAnswers];
  WordSegment segments[kWordSegments];
  std::uint64_t words[kWords];  // with the processor's atomics, by rank and engine
};
static_assert(std::is_standard_layout_v<RankQueues>);

enum class EngineState : std::uint32_t { absent, ready, gone };

// What an engine tells the ranks of its node; in the part of its first rank.
struct alignas(64) EngineStatus {
  static constexpr std::size_t kReasonBytes = 256;
  static constexpr std::size_t kPathNodes = 4096;  // of the nodes behind these no paths are told

  std::atomic<std::uint32_t> state;  // EngineState
  std::atomic<std::uint32_t> payload_bytes;
  std::atomic<std::uint32_t> sleeping;  // 1: ring its bell after posting
  std::atomic<std::uint32_t> pid;       // its process, where its ranks watch it; else 0
  std::atomic<std::uint32_t> rails;     // networks that lead to other engines
  alignas(64) PortCounters counters;    // its own; the ranks have theirs
  char reason[kReasonBytes];            // why it is gone; NUL-terminated
  // How often a network to that node was lost or came back, in turn: odd while it is lost.
  std::atomic<std::uint32_t> paths[kPathNodes];
  std::atomic<std::uint32_t> path_changes;  // moves after any of them
};
static_assert(std::is_standard_layout_v<EngineStatus> &&
              std::atomic<std::uint32_t>::is_always_lock_free);

// One rank's part of the memory, typed. Indices are the caller's, checked by it.
class QueueArea {
 public:
  // What the queues take at the region's end; the part before them is lci's.
  static constexpr std::uint64_t kBytes =
      (sizeof(EngineStatus) + sizeof(RankQueues) +
       std::uint64_t{kSendBuffers + kReceiveSlots} * kSlotBytes + 4095) /
      4096 * 4096;

  // `region` is larger than kBytes.
  explicit QueueArea(std::span<std::byte> region)
      : rest_(region.first(region.size() - kBytes)), base_(rest_.data() + rest_.size()) {}

  EngineStatus& status() const { return *reinterpret_cast<EngineStatus*>(base_); }
  RankQueues& queues() const {
    return *reinterpret_cast<RankQueues*>(base_ + sizeof(EngineStatus));
  }
  // Send buffers, and behind them receive slots.
  NiPacket& slot(std::uint32_t index) const {
    return *reinterpret_cast<NiPacket*>(base_ + sizeof(EngineStatus) + sizeof(RankQueues) +
                                        std::size_t{index} * kSlotBytes);
  }
  std::span<std::byte> rest() const { return rest_; }

 private:
  std::span<std::byte> rest_;
  std::byte* base_;
};

QueueArea queue_area(const ShmJob& job, Rank rank);

// The engine of `node` is gone: its ranks' calls say so. By whoever watches it.
void mark_engine_gone(ShmJob& job, const NodeMap& nodes, Peer node);

}  // namespace fairlead::fabric::engine
