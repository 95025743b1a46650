// The pending events of one simulation, in the total order (time, source node, sequence).
//
// Two-tier wheel: 2^14 unsorted buckets with an occupancy bitmap; the bucket being drained is a
// sorted array; what lies past the horizon waits in a heap. A bucket is best so wide that it has
// one event or a few: where most have none, each event pays for opening its own, at a place that
// time has not passed for long and that is in no cache. The width does not change the order.
// event_queue_bench, 4,096 ps (a horizon of 67 us): 64 million pop+push a second at 1 k pending, 39
// at 64 k, 14 at 1 M, against 17 / 9 / 3 of a heap.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/prefetch.h"
#include "fairlead/sim/event.h"
#include "fairlead/sim/event_heap.h"

namespace fairlead::sim {

class EventQueue {
 public:
  // The bound on pending events (48 to 256 bytes each); growing past it is a failed check.
  static constexpr std::size_t kDefaultMaxPending = std::size_t{1} << 26;

  // A bucket is 2^width_bits ps wide: 4,096 to 65,536 ps.
  static constexpr unsigned kLeastWidthBits = 12;
  static constexpr unsigned kMostWidthBits = 16;

  explicit EventQueue(std::size_t max_pending = kDefaultMaxPending,
                      unsigned width_bits = kLeastWidthBits);
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue();

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // Any time from 0 up, also one before events already taken out.
  void push(const Event& event) {
    ++size_;
    const std::int64_t bucket = event.at.count >> width_bits_;
    const std::int64_t ahead = bucket - current_;
    if (ahead > 0 && ahead < kBuckets) [[likely]] {
      push_to_wheel(static_cast<std::size_t>(bucket) & kMask, event);
    } else {
      // In parts, so that an event made for the call above is never in memory but where it belongs:
      // a copy from the stack would wait for the stores before it, and those for memory.
      push_elsewhere(ahead, event.at, event.key, event.run, event.context, event.a, event.b);
    }
  }

  // The first event; the queue is not empty. Valid until the next call.
  const Event& top() {
    if (sorted_size_ == 0 && late_.empty()) next_bucket();
    return late_is_first() ? late_.top() : sorted_[sorted_size_ - 1];
  }

  // Takes out the first event; the queue is not empty.
  Event pop() {
    if (sorted_size_ == 0 && late_.empty()) next_bucket();
    --size_;
    if (late_is_first()) [[unlikely]]
      return late_.pop();
    return sorted_[--sorted_size_];
  }

  // For who looks ahead. True: a new bucket was opened since the last call, here or on the way.
  // The queue is not empty.
  bool open() {
    if (sorted_size_ == 0 && late_.empty()) next_bucket();
    if (!fresh_) return false;
    fresh_ = false;
    fetch_next_bucket();
    return true;
  }
  // Brings the bucket after the current one into the cache, a part with each call: to be called
  // once an event, where so many are pending that they lie elsewhere. open() begins anew.
  void fetch_on() {
    if (fetched_ == nullptr) return;
    fetched_ = fetched_->next;
    if (fetched_ != nullptr) prefetch(fetched_, sizeof(Chunk));
  }
  // The event after `before` others, or nullptr where that is not yet known: what comes next unless
  // something earlier is pushed.
  const Event* ahead(std::size_t before) const {
    return before < sorted_size_ ? &sorted_[sorted_size_ - 1 - before] : nullptr;
  }

  // Whether an event of this time and key would be the first of all. Answers without opening the
  // next bucket where that bucket's start tells.
  bool would_be_first(Ps at, EventKey key) {
    if (size_ == 0) return true;
    if (sorted_size_ == 0 && late_.empty() && at < next_bucket_start()) return true;
    const Event& first = top();
    return before(at, key, first.at, first.key);
  }

 private:
  static constexpr std::int64_t kBuckets = std::int64_t{1} << 14;
  static constexpr std::size_t kMask = static_cast<std::size_t>(kBuckets) - 1;
  static constexpr std::size_t kWords = static_cast<std::size_t>(kBuckets) / 64;
  // Past this many moves an insertion into the current bucket goes to a heap instead, so that a
  // burst at one instant costs n log n and not n^2.
  static constexpr std::size_t kMaxShift = 24;
  static constexpr std::uint32_t kChunkEvents = 5;
  static constexpr std::size_t kSlabChunks = 256;

  // A bucket is a list of chunks; only the first may be part full. What a push reads lies apart
  // from the chunks, which it only writes: with many events pending those are out of the cache.
  struct alignas(64) Chunk {
    std::array<Event, kChunkEvents> events;
    Chunk* next;
  };
  static_assert(sizeof(Chunk) == 256);
  struct Bucket {
    Chunk* first = nullptr;
    std::uint32_t used = kChunkEvents;  // of the first
  };

  bool late_is_first() const {
    if (late_.empty()) [[likely]]
      return false;
    return sorted_size_ == 0 || before(late_.top(), sorted_[sorted_size_ - 1]);
  }

  void push_to_wheel(std::size_t slot, const Event& event) {
    Bucket& bucket = buckets_[slot];
    if (bucket.used == kChunkEvents) {
      Chunk* const fresh = take_chunk();
      fresh->next = bucket.first;
      if (bucket.first == nullptr) {
        occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
        summary_[slot / 4096] |= std::uint64_t{1} << (slot / 64 % 64);
      }
      bucket = {fresh, 0};
    }
    bucket.first->events[bucket.used++] = {event.at,      event.key, event.run,
                                           event.context, event.a,   event.b};
  }

  Chunk* take_chunk() {
    if (free_.empty()) [[unlikely]]
      grow_chunks();
    Chunk* const taken = free_.back();
    free_.pop_back();
    return taken;
  }

  [[gnu::noinline]] void push_elsewhere(std::int64_t ahead, Ps at, EventKey key, Handler run,
                                        void* context, std::uint64_t a, std::uint64_t b);
  void push_to_current(const Event& event);
  void next_bucket();
  void fetch_next_bucket();
  void drain(std::size_t slot);
  void sort_current();
  void grow_chunks();
  void grow_sorted(std::size_t least);
  void check_bound() const;
  std::int64_t next_in_wheel() const;
  Ps next_bucket_start() const;

  std::size_t size_ = 0;
  unsigned width_bits_;
  std::int64_t current_ = -1;        // absolute number of the bucket being drained
  std::unique_ptr<Event[]> sorted_;  // descending, so that the first event is the last element
  std::size_t sorted_size_ = 0;
  bool fresh_ = false;  // nobody has looked ahead in it
  std::size_t sorted_capacity_ = 0;
  const Chunk* fetched_ = nullptr;  // the last one that fetch_on() has asked for
  std::vector<Chunk*> free_;        // with room for all
  EventHeap late_;                  // pushed into the current bucket where shifting would be dear
  EventHeap far_;
  std::size_t max_pending_;
  std::array<std::uint64_t, kWords / 64> summary_{};
  std::array<std::uint64_t, kWords> occupied_{};
  std::unique_ptr<Bucket[]> buckets_;
  std::vector<std::unique_ptr<Chunk[]>> slabs_;
};

}  // namespace fairlead::sim
