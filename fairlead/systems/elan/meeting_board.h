// Where every process can map the memory of process 0, collectives of all of them meet there: each
// writes a slot of its own and reads those of the others. One round whatever the number of
// processes, and nobody has to be scheduled twice: with more processes than processors that is what
// a barrier costs. Elsewhere trees of messages, the network or its interfaces serve (group.h).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fairlead/run/context.h"
#include "fairlead/systems/elan/waiting.h"

namespace fairlead::elan {

class MeetingBoard {
 public:
  // Beyond, reading every slot costs more than a tree.
  static constexpr std::uint32_t kProcessesMax = 32;
  // What a process can bring along.
  static constexpr std::size_t kBytesMax = 1016;
  enum class Kind : std::uint8_t { barrier, broadcast, reduction };

  // The memory that process 0 has for it, all zero.
  static constexpr std::size_t kMemoryBytes =
      std::size_t{2} * kProcessesMax * (sizeof(std::uint64_t) + kBytesMax);
  // Whether the processes of this job can have one; all of them get one and the same answer.
  static bool possible(const lci::Port& port);

  // `memory`: process 0's, as this process reaches it; outlives the board, as the others do.
  MeetingBoard(run::Context& context, void* memory, const Waiting& waiting)
      : context_(context), waiting_(waiting), slots_(static_cast<Slot*>(memory)) {}

  // Brings `n` (at most kBytesMax) bytes, of no value where `data` is nullptr, to the next meeting.
  // All come to it for the same `kind` with as many bytes: anything else ends the job, as the loss
  // of a process does, of whoever waits for it.
  void come(Kind kind, const void* data, std::size_t n, const char* call);
  // Returns once that process, or all, have come to this process's last meeting.
  void await(std::uint32_t process, const char* call);
  void await_all(const char* call);
  // What a process that has come has brought; until this one's next meeting but one.
  const std::byte* of(std::uint32_t process) const { return half(meetings_ - 1)[process].data; }

 private:
  struct Slot {
    // (number of the meeting, from 1) << 24 | bytes << 8 | kind, once its process has come.
    std::atomic<std::uint64_t> came;
    std::byte data[kBytesMax];
  };
  static_assert(sizeof(Slot) % 64 == 0);

  // Meetings use two halves in turn: a process can be one meeting ahead of the slowest, whose
  // unread slots then lie in the other half.
  Slot* half(std::uint64_t meeting) const { return slots_ + (meeting & 1) * kProcessesMax; }
  void wait_for(const Slot& slot, std::uint64_t number, const char* call);
  [[noreturn]] void tell_apart(std::uint32_t process, std::uint64_t theirs, std::uint64_t own,
                               const char* call);

  run::Context& context_;
  const Waiting& waiting_;
  Slot* slots_;
  std::uint64_t meetings_ = 0;
  std::uint64_t own_ = 0;  // this process's `came` of the last one
  bool all_came_ = true;   // to the last one, and this process knows
};

}  // namespace fairlead::elan
