#include "fairlead/systems/mpi/collectives/board.h"

#include <cstring>

#include "fairlead/systems/mpi/collectives/wrong_call.h"

namespace fairlead::mpi {
namespace {

// The fields of BoardSlot::entered.
constexpr unsigned kNumberShift = 16;
constexpr unsigned kSizeShift = 8;

}  // namespace

// What error texts speak of: of a node's members, the communicator that they are a part of.
static const Comm& told(const Comm& comm) { return comm.whole != nullptr ? *comm.whole : comm; }
static int told(const Comm& comm, int member) {
  return comm.whole != nullptr ? comm.whole->rank_of(comm.job_rank(member)) : member;
}
// The collective of told(comm) that a meeting is of.
static std::uint64_t told_number(const Comm& comm, std::uint64_t entered) {
  const std::uint64_t number = entered >> kNumberShift;
  return comm.whole != nullptr ? number >> kNodeMeetingBits : number;
}

// `member` has entered something else than this rank.
[[noreturn, gnu::noinline, gnu::cold]] static void tell_apart(Process& process, const Comm& comm,
                                                              const char* call, int member,
                                                              std::uint64_t theirs,
                                                              std::uint64_t own) {
  constexpr std::uint64_t kSizeMask = std::uint64_t{0xff} << kSizeShift;
  if (((theirs ^ own) & ~kSizeMask) == 0) {
    disagree_on_size(process, told(comm), call, told(comm, member),
                     (theirs & kSizeMask) >> kSizeShift, (own & kSizeMask) >> kSizeShift);
  }
  disagree(process, told(comm), call, told(comm, member), told_number(comm, theirs),
           static_cast<std::uint32_t>(theirs & 0xff));
}

// As above, by messages: one that came from a member, while not all are on the board, is of another
// call. It may have come with whatever this rank waited for before.
static void check_messages(Process& process, const Comm& comm, const char* call) {
  Engine& engine = process.engine();
  if (!engine.any_early()) [[likely]]
    return;
  for (int r = 0; r < comm.size; ++r) {
    const Unexpected* const early = engine.probe({comm.context + 1, comm.job_rank(r), kAnyTag});
    if (early != nullptr) [[unlikely]]
      disagree_by_tag(process, told(comm), call, told(comm, r), early->envelope.tag);
  }
}

void check_board(Process& process, const Comm& comm, const char* call) {
  if (comm.here != nullptr) return check_board(process, *comm.here, call);
  if (comm.board == nullptr) return;
  // Who waits for messages between two meetings of its node is where it should be.
  const std::uint64_t number = told(comm).collectives;
  if (comm.whole != nullptr && comm.collectives >> kNodeMeetingBits == number) return;
  for (const auto& slots : comm.board->half) {
    for (int r = 0; r < comm.size; ++r) {
      const std::uint64_t entered = slots[r].entered.load(std::memory_order_acquire);
      if (r == comm.rank || told_number(comm, entered) != number) continue;
      disagree(process, told(comm), call, told(comm, r), number,
               static_cast<std::uint32_t>(entered & 0xff));
    }
  }
}

void combine_entered(const BoardSlot* slots, int members, std::uint64_t offset,
                     const Operand& operand, std::uint64_t count, void* result) {
  const std::uint64_t bytes = count * operand.element;
  if (bytes == 0 || members == 0) return;
  alignas(16) std::byte sum[kBoardBytes];
  alignas(16) std::byte next[kBoardBytes];
  std::memcpy(sum, slots[0].data + offset, bytes);
  for (int r = 1; r < members; ++r) {
    std::memcpy(next, slots[r].data + offset, bytes);
    operand.combine(sum, next, sum, count);
  }
  std::memcpy(result, sum, bytes);
}

// A member can only be further, and have sent messages of that, once it has seen all entries.
static void wait_for_entry(Process& process, const Comm& comm,
                           const std::atomic<std::uint64_t>& entered, std::uint64_t number,
                           const char* call) {
  Engine& engine = process.engine();
  do {
    check_messages(process, comm, call);
    engine.wait_for_word(entered, number, call, {nullptr, &comm, nullptr});
  } while (entered.load(std::memory_order_acquire) < number);
  engine.wait_is_over();
}

const BoardSlot* meet_on_board(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                               const void* data, std::size_t size) {
  BoardSlot* const slots = comm.board->half[comm.board_meetings++ & 1];
  const std::uint64_t number = ++comm.collectives << kNumberShift;
  const std::uint64_t own = number | size << kSizeShift | static_cast<std::uint64_t>(kind);
  comm.before = comm.collective;
  comm.collective = static_cast<std::uint8_t>(kind);
  BoardSlot& mine = slots[comm.rank];
  if (size != 0) std::memcpy(mine.data, data, size);
  mine.entered.store(own, std::memory_order_release);
  for (int r = 0; r < comm.size; ++r) {
    const std::atomic<std::uint64_t>& entered = slots[r].entered;
    if (entered.load(std::memory_order_acquire) < number) {
      wait_for_entry(process, comm, entered, number, call);
    }
    const std::uint64_t theirs = entered.load(std::memory_order_relaxed);
    if (theirs != own) [[unlikely]]
      tell_apart(process, comm, call, r, theirs, own);
  }
  return slots;
}

}  // namespace fairlead::mpi
