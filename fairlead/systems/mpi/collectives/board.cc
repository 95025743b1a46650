#include "fairlead/systems/mpi/collectives/board.h"

#include <cstring>

#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/shared_reduction.h"

namespace fairlead::mpi {
namespace {

// The fields of BoardSlot::entered.
constexpr unsigned kNumberShift = 16;
constexpr unsigned kSizeShift = 8;

constexpr std::uint8_t kHasBoard = 1;
constexpr std::uint8_t kCopies = 2;

// The flags that the paths to all members have.
std::uint64_t common_flags(Process& process, const Comm& comm) {
  std::uint64_t flags = ~std::uint64_t{0};
  for (int r = 0; r < comm.size; ++r) {
    if (r != comm.rank) flags &= process.engine().flags(comm.job_rank(r));
  }
  return flags;
}

// Dissemination with votes: every member ends with the AND of all.
std::uint8_t vote_all(GroupCall& group, std::uint8_t mine) {
  std::uint8_t all = mine;
  for (int distance = 1; distance < group.size(); distance *= 2) {
    const int to = (group.rank() + distance) % group.size();
    const int from = (group.rank() - distance + group.size()) % group.size();
    const std::uint8_t out = all;
    std::uint8_t in = 0;
    group.exchange(to, &out, 1, from, &in, 1);
    all = all & in;
  }
  return all;
}

}  // namespace

bool settle_board(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  if (comm.board_settled || comm.size > kBoardRanks) return false;
  comm.board_settled = true;
  lci::Port& port = process.engine().port();
  const std::uint32_t segment = kBoardSegment | comm.context;
  const std::uint64_t flags = common_flags(process, comm);
  std::uint8_t possible = (flags & lci::kMappable) != 0 ? kHasBoard : 0;
  if ((flags & lci::kSingleCopy) != 0 && process.engine().choice().permits_single_copy()) {
    possible |= kCopies;
  }
  void* memory = nullptr;
  if ((possible & kHasBoard) != 0 && comm.rank == 0) {
    memory = port.allocate(segment, sizeof(Board), lci::Place::host);
    if (memory == nullptr) possible = 0;
  }
  GroupCall group(process, comm, kind, call);
  const std::uint8_t agreed = vote_all(group, possible);
  comm.board_copies = (agreed & kCopies) != 0;
  comm.reduction_choice.fill(process.engine().choice().one_at_a_time());
  if ((agreed & kHasBoard) != 0) {
    if (comm.rank != 0) memory = port.map(comm.job_rank(0), segment);
    FAIRLEAD_CHECK(memory != nullptr, "segment {:#x} of rank {}", segment, comm.job_rank(0));
    comm.board = static_cast<Board*>(memory);
  } else if (memory != nullptr) {
    const Post answer = port.withdraw(segment);
    FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", segment);
  }
  return true;
}

// `member` has entered something else than this rank.
[[noreturn, gnu::noinline, gnu::cold]] static void tell_apart(Process& process, const Comm& comm,
                                                              const char* call, int member,
                                                              std::uint64_t theirs,
                                                              std::uint64_t own) {
  constexpr std::uint64_t kSizeMask = std::uint64_t{0xff} << kSizeShift;
  if (((theirs ^ own) & ~kSizeMask) == 0) {
    disagree_on_size(process, comm, call, member, (theirs & kSizeMask) >> kSizeShift,
                     (own & kSizeMask) >> kSizeShift);
  }
  disagree(process, comm, call, member, theirs >> kNumberShift,
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
      disagree_by_tag(process, comm, call, r, early->envelope.tag);
  }
}

void check_board(Process& process, const Comm& comm, const char* call) {
  if (comm.board == nullptr) return;
  for (const auto& slots : comm.board->half) {
    for (int r = 0; r < comm.size; ++r) {
      const std::uint64_t entered = slots[r].entered.load(std::memory_order_acquire);
      if (r == comm.rank || entered >> kNumberShift != comm.collectives) continue;
      disagree(process, comm, call, r, entered >> kNumberShift,
               static_cast<std::uint32_t>(entered & 0xff));
    }
  }
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

void drop_board(Process& process, Comm& comm, const char* call) {
  if (comm.board == nullptr) return;
  GroupCall group(process, comm, CollectiveKind::comm_free, call);
  vote_all(group, 0);
  comm.board = nullptr;
  drop_shared_pieces(process, comm);
  if (comm.rank != 0) return;
  const Post answer = process.engine().port().withdraw(kBoardSegment | comm.context);
  FAIRLEAD_CHECK(answer == Post::done, "board of context {}", comm.context);
}

}  // namespace fairlead::mpi
