// Epochs of windows: fence, post-start-complete-wait, locks, flushes.
#include <algorithm>
#include <atomic>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collectives/collectives.h"
#include "fairlead/systems/mpi/windows/arguments.h"
#include "fairlead/systems/mpi/windows/short_access.h"

namespace fairlead::mpi::api {
namespace {

int out_of_order(const Call& call, Window& window, const std::string& what) {
  return fail_on(call, window, MPI_ERR_RMA_SYNC, what);
}

// An epoch that a lock or a start would begin may not begin within another.
int check_no_epoch(const Call& call, Window& window, bool fences_too) {
  const char* const open = window.started      ? "MPI_Win_start"
                           : window.all_locked ? "MPI_Win_lock_all"
                           : window.locks != 0 ? "MPI_Win_lock"
                           : fences_too && window.fenced && window.fence_is_used ? "MPI_Win_fence"
                                                                                 : nullptr;
  if (open == nullptr) return MPI_SUCCESS;
  return out_of_order(call, window, fmt::format("the epoch of {} is open", open));
}

// What a target has refused since the last time.
int check_refused(const Call& call, Window& window) {
  if (!window.refused) [[likely]]
    return MPI_SUCCESS;
  window.refused = false;
  return fail_on(call, window, MPI_ERR_RMA_RANGE,
                 "an access of this epoch was outside the memory that its target has attached");
}

int bad_assert(const Call& call, Window& window, int given) {
  return fail_on(call, window, MPI_ERR_ASSERT,
                 fmt::format("assert is {:#x}, which is no combination of MPI_MODE_*", given));
}

constexpr int kModes =
    MPI_MODE_NOCHECK | MPI_MODE_NOPRECEDE | MPI_MODE_NOPUT | MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED;

bool is_locked(const Window& window, int rank) {
  return window.all_locked || window.has_locked(rank);
}

// Ranks in the window of a group's members.
int members_of(const Call& call, Window& window, MPI_Group handle, std::vector<int>* members) {
  if (handle == MPI_GROUP_EMPTY) return MPI_SUCCESS;
  const Group* const group = Objects<Group>::find(handle);
  if (group == nullptr) {
    return fail_on(
        call, window, MPI_ERR_GROUP,
        handle == MPI_GROUP_NULL ? "group is MPI_GROUP_NULL" : "group is no group, or was freed");
  }
  const Comm& comm = *window.comm;
  for (const Rank member : group->members) {
    const bool here =
        comm.members.empty() ? member < static_cast<Rank>(comm.size) : comm.has(member);
    if (!here) {
      return fail_on(
          call, window, MPI_ERR_GROUP,
          fmt::format("rank {} of the job is in the group, but not in {}", member, comm.name));
    }
    members->push_back(comm.rank_of(member));
  }
  return MPI_SUCCESS;
}

// Calls `work(Window&)`, which returns as the call does, for a rank that is locked.
template <class Work>
int on_locked(const Call& call, MPI_Win win, int rank, Work&& work) {
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_target(call, window, rank)) return error;
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    if (!is_locked(window, rank)) {
      return out_of_order(call, window, fmt::format("rank {} is not locked", rank));
    }
    work(window);
    return check_refused(call, window);
  });
}
// As the above, for all ranks that are locked.
template <class Work>
int on_any_locked(const Call& call, MPI_Win win, Work&& work) {
  return on_window(call, win, [&](Window& window) -> int {
    if (!window.all_locked && window.locks == 0) {
      return out_of_order(call, window, "no rank is locked");
    }
    work(window);
    return check_refused(call, window);
  });
}

}  // namespace

int win_fence(int assert, MPI_Win win) {
  const Call call("MPI_Win_fence");
  return on_window(call, win, [&](Window& window) -> int {
    if ((assert & ~kModes) != 0) return bad_assert(call, window, assert);
    if (const int error = check_no_epoch(call, window, false)) return error;
    if (window.posted) return out_of_order(call, window, "the epoch of MPI_Win_post is open");
    flush_all(call.process(), window, call.name());
    barrier(call.process(), *window.comm, CollectiveKind::win_fence, call.name());
    window.fenced = (assert& MPI_MODE_NOSUCCEED) == 0;
    window.fence_is_used = false;
    return check_refused(call, window);
  });
}

int win_post(MPI_Group group, int assert, MPI_Win win) {
  const Call call("MPI_Win_post");
  return on_window(call, win, [&](Window& window) -> int {
    std::vector<int> origins;
    if (const int error = members_of(call, window, group, &origins)) return error;
    if ((assert & ~kModes) != 0) return bad_assert(call, window, assert);
    if (window.posted) return out_of_order(call, window, "an epoch of MPI_Win_post is open");
    if (window.fenced && window.fence_is_used) {
      return out_of_order(call, window, "the epoch of MPI_Win_fence is open");
    }
    window.fenced = false;
    post(call.process(), window, origins);
    return MPI_SUCCESS;
  });
}

int win_start(MPI_Group group, int assert, MPI_Win win) {
  const Call call("MPI_Win_start");
  return on_window(call, win, [&](Window& window) -> int {
    std::vector<int> targets;
    if (const int error = members_of(call, window, group, &targets)) return error;
    if ((assert & ~kModes) != 0) return bad_assert(call, window, assert);
    if (const int error = check_no_epoch(call, window, true)) return error;
    window.fenced = false;
    start(call.process(), window, targets, call.name());
    return MPI_SUCCESS;
  });
}

int win_complete(MPI_Win win) {
  const Call call("MPI_Win_complete");
  return on_window(call, win, [&](Window& window) -> int {
    if (!window.started) return out_of_order(call, window, "no MPI_Win_start came before");
    complete(call.process(), window, call.name());
    return check_refused(call, window);
  });
}

int win_wait(MPI_Win win) {
  const Call call("MPI_Win_wait");
  return on_window(call, win, [&](Window& window) -> int {
    if (!window.posted) return out_of_order(call, window, "no MPI_Win_post came before");
    end_exposure(call.process(), window, true, call.name());
    return MPI_SUCCESS;
  });
}

int win_test(MPI_Win win, int* flag) {
  const Call call("MPI_Win_test");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_given(call, window, flag, "flag")) return error;
    if (!window.posted) return out_of_order(call, window, "no MPI_Win_post came before");
    *flag = end_exposure(call.process(), window, false, call.name());
    return MPI_SUCCESS;
  });
}

int win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  const Call call("MPI_Win_lock");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_target(call, window, rank)) return error;
    if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE) {
      return fail_on(call, window, MPI_ERR_LOCKTYPE,
                     fmt::format("lock_type is {}: neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE",
                                 lock_type));
    }
    if ((assert & ~kModes) != 0) return bad_assert(call, window, assert);
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    const bool others =
        window.started || window.all_locked || (window.fenced && window.fence_is_used);
    if (others) {
      if (const int error = check_no_epoch(call, window, true)) return error;
    }
    if (is_locked(window, rank)) {
      return out_of_order(call, window, fmt::format("rank {} is locked already", rank));
    }
    window.fenced = false;
    const WindowLock lock = (assert& MPI_MODE_NOCHECK) != 0 ? WindowLock::unchecked
                            : lock_type == MPI_LOCK_SHARED  ? WindowLock::shared
                                                            : WindowLock::exclusive;
    lock_target(call.process(), window, rank, lock, call.name());
    ++window.locks;
    return MPI_SUCCESS;
  });
}

int win_unlock(int rank, MPI_Win win) {
  const Call call("MPI_Win_unlock");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_target(call, window, rank)) return error;
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    if (window.all_locked || !is_locked(window, rank)) {
      return out_of_order(call, window, fmt::format("rank {} is not locked", rank));
    }
    flush(call.process(), window, rank, call.name());
    unlock_target(call.process(), window, rank, call.name());
    --window.locks;
    return check_refused(call, window);
  });
}

// A target is locked at the first access to it, this rank's own memory now, as plain loads and
// stores may follow.
int win_lock_all(int assert, MPI_Win win) {
  const Call call("MPI_Win_lock_all");
  return on_window(call, win, [&](Window& window) -> int {
    if ((assert & ~kModes) != 0) return bad_assert(call, window, assert);
    if (const int error = check_no_epoch(call, window, true)) return error;
    window.fenced = false;
    window.all_lock = (assert& MPI_MODE_NOCHECK) != 0 ? WindowLock::unchecked : WindowLock::shared;
    lock_target(call.process(), window, window.comm->rank, window.all_lock, call.name());
    window.all_locked = true;
    return MPI_SUCCESS;
  });
}

int win_unlock_all(MPI_Win win) {
  const Call call("MPI_Win_unlock_all");
  return on_window(call, win, [&](Window& window) -> int {
    if (!window.all_locked) return out_of_order(call, window, "no MPI_Win_lock_all came before");
    flush_all(call.process(), window, call.name());
    for (int target = 0; target < window.comm->size; ++target) {
      const WindowPeer* const peer = window.peers.find(target);
      if (peer == nullptr || peer->lock == WindowLock::none) continue;
      unlock_target(call.process(), window, target, call.name());
    }
    window.all_locked = false;
    return check_refused(call, window);
  });
}

int win_flush(int rank, MPI_Win win) {
  if (short_flush(win, rank)) return MPI_SUCCESS;
  const Call call("MPI_Win_flush");
  return on_locked(call, win, rank,
                   [&](Window& window) { flush(call.process(), window, rank, call.name()); });
}

int win_flush_all(MPI_Win win) {
  if (short_flush_all(win)) return MPI_SUCCESS;
  const Call call("MPI_Win_flush_all");
  return on_any_locked(call, win,
                       [&](Window& window) { flush_all(call.process(), window, call.name()); });
}

int win_flush_local(int rank, MPI_Win win) {
  if (short_flush(win, rank)) return MPI_SUCCESS;
  const Call call("MPI_Win_flush_local");
  return on_locked(call, win, rank,
                   [&](Window& window) { flush_here(call.process(), window, call.name()); });
}

int win_flush_local_all(MPI_Win win) {
  if (short_flush_all(win)) return MPI_SUCCESS;
  const Call call("MPI_Win_flush_local_all");
  return on_any_locked(call, win,
                       [&](Window& window) { flush_here(call.process(), window, call.name()); });
}

// Memory is one and the same for all: only this processor's order is to be made. What has arrived
// for this rank meanwhile is looked at, as programs poll with it.
int win_sync(MPI_Win win) {
  const Call call("MPI_Win_sync");
  return on_window(call, win, [&](Window&) -> int {
    call.engine().poll();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return MPI_SUCCESS;
  });
}

}  // namespace fairlead::mpi::api
