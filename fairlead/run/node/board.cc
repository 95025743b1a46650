#include "fairlead/run/node/board.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace fairlead::run {
namespace {

std::size_t board_bytes(std::uint32_t ranks) { return std::size_t{ranks} * sizeof(BoardSlot); }

Result<BoardSlot*> map_slots(int fd, std::uint32_t ranks) {
  void* at = ::mmap(nullptr, board_bytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    return Error{fmt::format("cannot map the job's board of {} bytes: {}", board_bytes(ranks),
                             std::strerror(errno))};
  }
  return static_cast<BoardSlot*>(at);
}

}  // namespace

Board::Board(Fd memory, BoardSlot* slots, std::uint32_t ranks)
    : memory_(std::move(memory)), slots_(slots), ranks_(ranks) {}

Board::Board(Board&& other) noexcept
    : memory_(std::move(other.memory_)),
      slots_(std::exchange(other.slots_, nullptr)),
      ranks_(other.ranks_) {}

Board::~Board() {
  if (slots_ != nullptr) ::munmap(slots_, board_bytes(ranks_));
}

Result<Board> Board::create(std::uint32_t ranks) {
  Fd memory(::memfd_create(kName, MFD_CLOEXEC));
  if (!memory.valid() || ::ftruncate(memory.get(), static_cast<off_t>(board_bytes(ranks))) != 0) {
    return Error{
        fmt::format("cannot make the job's board (memfd_create): {}; is /proc/sys/vm "
                    "or a memory limit in the way?",
                    std::strerror(errno))};
  }
  Result<BoardSlot*> slots = map_slots(memory.get(), ranks);
  if (!slots.ok()) return slots.error();
  return Board(std::move(memory), slots.value(), ranks);
}

Result<Board> Board::attach(Fd memory, std::uint32_t ranks) {
  struct stat info {};
  if (::fstat(memory.get(), &info) != 0 || info.st_size < static_cast<off_t>(board_bytes(ranks))) {
    return Error{
        "the launcher handed over a board of the wrong size: are `fairlead` and "
        "libfairlead.so of the same version?"};
  }
  Result<BoardSlot*> slots = map_slots(memory.get(), ranks);
  if (!slots.ok()) return slots.error();
  return Board(std::move(memory), slots.value(), ranks);
}

std::uint32_t system_bit(System system) { return 1u << static_cast<std::uint32_t>(system); }

const char* end_call(System system) { return kSystems[static_cast<std::size_t>(system)].end; }

const char* missing_end(std::uint32_t open) {
  return open == 0 ? nullptr : end_call(static_cast<System>(std::countr_zero(open)));
}

const char* missing_end(const BoardSlot& slot) {
  return missing_end(slot.began.load(std::memory_order_acquire) &
                     ~slot.ended.load(std::memory_order_acquire));
}

}  // namespace fairlead::run
