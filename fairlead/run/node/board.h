// Shared memory of launcher and ranks, one slot a rank: what a rank got done, readable after it was
// killed. Ranks write their own slot only; the launcher reads and never trusts a length from it.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/run/context.h"
#include "fairlead/run/node/rank_call.h"

namespace fairlead::run {

struct alignas(64) BoardSlot {
  static constexpr std::size_t kReasonBytes = 180;
  static constexpr std::size_t kPulseBytes = 48;

  std::atomic<std::uint32_t> began;       // bit per System
  std::atomic<std::uint32_t> ended;       // bit per System
  std::atomic<std::int32_t> start_errno;  // why exec (or chdir) failed; 0: it did not
  std::atomic<std::uint32_t> attached;    // 1 once a program of the rank joined the job
  // Ranks of a node that could not be set up, at its first.
  std::atomic<std::uint32_t> not_set_up;
  // The uncaught failure of a forked body, or why the rank was given up; NUL-terminated.
  char reason[kReasonBytes];
  // For ranks that another launcher started:
  std::atomic<std::uint32_t> pid;    // once it has come, on its node
  std::atomic<std::uint32_t> state;  // NodeState of its node, at the first rank of each
  std::byte pulse[kPulseBytes];      // where its node's pulse is (RankCard), at the same
  RankCall call;                     // what the rank waits in
};
static_assert(sizeof(BoardSlot) == 384 && std::is_standard_layout_v<BoardSlot>);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

class Board {
 public:
  // The name of its memory, which is shown in /proc of every process that has it.
  static constexpr const char kName[] = "fairlead-board";

  // Anonymous memory (memfd) of `ranks` zeroed slots.
  static Result<Board> create(std::uint32_t ranks);
  // Maps the board another process made; takes `memory` over. Checks its size.
  static Result<Board> attach(Fd memory, std::uint32_t ranks);
  Board(Board&& other) noexcept;
  Board& operator=(Board&&) = delete;
  ~Board();

  int fd() const { return memory_.get(); }
  BoardSlot& slot(std::uint32_t rank) const { return slots_[rank]; }

 private:
  Board(Fd memory, BoardSlot* slots, std::uint32_t ranks);
  Fd memory_;
  BoardSlot* slots_;
  std::uint32_t ranks_;
};

std::uint32_t system_bit(System system);
// The call that ends a system in order: "MPI_Finalize".
const char* end_call(System system);
// That call of one of the systems whose bits are set; nullptr: none is.
const char* missing_end(std::uint32_t open);
// As above, for those that the rank began and has not ended.
const char* missing_end(const BoardSlot& slot);

}  // namespace fairlead::run
