#include "fairlead/systems/elan/meeting_board.h"

#include <fmt/format.h>

#include <cstring>

#include "fairlead/lci/port.h"
#include "fairlead/systems/elan/call_wait.h"
#include "fairlead/systems/elan/errors.h"

namespace fairlead::elan {
namespace {

// The fields of a slot's `came`.
constexpr unsigned kNumberShift = 24;
constexpr unsigned kSizeShift = 8;

const char* name_of(std::uint64_t came) {
  switch (static_cast<MeetingBoard::Kind>(came & 0xff)) {
    case MeetingBoard::Kind::barrier:
      return "a barrier";
    case MeetingBoard::Kind::broadcast:
      return "a broadcast";
    default:
      return "a reduction";
  }
}
std::uint64_t bytes_of(std::uint64_t came) { return (came >> kSizeShift) & 0xffff; }

}  // namespace

bool MeetingBoard::possible(const lci::Port& port) {
  if (port.size() < 2 || port.size() > kProcessesMax) return false;
  for (Rank rank = 0; rank < port.size(); ++rank) {
    if ((port.caps(rank).flags & lci::kMappable) == 0) return false;
  }
  return true;
}

void MeetingBoard::come(Kind kind, const void* data, std::size_t n, const char* call) {
  // Nobody reads what lies in this half any more.
  if (!all_came_) await_all(call);
  Slot& mine = half(meetings_++)[context_.port().self()];
  own_ = meetings_ << kNumberShift | n << kSizeShift | static_cast<std::uint64_t>(kind);
  all_came_ = false;
  if (data != nullptr && n != 0) std::memcpy(mine.data, data, n);
  mine.came.store(own_, std::memory_order_release);
}

void MeetingBoard::await_all(const char* call) {
  const Rank size = context_.port().size();
  for (Rank process = 0; process < size; ++process) await(process, call);
  all_came_ = true;
}

void MeetingBoard::await(std::uint32_t process, const char* call) {
  const Slot& slot = half(meetings_ - 1)[process];
  const std::uint64_t number = meetings_ << kNumberShift;
  if (slot.came.load(std::memory_order_acquire) < number) wait_for(slot, number, call);
  const std::uint64_t theirs = slot.came.load(std::memory_order_relaxed);
  if (theirs != own_) [[unlikely]]
    tell_apart(process, theirs, own_, call);
}

void MeetingBoard::wait_for(const Slot& slot, std::uint64_t number, const char* call) {
  CallWait wait(waiting_, context_.port(), call);
  while (slot.came.load(std::memory_order_acquire) < number) {
    if (wait.once({.word = &slot.came,
                   .cmp = lci::Cmp::ge,
                   .value = number,
                   .what = "the others to come to a collective call"}) == Post::peer_down) {
      fail(context_, call,
           "a process was lost while this one waited for the others to come to a collective call");
    }
  }
}

void MeetingBoard::tell_apart(std::uint32_t process, std::uint64_t theirs, std::uint64_t own,
                              const char* call) {
  fail(context_, call,
       fmt::format("process {} is in {} of {} bytes, this one in {} of {}: the members of a group "
                   "call the same, in the same order",
                   process, name_of(theirs), bytes_of(theirs), name_of(own), bytes_of(own)));
}

}  // namespace fairlead::elan
