#include "fairlead/systems/mpi/collectives/board.h"

#include <cstring>

#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {
namespace {

// Names of the boards' segments, by context: below those of rendezvous sends.
constexpr std::uint32_t kBoardSegment = 0x40000000u;

bool all_mappable(Process& process, const Comm& comm) {
  lci::Port& port = process.engine().port();
  for (int r = 0; r < comm.size; ++r) {
    const std::uint64_t flags = port.caps(comm.job_rank(r)).flags;
    if (r != comm.rank && (flags & lci::kMappable) == 0) return false;
  }
  return true;
}

// Dissemination with a vote: every member ends with the AND of all votes.
bool vote_all(GroupCall& group, bool mine) {
  std::uint8_t all = mine ? 1 : 0;
  for (int distance = 1; distance < group.size(); distance *= 2) {
    const int to = (group.rank() + distance) % group.size();
    const int from = (group.rank() - distance + group.size()) % group.size();
    const std::uint8_t out = all;
    std::uint8_t in = 0;
    group.exchange(to, &out, 1, from, &in, 1);
    all = all & in;
  }
  return all == 1;
}

}  // namespace

bool settle_board(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  if (comm.board_settled || comm.size > kBoardRanks) return false;
  comm.board_settled = true;
  lci::Port& port = process.engine().port();
  const std::uint32_t segment = kBoardSegment | comm.context;
  bool possible = all_mappable(process, comm);
  void* memory = nullptr;
  if (possible && comm.rank == 0) {
    memory = port.allocate(segment, sizeof(Board), lci::Place::host);
    possible = memory != nullptr;
  }
  GroupCall group(process, comm, kind, call);
  if (vote_all(group, possible)) {
    if (comm.rank != 0) memory = port.map(comm.job_rank(0), segment);
    FAIRLEAD_CHECK(memory != nullptr, "segment {:#x} of rank {}", segment, comm.job_rank(0));
    comm.board = static_cast<Board*>(memory);
  } else if (memory != nullptr) {
    const Post answer = port.withdraw(segment);
    FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", segment);
  }
  return true;
}

const BoardSlot* meet_on_board(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                               const void* data, std::size_t size) {
  BoardSlot* const slots = comm.board->half[comm.board_meetings++ & 1];
  const std::uint64_t own =
      (std::uint64_t{comm.collectives++} + 1) << 8 | static_cast<std::uint64_t>(kind);
  comm.before = comm.collective;
  comm.collective = static_cast<std::uint8_t>(kind);
  BoardSlot& mine = slots[comm.rank];
  if (size != 0) std::memcpy(mine.data, data, size);
  mine.entered.store(own, std::memory_order_release);
  for (int r = 0; r < comm.size; ++r) {
    const std::atomic<std::uint64_t>& entered = slots[r].entered;
    while (entered.load(std::memory_order_acquire) < own >> 8 << 8) {
      process.engine().wait_for_word(entered, own >> 8 << 8, call);
    }
    const std::uint64_t theirs = entered.load(std::memory_order_relaxed);
    if (theirs != own) [[unlikely]]
      disagree(process, comm, call, r, theirs >> 8, static_cast<std::uint32_t>(theirs & 0xff));
  }
  return slots;
}

void drop_board(Process& process, Comm& comm, const char* call) {
  if (comm.board == nullptr) return;
  GroupCall group(process, comm, CollectiveKind::comm_free, call);
  vote_all(group, true);
  comm.board = nullptr;
  if (comm.rank != 0) return;
  const Post answer = process.engine().port().withdraw(kBoardSegment | comm.context);
  FAIRLEAD_CHECK(answer == Post::done, "board of context {}", comm.context);
}

}  // namespace fairlead::mpi
