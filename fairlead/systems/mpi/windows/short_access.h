// The short ways of one-sided calls: elements of a predefined type in a row, in memory that this
// rank loads and stores itself, in an epoch in which it has accessed the target before.
//
// Each checks all that the long way checks, with a comparison each, as the long way has put down
// what the epoch and the target permit (WindowPeer). One that returns false has done nothing: the
// long way finds what is missing, or tells what is wrong. They touch nothing that upcalls do, so
// that they are no turns where these run beside the rank's calls (Port::wake); where several
// threads call they are not taken. Instructions of an 8-byte put and its flush, by callgrind: see
// docs/performance.md.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fairlead/base/copy_small.h"
#include "fairlead/systems/mpi/datatype.h"
#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/windows/arguments.h"
#include "fairlead/systems/mpi/windows/combining.h"
#include "fairlead/systems/mpi/windows/window.h"

namespace fairlead::mpi {

// The window of a handle, where one thread calls and work is free; nullptr: the long way.
inline Window* short_window(MPI_Win handle) {
  const Process* const process = Process::current();
  if (process == nullptr || !process->one_thread_calls()) [[unlikely]]
    return nullptr;
  return Objects<Window>::find(handle);
}

// Where `bytes` from a displacement on lie in memory of `rank` that this one may access now;
// nullptr: the long way.
inline std::byte* short_place(const Window& window, int rank, MPI_Aint disp, std::uint64_t bytes) {
  const WindowPeer* const peer = window.peers.look(rank);
  if (peer == nullptr || peer->memory == nullptr || !window.is_open_to(*peer)) [[unlikely]]
    return nullptr;
  const auto units = static_cast<std::uint64_t>(disp);
  if (units > peer->units) [[unlikely]]
    return nullptr;
  const std::uint64_t offset = units * peer->unit;
  return bytes <= peer->size - offset ? peer->memory + offset : nullptr;
}

// Bytes of as many elements here as at the target, of one predefined type; 0: the long way.
inline std::uint64_t short_bytes(MPI_Count count, MPI_Datatype type, const Target& target) {
  constexpr auto kCountMax = std::uint64_t{1} << 40;
  const auto elements = static_cast<std::uint64_t>(count);
  if (type != target.type || count != target.count || elements > kCountMax) [[unlikely]]
    return 0;
  return elements * size_of_type(type);
}

inline void short_copy(std::byte* to, const void* from, std::uint64_t bytes) {
  if (bytes <= kCopySmallMax) [[likely]]
    return copy_small(to, from, bytes);
  std::memmove(to, from, bytes);
}

inline bool short_put(const void* from, MPI_Count count, MPI_Datatype type, const Target& target,
                      MPI_Win win) {
  Window* const window = short_window(win);
  const std::uint64_t bytes = short_bytes(count, type, target);
  if (window == nullptr || bytes == 0 || from == nullptr) [[unlikely]]
    return false;
  std::byte* const at = short_place(*window, target.rank, target.disp, bytes);
  if (at == nullptr) [[unlikely]]
    return false;
  short_copy(at, from, bytes);
  window->stored = true;
  return true;
}

inline bool short_get(void* to, MPI_Count count, MPI_Datatype type, const Target& target,
                      MPI_Win win) {
  const Window* const window = short_window(win);
  const std::uint64_t bytes = short_bytes(count, type, target);
  if (window == nullptr || bytes == 0 || to == nullptr) [[unlikely]]
    return false;
  const std::byte* const at = short_place(*window, target.rank, target.disp, bytes);
  if (at == nullptr) [[unlikely]]
    return false;
  short_copy(static_cast<std::byte*>(to), at, bytes);
  return true;
}

// One element whose operation the processor has. `wants_former`: `former` gets what was there.
inline bool short_combine(const void* own, bool wants_former, void* former, MPI_Datatype type,
                          int rank, MPI_Aint disp, MPI_Op op, MPI_Win win) {
  const Window* const window = short_window(win);
  const Combining::Kind kind = Combining::kind_of(op, type);
  if (window == nullptr || kind == Combining::Kind::combine) [[unlikely]]
    return false;
  const bool reads = kind == Combining::Kind::no_op;
  if ((own == nullptr && !reads) || (former == nullptr && wants_former)) [[unlikely]]
    return false;
  const std::uint64_t bytes = size_of_type(type);
  std::byte* const at = short_place(*window, rank, disp, bytes);
  if (at == nullptr || (reads && !wants_former)) [[unlikely]]
    return false;
  return change_by_processor(kind, bytes, at, own, nullptr, former);
}

inline bool short_compare_and_swap(const void* own, const void* compare, void* former,
                                   MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win) {
  const Window* const window = short_window(win);
  const Datatype* const known = find_type(type);
  if (window == nullptr || known == nullptr || own == nullptr || compare == nullptr ||
      former == nullptr) [[unlikely]]
    return false;
  if (known->group != TypeGroup::integer && known->group != TypeGroup::index) return false;
  const std::uint64_t bytes = known->size_bytes;
  std::byte* const at = short_place(*window, rank, disp, bytes);
  return at != nullptr &&
         change_by_processor(Combining::Kind::compare_swap, bytes, at, own, compare, former);
}

// Whether a flush has nothing to wait for, and is not one that looks around.
inline bool flushes_shortly(const Window& window) {
  return !window.busy && (window.flushes + 1) % kFlushesUnlooked != 0;
}

// A flush of one locked target, or of all. Only stores need the fence: loads and the processor's
// atomics are done when their calls return.
inline bool short_flush(MPI_Win win, int rank) {
  Window* const window = short_window(win);
  if (window == nullptr || !flushes_shortly(*window)) [[unlikely]]
    return false;
  const WindowPeer* const peer = window->peers.look(rank);
  if (peer == nullptr || peer->lock == WindowLock::none) [[unlikely]]
    return false;
  ++window->flushes;
  if (std::exchange(window->stored, false)) std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

inline bool short_flush_all(MPI_Win win) {
  Window* const window = short_window(win);
  if (window == nullptr || !flushes_shortly(*window)) [[unlikely]]
    return false;
  if (!window->all_locked && window->locks == 0) [[unlikely]]
    return false;
  ++window->flushes;
  if (std::exchange(window->stored, false)) std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

}  // namespace fairlead::mpi
