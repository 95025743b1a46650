// Where everything lies in the memory of a job. All structs are fixed-width and all offsets follow
// from the few numbers in the header, which attach validates: nothing read from the shared memory
// is used as an address.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fairlead/base/counters.h"
#include "fairlead/base/result.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/fabric/shm/doorbell.h"

namespace fairlead::fabric {

constexpr std::uint32_t kShmRanksMax = 4096;
constexpr std::uint32_t kShmRingSlots = 128;
// The buffers of one sender, a bit of ShmPoolLine::returned each.
constexpr std::uint32_t kShmBuffers = 64;
// A packet of 8 KiB and what lci, hrx and faulty put before it. Not a power of two: buffers then
// start in different sets of the cache.
constexpr std::uint32_t kShmBufferBytes = 8192 + 128;
// In a slot, and with what a second one carries.
constexpr std::uint32_t kShmSlotBytes = 32;
constexpr std::uint32_t kShmTailBytes = 56;
constexpr std::uint32_t kShmInlineBytes = kShmSlotBytes + kShmTailBytes;
constexpr std::uint64_t kShmMagic = 0x6661'6972'6c65'6164;  // "fairlead"
constexpr std::uint32_t kShmVersion = 5;
constexpr std::uint64_t kShmPage = 4096;

// left: its program has ended in order.
enum class ShmRankState : std::uint32_t { absent, attached, dead, left };

struct ShmRankStatus {
  std::atomic<std::uint32_t> state;  // ShmRankState
  std::atomic<std::uint32_t> pid;
  std::uint32_t node;  // NI engine that serves it, or its host; the maker's
  // On its host: the process whose descendants may read each other's memory. 0: the job's maker.
  std::uint32_t root_pid;
};
static_assert(sizeof(ShmRankStatus) == 16);

struct ShmJobHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t ranks;
  std::uint64_t nonce;
  std::uint64_t region_bytes;
  std::uint64_t total_bytes;
  std::int64_t epoch_ns;  // CLOCK_MONOTONIC
  // 1: the kernel has no membarrier for us, so senders fence between slot and hot word.
  std::uint32_t fences;
  std::uint32_t creator_pid;  // whose descendants may read each other's memory
  // 1: hosts that have only this memory in common map it, and ShmRankStatus::node says which rank
  // is where. What a kernel does (futex, membarrier, processes' ids) ends with a host.
  std::uint32_t hosts;
  // Read by everybody on the slow path, written when a rank dies: a line of its own.
  alignas(64) std::atomic<std::uint32_t> deaths;
  // ShmRankStatus[ranks] follows.
};
static_assert(sizeof(ShmJobHeader) == 128);

// One message of up to 32 bytes is one cache line: flag, route, words and payload. The flag, size
// and stamp, is written last. The stamp is (lap << 1) | in_buffer, where lap counts the ring's
// rounds from 1, so that slots need no clearing. With in_buffer the payload is in the sender's
// pool, buffer number in `payload`. Inline messages of more than 32 bytes take two slots, the
// second a tail, which are the two lines of a pair that caches fetch together
// (docs/performance-diary.md): a slot in between is skipped. Every slot's flag is written in each
// lap.
struct alignas(64) ShmSlot {
  std::atomic<std::uint64_t> flag;
  std::uint64_t route;
  std::uint32_t words[4];
  std::byte payload[kShmSlotBytes];
};
struct alignas(64) ShmTail {
  std::atomic<std::uint64_t> flag;
  std::byte payload[kShmTailBytes];
};
static_assert(sizeof(ShmSlot) == 64 && sizeof(ShmTail) == 64);

constexpr std::uint64_t shm_flag(std::uint32_t size, std::uint32_t stamp) {
  return size | std::uint64_t{stamp} << 32;
}
// The stamp of a position, which counts slots modulo 2^32 from the ring's first in its first lap. A
// stamp differs from the former one of its slot, and from that of an empty one, also when they
// wrap.
constexpr std::uint32_t shm_stamp(std::uint32_t position) {
  return (position / kShmRingSlots + 1) << 1;
}
constexpr std::uint32_t kShmInBuffer = 1;
// In place of a size: no message, the next slot has one.
constexpr std::uint32_t kShmSkipped = ~std::uint32_t{0};
// Whether more than a slot holds is said to be inline; also of kShmSkipped.
constexpr bool shm_tailed(std::uint64_t flag) {
  return (flag & std::uint64_t{kShmInBuffer} << 32) == 0 &&
         static_cast<std::uint32_t>(flag) > kShmSlotBytes;
}
// Rings start on a page.
inline bool shm_first_of_pair(const ShmSlot* slot) {
  return (reinterpret_cast<std::uintptr_t>(slot) & sizeof(ShmSlot)) == 0;
}
// Whether so much can be inline there.
inline bool shm_holds(const ShmSlot& slot, std::size_t size) {
  return size <= kShmSlotBytes || (size <= kShmInlineBytes && shm_first_of_pair(&slot));
}
inline ShmTail& shm_tail(ShmSlot& slot) { return *reinterpret_cast<ShmTail*>(&slot + 1); }
inline const ShmTail& shm_tail(const ShmSlot& slot) {
  return *reinterpret_cast<const ShmTail*>(&slot + 1);
}
// Position at which the ring of (sender, lane) starts: spreads the rings of one receiver over the
// sets of its cache, as all rings begin on a page.
constexpr std::uint32_t shm_ring_start(std::uint32_t sender, std::uint32_t lane) {
  return (sender * 5 + lane * 21) % kShmRingSlots;
}

constexpr std::uint64_t kShmRingBytes = kShmRingSlots * sizeof(ShmSlot);

// Where one side of a ring is, in memory of its own.
struct ShmCursor {
  ShmSlot* slots = nullptr;
  std::uint32_t position = 0;  // of the next message
  std::uint32_t start = 0;     // where it began

  ShmSlot& slot(std::uint32_t ahead = 0) const { return slots[(position + ahead) % kShmRingSlots]; }
  std::uint32_t stamp() const { return shm_stamp(position); }
  // Slots behind it, modulo 2^32: how positions are told to the other side.
  std::uint32_t passed() const { return position - start; }
};

static_assert(kShmRingBytes % kShmPage == 0);

// What a receiver tells one sender, per lane; in the sender's region, written by the receiver only.
// Two lines: the sender reads `head` when it knows of no free slot, and `hot` with every message.
struct ShmLaneLines {
  // Slots consumed, modulo 2^32, told in batches; 0 at the ring's start.
  alignas(64) std::atomic<std::uint32_t> head;
  // 1: the receiver polls this ring; 0: set its attention bit.
  alignas(64) std::atomic<std::uint32_t> hot;
};
struct ShmPairLines {
  ShmLaneLines lane[kLanes];
};

// Buffers of this sender that receivers gave back, and those they keep. Bit i: buffer i.
struct alignas(64) ShmPoolLine {
  std::atomic<std::uint64_t> returned;
  std::atomic<std::uint64_t> kept;
};

// Where a rank can be reached by other ways than this memory: the fabric's own bytes.
struct alignas(64) ShmCard {
  static constexpr std::size_t kBytesMax = 60;
  std::atomic<std::uint32_t> size;  // written last; 0: none yet
  std::byte bytes[kBytesMax];
};
static_assert(sizeof(ShmCard) == 64);

// A rank's part begins with this page; then the attention bitmaps, the pair lines (one per
// receiver), the rings (one per lane and sender), the pool, and the region lci lays out.
struct ShmRankControl {
  ShmDoorbell doorbell;
  ShmPoolLine pool;
  ShmCard card;
  alignas(64) PortCounters counters;
};
static_assert(sizeof(ShmRankControl) <= kShmPage);

// Offsets in bytes, all page-aligned except attention (64).
struct ShmLayout {
  std::uint32_t ranks = 0;
  std::uint64_t region_bytes = 0;
  std::uint64_t first_rank = 0;  // offset of rank 0's part
  std::uint64_t rank_stride = 0;
  std::uint64_t attention = 0;  // within a rank's part; kLanes bitmaps of attention_words words
  std::uint64_t attention_words = 0;
  std::uint64_t pairs = 0;
  std::uint64_t rings = 0;
  std::uint64_t pool = 0;
  std::uint64_t region = 0;
  std::uint64_t total_bytes = 0;

  std::uint64_t rank(std::uint32_t r) const { return first_rank + r * rank_stride; }
  std::uint64_t ring(std::uint32_t receiver, std::uint32_t sender, std::uint32_t lane) const {
    return rank(receiver) + rings + (std::uint64_t{sender} * kLanes + lane) * kShmRingBytes;
  }
};

// Error: a number out of range, named.
Result<ShmLayout> shm_layout(std::uint64_t ranks, std::uint64_t region_bytes);

}  // namespace fairlead::fabric
