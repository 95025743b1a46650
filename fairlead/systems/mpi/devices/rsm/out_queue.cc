#include "fairlead/systems/mpi/devices/rsm/out_queue.h"

#include <algorithm>

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
      copy_(std::make_unique<Box[]>(boxes)),
      word_(acknowledged) {}

std::uint32_t OutQueue::room() {
  const std::uint64_t taken = word_.load(std::memory_order_acquire);
  if (taken < taken_ || taken > pushed_) {
    broken_ = true;
    return 0;
  }
  taken_ = taken;
  return boxes_ - static_cast<std::uint32_t>(filled_ - taken_);
}

void OutQueue::fill(BoxKind kind, std::uint64_t count) {
  next().flag = {generation_of(filled_, boxes_), kind, static_cast<std::uint8_t>(count), 0};
  ++filled_;
}

Post OutQueue::push() {
  while (pushed_ < filled_) {
    const Post answer = lines_are_atomic_ ? push_lines() : push_batch();
    if (answer != Post::done) return answer;
  }
  return Post::done;
}

// A line shows at once: each is a put of its own, in whatever order they come.
Post OutQueue::push_lines() {
  lci::PutPiece pieces[kLinesMax];
  const std::uint64_t count = std::min(kLinesMax, filled_ - pushed_);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t slot = (pushed_ + i) % boxes_;
    pieces[i] = {slot * kBoxBytes, &copy_[slot], kBoxBytes};
  }
  const Post answer =
      port_.put({to_}, segment_, {pieces, count}, nullptr, lci::kNoCounter, lci::kNoFlags);
  if (!accepted(answer)) return answer;
  pushed_ += count;
  return Post::done;
}

// All but the first flag, then that one behind it: the receiver, which takes postboxes in order,
// looks at none of the others before.
Post OutQueue::push_batch() {
  const std::uint64_t first = pushed_ % boxes_;
  if (begun_ == pushed_) {
    const std::uint64_t count = filled_ - pushed_;
    const std::uint64_t until_end = std::min(count, boxes_ - first);
    const lci::PutPiece pieces[2] = {
        {first * kBoxBytes + sizeof(Flag), copy_[first].body, until_end * kBoxBytes - sizeof(Flag)},
        {0, copy_.get(), (count - until_end) * kBoxBytes}};
    const Post answer = port_.put({to_}, segment_, {pieces, count == until_end ? 1u : 2u}, nullptr,
                                  lci::kNoCounter, lci::kNoFlags);
    if (!accepted(answer)) return answer;
    begun_ = filled_;
  }
  const lci::PutPiece flag{first * kBoxBytes, &copy_[first].flag, sizeof(Flag)};
  const Post answer = port_.put({to_}, segment_, {&flag, 1}, nullptr, lci::kNoCounter, lci::kAfter);
  if (!accepted(answer)) return answer;
  pushed_ = begun_;
  return Post::done;
}

}  // namespace fairlead::mpi::rsm
