#include "fairlead/systems/mpi/devices/rsm/out_queue.h"

#include <algorithm>
#include <cstring>

#include "fairlead/lci/insist.h"

namespace fairlead::mpi::rsm {
namespace {

// Lines of one put.
constexpr std::uint64_t kLinesMax = 32;

}  // namespace

OutQueue::OutQueue(lci::Port& port, Rank to, lci::SegId segment, std::uint32_t boxes,
                   const std::atomic<std::uint64_t>& acknowledged)
    : port_(port),
      to_(to),
      segment_(segment),
      boxes_(boxes),
      lines_are_atomic_(port.caps(to).put_atomic_bytes >= kBoxBytes),
      raw_((port.caps(to).flags & lci::kRawPuts) != 0),
      copy_(std::make_unique_for_overwrite<Box[]>(boxes)),
      word_(acknowledged),
      lost_(port.path(to).lost) {}

void OutQueue::opened(std::uint64_t offset) {
  offset_ = offset;
  if (raw_ || (port_.caps(to_).flags & lci::kMappable) == 0) return;
  auto* const segment = static_cast<std::byte*>(port_.map(to_, segment_));
  if (segment != nullptr) mapped_ = segment + offset;
}

void OutQueue::look() {
  const std::uint64_t taken = word_.load(std::memory_order_acquire);
  if (taken < taken_ || taken > most_) {
    broken_ = true;
    return;
  }
  taken_ = taken;
}

std::uint32_t OutQueue::room() {
  look();
  if (broken_) return 0;
  if (kept_ && !again_ && put_again()) [[unlikely]]
    kept_ = false;
  return boxes_ - static_cast<std::uint32_t>(filled_ - (kept_ ? kept_from_ : taken_));
}

void OutQueue::fill(BoxKind kind, std::uint64_t count) {
  copy_[filled_ % boxes_].flag = {generation_of(filled_, boxes_), kind,
                                  static_cast<std::uint8_t>(count), 0};
  ++filled_;
}

// Each flag behind the rest of its line.
void OutQueue::store() {
  for (std::uint64_t i = pushed_; i < filled_; ++i) {
    const std::uint64_t slot = i % boxes_;
    const Box& box = copy_[slot];
    std::byte* const line = mapped_ + slot * kBoxBytes;
    std::memcpy(line + sizeof(Flag), box.body, sizeof box.body);
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(line))
        .store(word_of(box.flag), std::memory_order_release);
  }
  pushed_to(filled_);
}

Post OutQueue::push() {
  if (mapped_ != nullptr) {
    store();
    return Post::done;
  }
  if (raw_ && !mend()) return Post::again_credit;
  while (pushed_ < filled_) {
    const Post answer = lines_are_atomic_ ? push_lines() : push_batch();
    if (answer != Post::done) return answer;
  }
  return stale() ? Post::again_credit : Post::done;
}

// Goes back to what is not acknowledged, where the path has changed. False: not yet.
bool OutQueue::mend() {
  if (stale()) {
    lost_ = port_.path(to_).lost;
    again_ = true;
  }
  if (again_) {
    if (!over()) return false;
    look();
    again_ = false;
    kept_ = true;
    kept_from_ = taken_;
    repeated_ += most_ - taken_;
    pushed_ = begun_ = taken_;
  } else if (pushed_ < taken_) {
    pushed_ = begun_ = taken_;  // it was there after all
  }
  return true;
}

Post OutQueue::put(std::span<const lci::PutPiece> pieces, std::uint32_t flags) {
  if (!raw_) return port_.put({to_}, segment_, pieces, nullptr, lci::kNoCounter, flags);
  const Post answer =
      port_.put({to_}, segment_, pieces, &puts_, lci::kNoCounter, flags | lci::kRaw);
  if (accepted(answer)) ++put_;
  return answer;
}

void OutQueue::pushed_to(std::uint64_t end) {
  pushed_ = end;
  most_ = std::max(most_, end);
}

// A line shows at once: each is a put of its own, in whatever order they come.
Post OutQueue::push_lines() {
  lci::PutPiece pieces[kLinesMax];
  const std::uint64_t count = std::min(kLinesMax, filled_ - pushed_);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t slot = (pushed_ + i) % boxes_;
    pieces[i] = {offset_ + slot * kBoxBytes, &copy_[slot], kBoxBytes};
  }
  const Post answer = put({pieces, count}, lci::kNoFlags);
  if (!accepted(answer)) return answer;
  pushed_to(pushed_ + count);
  return Post::done;
}

// All but the first flag, then that one behind it: the receiver, which takes postboxes in order,
// looks at none of the others before. What is put again goes one by one, as the receiver may be
// anywhere there. A flag whose postbox may be lost is not put.
Post OutQueue::push_batch() {
  const std::uint64_t first = pushed_ % boxes_;
  if (begun_ == pushed_) {
    const std::uint64_t count = pushed_ < most_ ? 1 : filled_ - pushed_;
    const std::uint64_t until_end = std::min(count, boxes_ - first);
    const lci::PutPiece pieces[2] = {{offset_ + first * kBoxBytes + sizeof(Flag), copy_[first].body,
                                      until_end * kBoxBytes - sizeof(Flag)},
                                     {offset_, copy_.get(), (count - until_end) * kBoxBytes}};
    const Post answer = put({pieces, count == until_end ? 1u : 2u}, lci::kNoFlags);
    if (!accepted(answer)) return answer;
    begun_ = pushed_ + count;
  }
  if (raw_ && (stale() || !over())) return Post::again_credit;
  const lci::PutPiece flag{offset_ + first * kBoxBytes, &copy_[first].flag, sizeof(Flag)};
  const Post answer = put({&flag, 1}, lci::kAfter);
  if (!accepted(answer)) return answer;
  pushed_to(begun_);
  return Post::done;
}

}  // namespace fairlead::mpi::rsm
