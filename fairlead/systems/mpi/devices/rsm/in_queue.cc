#include "fairlead/systems/mpi/devices/rsm/in_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi::rsm {

InQueue::InQueue(const std::byte* queue, std::uint32_t boxes, const std::byte* pool,
                 std::uint64_t pool_bytes, std::uint64_t eager_max)
    : queue_(queue), boxes_(boxes), pool_(pool), pool_bytes_(pool_bytes), eager_max_(eager_max) {}

const std::atomic<std::uint64_t>& InQueue::word() const {
  return *reinterpret_cast<const std::atomic<std::uint64_t>*>(queue_ + taken_ % boxes_ * kBoxBytes);
}

InQueue::Look InQueue::refuse(std::string why) {
  why_ = fmt::format("postbox {} says {}", taken_, why);
  return Look::broken;
}

InQueue::Look InQueue::take(Taken& taken) {
  if (!why_.empty()) return Look::broken;
  seen_ = word().load(std::memory_order_acquire);
  const Flag flag = flag_of(seen_);
  const auto expected = generation_of(taken_, static_cast<std::uint32_t>(boxes_));
  waits_ = flag.generation == expected - 1;
  if (waits_) return Look::none;
  if (flag.generation != expected) {
    return refuse(fmt::format("it is filled for the time {} of {}", flag.generation, expected));
  }
  const std::byte* const line = queue_ + taken_ % boxes_ * kBoxBytes;
  std::memcpy(box_.body, line + sizeof(Flag), sizeof box_.body);
  const bool begins = flag.kind == BoxKind::head || flag.kind == BoxKind::head_blocks;
  const bool by_blocks = flag.kind == BoxKind::head_blocks || flag.kind == BoxKind::more_blocks;
  if (!begins && !by_blocks && flag.kind != BoxKind::more) {
    return refuse(fmt::format("its kind is {}", static_cast<unsigned>(flag.kind)));
  }
  if (begins == in_message()) {
    return refuse(begins ? fmt::format("a message begins where {} bytes are missing", left_)
                         : std::string("a message goes on that has not begun"));
  }
  taken.begins = begins;
  taken.at = box_.body;
  taken.blocks = 0;
  if (begins) {
    std::memcpy(&taken.head, box_.body, sizeof taken.head);
    if (!fits(taken.head)) {
      return refuse(fmt::format("kind {} and {} bytes of a message",
                                taken.head.words[0] >> kContextBits, taken.head.size));
    }
    taken.at += sizeof taken.head;
    left_ = kind_of(taken.head.words[0]) == Kind::offer ? 0 : taken.head.size;
  }
  const std::uint64_t most = begins ? kHeadBytes : kMoreBytes;
  if (by_blocks) {
    if (!list_blocks(taken.at, flag.count, taken)) return Look::broken;
  } else {
    taken.bytes = std::min(left_, most);
    if (flag.count != taken.bytes) {
      return refuse(fmt::format("{} bytes where {} are to come", unsigned{flag.count}, left_));
    }
  }
  left_ -= taken.bytes;
  ++taken_;
  return Look::taken;
}

bool InQueue::fits(const Head& head) const {
  switch (kind_of(head.words[0])) {
    case Kind::eager:
      return head.size <= eager_max_;
    case Kind::offer:
      return true;
    case Kind::data:
      return head.size > 0;
    default:
      return false;
  }
}

bool InQueue::list_blocks(const std::byte* numbers, std::uint64_t count, Taken& taken) {
  const std::uint64_t most = taken.begins ? kHeadBlocks : kMoreBlocks;
  taken.bytes = std::min(left_, count * kBlockBytes);
  if (count == 0 || count > most || (count - 1) * kBlockBytes >= taken.bytes) {
    refuse(fmt::format("{} blocks where {} bytes are to come", count, left_));
    return false;
  }
  taken.blocks = count;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint16_t number;
    std::memcpy(&number, numbers + i * sizeof number, sizeof number);
    const std::uint64_t bytes = std::min(kBlockBytes, taken.bytes - i * kBlockBytes);
    taken.block[i] = number * kSmallBlockBytes;
    if (taken.block[i] > pool_bytes_ || bytes > pool_bytes_ - taken.block[i]) {
      refuse(fmt::format("block {} of a pool of {} bytes", number, pool_bytes_));
      return false;
    }
  }
  return true;
}

}  // namespace fairlead::mpi::rsm
