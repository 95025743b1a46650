#include "fairlead/systems/mpi/windows/arguments.h"

#include <algorithm>

namespace fairlead::mpi {
namespace {

// Whether an epoch of this rank is open to `target`; fences count as used from now on.
bool permits(Window& window, int target) {
  if (window.started) {
    const auto& all = window.targets;
    if (std::find(all.begin(), all.end(), target) != all.end()) return true;
  }
  if (window.all_locked) return true;
  if (window.locks != 0 && !window.peers.empty() &&
      window.peers[static_cast<std::size_t>(target)].lock != WindowLock::none) {
    return true;
  }
  if (window.fenced) window.fence_is_used = true;
  return window.fenced;
}

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  return static_cast<std::uint64_t>(count) * spacing_of_type(type);
}

int check_elements(const Call& call, Window& window, MPI_Count count, MPI_Datatype type,
                   const char* which) {
  if (count < 0) {
    return fail_on(call, window, MPI_ERR_COUNT,
                   fmt::format("{}count is {}, which is negative", which, count));
  }
  if (spacing_of_type(type) == 0) {
    return fail_on(call, window, MPI_ERR_TYPE,
                   fmt::format("{}datatype is {}", which,
                               type == MPI_DATATYPE_NULL
                                   ? "MPI_DATATYPE_NULL"
                                   : "no predefined datatype; one-sided calls take these only"));
  }
  return MPI_SUCCESS;
}

}  // namespace

int check_window(const Call& call, MPI_Win handle) {
  return call.fail(nullptr, MPI_ERR_WIN,
                   handle == MPI_WIN_NULL ? "win is MPI_WIN_NULL"
                                          : "win is no window of this library, or was freed");
}

int check_buffer(const Call& call, Window& window, const Buffer& buffer) {
  if (const int error = check_elements(call, window, buffer.count, buffer.type, buffer.which)) {
    return error;
  }
  if (buffer.address == nullptr && buffer.count > 0) {
    return fail_on(call, window, MPI_ERR_BUFFER,
                   fmt::format("{}addr is a null pointer, but {}count is {}", buffer.which,
                               buffer.which, buffer.count));
  }
  return MPI_SUCCESS;
}

int check_target(const Call& call, Window& window, int rank) {
  if (rank == MPI_PROC_NULL || (rank >= 0 && rank < window.comm->size)) [[likely]]
    return MPI_SUCCESS;
  return fail_on(
      call, window, MPI_ERR_RANK,
      fmt::format("target rank is {}, but the ranks are 0 to {}", rank, window.comm->size - 1));
}

Place check_access(const Call& call, Window& window, const Target& target, const Buffer* own,
                   const Buffer* result) {
  const auto wrong = [](int error) { return Place{0, 0, true, error}; };
  const std::uint64_t bytes = bytes_of(std::max<MPI_Count>(target.count, 0), target.type);
  for (const Buffer* const buffer : {own, result}) {
    if (buffer == nullptr) continue;
    if (const int error = check_buffer(call, window, *buffer)) return wrong(error);
  }
  if (const int error = check_target(call, window, target.rank)) return wrong(error);
  if (target.rank == MPI_PROC_NULL) return wrong(MPI_SUCCESS);
  if (const int error = check_elements(call, window, target.count, target.type, "target_")) {
    return wrong(error);
  }
  for (const Buffer* const buffer : {own, result}) {
    if (buffer == nullptr || bytes_of(buffer->count, buffer->type) == bytes) continue;
    return wrong(fail_on(
        call, window, MPI_ERR_ARG,
        fmt::format("{}count and {}datatype are {} bytes, those of the target {}", buffer->which,
                    buffer->which, bytes_of(buffer->count, buffer->type), bytes)));
  }
  if (target.disp < 0 && !window.is_dynamic()) {
    return wrong(fail_on(call, window, MPI_ERR_DISP,
                         fmt::format("target_disp is {}, which is negative", target.disp)));
  }
  if (!permits(window, target.rank)) [[unlikely]] {
    return wrong(fail_on(call, window, MPI_ERR_RMA_SYNC,
                         fmt::format("no epoch is open to rank {}: neither fence, start, lock nor "
                                     "lock_all came before",
                                     target.rank)));
  }
  if (bytes == 0) return wrong(MPI_SUCCESS);
  const WindowPeer& peer = window_peer(call.process(), window, target.rank, call.name());
  if (window.all_locked && peer.lock == WindowLock::none) [[unlikely]]
    lock_target(call.process(), window, target.rank, window.all_lock, call.name());
  const auto disp = static_cast<std::uint64_t>(target.disp);
  if (window.is_dynamic()) return {disp, bytes};
  if (bytes > peer.size || disp > (peer.size - bytes) / peer.unit) [[unlikely]] {
    return wrong(fail_on(call, window, MPI_ERR_RMA_RANGE,
                         fmt::format("{} bytes from displacement {} of {} bytes on are not in the "
                                     "{} bytes of rank {}",
                                     bytes, disp, peer.unit, peer.size, target.rank)));
  }
  return {disp * peer.unit, bytes};
}

int check_operation(const Call& call, Window& window, MPI_Op op, MPI_Datatype type) {
  if (op == MPI_REPLACE || op == MPI_NO_OP) return MPI_SUCCESS;
  const char* const name = operation_name(op);
  if (name == nullptr) {
    return fail_on(
        call, window, MPI_ERR_OP,
        op == MPI_OP_NULL ? "op is MPI_OP_NULL" : "op is no predefined operation, as windows need");
  }
  if (find_type(type) == nullptr || find_combine(op, type) != nullptr) return MPI_SUCCESS;
  return fail_on(call, window, MPI_ERR_OP,
                 fmt::format("{} is not defined on {}", name, find_type(type)->name));
}

}  // namespace fairlead::mpi
