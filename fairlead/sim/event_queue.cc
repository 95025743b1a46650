#include "fairlead/sim/event_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairlead::sim {
namespace {
constexpr std::size_t kInsertionSortMax = 16;
constexpr std::size_t kFirstCapacity = 256;
}  // namespace

EventQueue::EventQueue(std::size_t max_pending, unsigned width_bits)
    : width_bits_(width_bits),
      max_pending_(max_pending),
      buckets_(std::make_unique<Bucket[]>(kBuckets)) {
  FAIRLEAD_CHECK(width_bits >= kLeastWidthBits && width_bits <= kMostWidthBits, "2^{} ps",
                 width_bits);
  grow_sorted(kFirstCapacity);
}

EventQueue::~EventQueue() = default;

void EventQueue::push_to_current(const Event& event) {
  std::size_t hole = sorted_size_;
  const std::size_t lowest = hole > kMaxShift ? hole - kMaxShift : 0;
  while (hole > lowest && before(sorted_[hole - 1], event)) --hole;
  if (hole == lowest && hole > 0 && before(sorted_[hole - 1], event)) {
    check_bound();
    late_.push(event);
    return;
  }
  if (sorted_size_ == sorted_capacity_) grow_sorted(sorted_size_ + 1);
  std::copy_backward(&sorted_[hole], &sorted_[sorted_size_], &sorted_[sorted_size_ + 1]);
  sorted_[hole] = event;
  ++sorted_size_;
}

// Into the current bucket, `ahead` being at most 0, or past the horizon.
void EventQueue::push_elsewhere(std::int64_t ahead, Ps at, EventKey key, Handler run, void* context,
                                std::uint64_t a, std::uint64_t b) {
  const Event event{at, key, run, context, a, b};
  if (ahead <= 0) return push_to_current(event);
  check_bound();
  far_.push(event);
}

// Absolute number of the first occupied bucket after the current one, INT64_MAX if none.
std::int64_t EventQueue::next_in_wheel() const {
  const std::size_t start = static_cast<std::size_t>(current_ + 1) & kMask;
  const auto absolute = [&](std::size_t word, std::uint64_t bits) {
    const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    return current_ + 1 + static_cast<std::int64_t>((slot - start) & kMask);
  };
  const std::size_t first_word = start / 64;
  if (const std::uint64_t bits = occupied_[first_word] & (~std::uint64_t{0} << (start % 64))) {
    return absolute(first_word, bits);
  }
  // The summary is walked once round; the last step meets the first word's lower bits again.
  const std::size_t after = (first_word + 1) % kWords;
  std::uint64_t mask = ~std::uint64_t{0} << (after % 64);
  for (std::size_t step = 0; step <= summary_.size(); ++step) {
    const std::size_t group = (after / 64 + step) % summary_.size();
    if (const std::uint64_t words = summary_[group] & mask) {
      const std::size_t word = group * 64 + static_cast<std::size_t>(std::countr_zero(words));
      return absolute(word, occupied_[word]);
    }
    mask = ~std::uint64_t{0};
  }
  return INT64_MAX;
}

Ps EventQueue::next_bucket_start() const {
  const std::int64_t in_wheel = next_in_wheel();
  const Ps wheel = in_wheel == INT64_MAX ? kNever : Ps{in_wheel << width_bits_};
  return far_.empty() ? wheel : std::min(wheel, far_.top().at);
}

// Opens the next bucket; the current one and late_ are empty, the queue is not.
void EventQueue::next_bucket() {
  const std::int64_t in_wheel = next_in_wheel();
  const std::int64_t in_far = far_.empty() ? INT64_MAX : far_.top().at.count >> width_bits_;
  FAIRLEAD_DCHECK(std::min(in_wheel, in_far) != INT64_MAX, "size {}", size_);
  current_ = std::min(in_wheel, in_far);
  fetched_ = nullptr;
  if (in_wheel == current_) drain(static_cast<std::size_t>(current_) & kMask);
  while (!far_.empty() && far_.top().at.count >> width_bits_ == current_) {
    if (sorted_size_ == sorted_capacity_) grow_sorted(sorted_size_ + 1);
    sorted_[sorted_size_++] = far_.pop();
  }
  sort_current();
  fresh_ = true;
}

void EventQueue::fetch_next_bucket() {
  const std::int64_t next = next_in_wheel();
  fetched_ = next != INT64_MAX ? buckets_[static_cast<std::size_t>(next) & kMask].first : nullptr;
  if (fetched_ != nullptr) prefetch(fetched_, sizeof(Chunk));
}

void EventQueue::drain(std::size_t slot) {
  auto [chunk, used] = std::exchange(buckets_[slot], {});
  occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  if (occupied_[slot / 64] == 0) {
    summary_[slot / 4096] &= ~(std::uint64_t{1} << (slot / 64 % 64));
  }
  for (; chunk != nullptr; chunk = chunk->next, used = kChunkEvents) {
    if (sorted_size_ + kChunkEvents > sorted_capacity_) grow_sorted(sorted_size_ + kChunkEvents);
    std::copy_n(chunk->events.data(), used, &sorted_[sorted_size_]);
    sorted_size_ += used;
    free_.push_back(chunk);
  }
}

void EventQueue::sort_current() {
  Event* const events = sorted_.get();
  const auto after = [](const Event& a, const Event& b) { return before(b, a); };
  if (sorted_size_ > kInsertionSortMax) {
    std::sort(events, events + sorted_size_, after);
    return;
  }
  for (std::size_t i = 1; i < sorted_size_; ++i) {
    const Event moved = events[i];
    std::size_t hole = i;
    for (; hole > 0 && before(events[hole - 1], moved); --hole) events[hole] = events[hole - 1];
    events[hole] = moved;
  }
}

void EventQueue::grow_chunks() {
  check_bound();
  auto slab = std::make_unique_for_overwrite<Chunk[]>(kSlabChunks);
  free_.reserve((slabs_.size() + 1) * kSlabChunks);
  for (std::size_t i = kSlabChunks; i > 0; --i) free_.push_back(&slab[i - 1]);
  slabs_.push_back(std::move(slab));
}

void EventQueue::grow_sorted(std::size_t least) {
  check_bound();
  const std::size_t capacity = std::max(least, sorted_capacity_ * 2);
  auto larger = std::make_unique_for_overwrite<Event[]>(capacity);
  std::copy_n(sorted_.get(), sorted_size_, larger.get());
  sorted_ = std::move(larger);
  sorted_capacity_ = capacity;
}

// Called where memory grows, so that the common push does not pay for it.
void EventQueue::check_bound() const {
  FAIRLEAD_CHECK(size_ <= max_pending_,
                 "{} pending events: a modelled device schedules without end", size_);
}

}  // namespace fairlead::sim
