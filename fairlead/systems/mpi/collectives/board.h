// Where every member of a communicator can map the memory of the first one, barriers and small
// collectives whose members all wait for all meet there: each member writes one cache line and
// reads those of the others. One round whatever the number of ranks, and nobody has to be scheduled
// twice: with more ranks than cores that is what a collective costs. Elsewhere the algorithms over
// messages serve. board_agreement.h says which communicators have one (Comm::board).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

// Beyond, reading every member's line costs more than the logarithm of messages.
constexpr int kBoardRanks = 32;
constexpr std::size_t kBoardBytes = 56;

// The members of one node of a communicator (Comm::here) meet several times in one of its
// collectives: its number times this power of two, and counted from there, are the numbers of those
// meetings, so that whoever waits elsewhere can tell which collective a member is in.
constexpr unsigned kNodeMeetingBits = 2;

struct BoardSlot {
  // (number of the collective + 1) << 16 | bytes of data << 8 | its kind, once the member has
  // entered it.
  std::atomic<std::uint64_t> entered;
  std::byte data[kBoardBytes];
};
static_assert(sizeof(BoardSlot) == 64);

// Meetings use the two halves in turn: a member can be one meeting ahead of the slowest, whose
// unread lines then lie in the other half.
struct Board {
  alignas(64) BoardSlot half[2][kBoardRanks];
};

// Enters `size` (up to kBoardBytes) bytes and waits until every member has entered theirs. Returns
// the members' lines, valid until this member's next meeting but one.
const BoardSlot* meet_on_board(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                               const void* data, std::size_t size);

// Whether the members have a board by now, where what each of them enters has room. They agree on
// one in their first barrier or small reduction, not for what this serves beside those.
inline bool fits_board(const Comm& comm, std::uint64_t bytes) {
  return comm.board != nullptr && bytes <= kBoardBytes;
}

// Combines what the first `members` members entered, `count` elements at `offset` of their lines,
// in rank order, to `result`, which may be what this member entered.
void combine_entered(const BoardSlot* slots, int members, std::uint64_t offset,
                     const Operand& operand, std::uint64_t count, void* result);

// Ends the job when a member is on the board, or on that of this rank's node, in the collective
// that this rank does by messages: it would wait there for ever.
void check_board(Process& process, const Comm& comm, const char* call);

}  // namespace fairlead::mpi
