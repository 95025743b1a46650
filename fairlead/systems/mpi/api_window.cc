// Windows: made, freed, asked what they are; names, hints, error handlers.
#include <algorithm>
#include <climits>
#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collectives/board_agreement.h"
#include "fairlead/systems/mpi/comm_making.h"
#include "fairlead/systems/mpi/errors.h"
#include "fairlead/systems/mpi/text.h"
#include "fairlead/systems/mpi/windows/arguments.h"
#include "fairlead/systems/mpi/windows/windows.h"

namespace fairlead::mpi::api {
namespace {

struct Wanted {
  int flavor;
  void* base;  // MPI_WIN_FLAVOR_CREATE
  MPI_Aint size;
  MPI_Aint unit;
};

MPI_Win handle_of(Window* window) { return reinterpret_cast<MPI_Win>(window); }

// What every member says before memory is made.
struct Ballot {
  std::uint64_t size;
  std::uint64_t maps;  // the first member's memory
};

int check_wanted(const Call& call, const Comm& comm, const Wanted& wanted, MPI_Info info,
                 const MPI_Win* win) {
  if (wanted.size < 0) {
    return call.fail(&comm, MPI_ERR_SIZE,
                     fmt::format("size is {}, which is negative", wanted.size));
  }
  if (wanted.unit <= 0 || wanted.unit > INT_MAX) {
    return call.fail(
        &comm, MPI_ERR_DISP,
        fmt::format("disp_unit is {}, which is not positive, or too large", wanted.unit));
  }
  if (wanted.flavor == MPI_WIN_FLAVOR_CREATE && wanted.base == nullptr && wanted.size > 0) {
    return call.fail(&comm, MPI_ERR_BASE,
                     fmt::format("base is a null pointer, but size is {}", wanted.size));
  }
  if (!is_info(info)) {
    return call.fail(&comm, MPI_ERR_INFO, "info is no info object, or was freed");
  }
  return call.check_output(&comm, win, "win");
}

bool expose(lci::Port& port, std::uint32_t segment, void* base, std::size_t size) {
  return port.expose(segment, base, size, lci::kRead | lci::kWrite | lci::kAtomic, nullptr, {}) ==
         Post::done;
}

// False: there is no memory for it.
bool make_control(lci::Port& port, Window& window) {
  void* const memory =
      port.allocate(window.control_segment(), sizeof(WindowControl), lci::Place::host);
  if (memory != nullptr) {
    window.control = new (memory) WindowControl();
    return true;
  }
  window.own_control.reset(new (std::nothrow) WindowControl());
  window.control = window.own_control.get();
  return window.control != nullptr &&
         expose(port, window.control_segment(), window.control, sizeof(WindowControl));
}

// `bytes` of memory that the window owns, zeroed.
bool make_memory(lci::Port& port, Window& window, std::size_t bytes) {
  window.base =
      static_cast<std::byte*>(port.allocate(window.memory_segment(), bytes, lci::Place::host));
  window.exposes_memory = true;
  if (window.base != nullptr) return true;
  window.own_memory.reset(new (std::nothrow) std::byte[bytes]());
  window.base = window.own_memory.get();
  window.exposes_memory =
      window.base != nullptr && expose(port, window.memory_segment(), window.base, bytes);
  return window.exposes_memory;
}

// The error that this member adds.
int make_own(lci::Port& port, Window& window, const Wanted& wanted,
             const std::vector<Ballot>& ballots) {
  if (!make_control(port, window)) return MPI_ERR_NO_MEM;
  const auto size = static_cast<std::size_t>(wanted.size);
  window.control->size = size;
  window.control->unit = static_cast<std::uint64_t>(wanted.unit);
  if (wanted.flavor == MPI_WIN_FLAVOR_SHARED) {
    std::size_t total = 0;
    for (std::size_t r = 0; r < ballots.size(); ++r) {
      if (static_cast<int>(r) == window.comm->rank) window.control->offset = total;
      total += ballots[r].size;
    }
    if (window.comm->rank != 0) return MPI_SUCCESS;
    if (total == 0) total = 1;
    if (!make_memory(port, window, total)) return MPI_ERR_NO_MEM;
    return window.own_memory == nullptr || window.comm->size == 1 ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  }
  if (size == 0) {
    window.base = static_cast<std::byte*>(wanted.base);
    return MPI_SUCCESS;
  }
  if (wanted.flavor == MPI_WIN_FLAVOR_ALLOCATE) {
    return make_memory(port, window, size) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  }
  window.base = static_cast<std::byte*>(wanted.base);
  window.exposes_memory = expose(port, window.memory_segment(), window.base, size);
  return window.exposes_memory ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

// Whether some member has to ask this rank's processor, and may interrupt it for that.
bool needs_processor(Engine& engine, const Window& window) {
  const bool is_allocated = window.own_control == nullptr && window.own_memory == nullptr &&
                            window.flavor != MPI_WIN_FLAVOR_CREATE && !window.is_dynamic();
  bool mappable = is_allocated;
  bool interrupts = false;
  for (int r = 0; r < window.comm->size; ++r) {
    if (r == window.comm->rank) continue;
    const std::uint64_t flags = engine.flags(window.comm->job_rank(r));
    mappable = mappable && (flags & lci::kMappable) != 0;
    interrupts = interrupts || (flags & lci::kInterrupt) != 0;
  }
  return interrupts && !mappable;
}

// What every member knows of all: the largest error.
int agree(const Call& call, Comm& comm, int error) {
  int worst = error;
  const Operand operand{find_combine(MPI_MAX, MPI_INT), 1, sizeof worst};
  allreduce(call.process(), comm, call.name(), &error, &worst, operand);
  return worst;
}

// Nobody reaches it any more.
void drop(const Call& call, Window& window) {
  lci::Port& port = call.engine().port();
  Comm* const comm = window.comm;
  if (window.exposes_memory) (void)port.withdraw(window.memory_segment());
  if (window.control != nullptr) (void)port.withdraw(window.control_segment());
  drop_board(call.process(), *comm, call.name());
  Windows::of(call.process()).free(call.process(), window);
  call.process().free_comm(comm);
}

// Collective. nullptr: an error was raised.
Window* make(const Call& call, MPI_Comm handle, const Wanted& wanted, MPI_Info info, MPI_Win* win,
             int* error) {
  Process& process = call.process();
  Comm* const parent = process.find(handle);
  *error =
      parent == nullptr ? call.check_comm(handle) : check_wanted(call, *parent, wanted, info, win);
  if (*error == MPI_SUCCESS) *error = check_no_intercomm(call, *parent);
  if (*error != MPI_SUCCESS) return nullptr;
  const MadeComm hidden = hidden_comm(call, *parent, "a window of " + parent->name);
  *error = hidden.error;
  if (hidden.comm == nullptr) return nullptr;
  Comm& comm = *hidden.comm;
  Window& window = *Windows::of(process).make(comm);
  window.flavor = wanted.flavor;
  window.size = wanted.size;
  window.unit = static_cast<int>(wanted.unit);
  if (const Info* const hints = Objects<Info>::find(info); hints != nullptr) {
    window.hints = hints->entries;
  }
  std::vector<Ballot> ballots;
  bool shared = true;
  if (wanted.flavor == MPI_WIN_FLAVOR_SHARED) {
    ballots.resize(static_cast<std::size_t>(comm.size));
    const lci::Caps& caps = process.engine().port().caps(comm.job_rank(0));
    const bool maps = comm.rank == 0 || (caps.flags & lci::kMappable) != 0;
    ballots[static_cast<std::size_t>(comm.rank)] = {static_cast<std::uint64_t>(wanted.size), maps};
    allgather(process, comm, CollectiveKind::win_create, call.name(), nullptr, ballots.data(),
              sizeof(Ballot));
    shared =
        std::all_of(ballots.begin(), ballots.end(), [](const Ballot& b) { return b.maps != 0; });
  }
  const int own =
      shared ? make_own(process.engine().port(), window, wanted, ballots) : MPI_ERR_RMA_SHARED;
  *error = agree(call, comm, own);
  if (*error != MPI_SUCCESS) {
    drop(call, window);
    *error = call.fail(parent, *error,
                       *error == MPI_ERR_RMA_SHARED
                           ? "not every member can map the first one's memory"
                           : fmt::format("{} bytes are too much on some member", wanted.size));
    return nullptr;
  }
  if (wanted.flavor == MPI_WIN_FLAVOR_SHARED && comm.rank != 0) {
    window.base = window_peer(process, window, 0, call.name()).memory + window.control->offset;
  }
  if (needs_processor(process.engine(), window)) {
    Windows::of(process).count_needy(window);
    // Where settle_wake() lets messages interrupt.
    window.control->serves.store(process.lock == nullptr ? 1 : 0);
  }
  *win = handle_of(&window);
  return &window;
}

int create(const Call& call, MPI_Comm comm, const Wanted& wanted, MPI_Info info, void* baseptr,
           MPI_Win* win) {
  int error = MPI_SUCCESS;
  if (baseptr == nullptr) {
    const Comm* const found = call.process().find(comm);
    return found == nullptr ? call.check_comm(comm) : call.check_output(found, baseptr, "baseptr");
  }
  const Window* const made = make(call, comm, wanted, info, win, &error);
  if (made != nullptr) *static_cast<void**>(baseptr) = made->base;
  return error;
}

bool is_window_handler(MPI_Errhandler handler) {
  const ErrorHandler* const made = Objects<ErrorHandler>::find(handler);
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT ||
         handler == MPI_ERRORS_RETURN || (made != nullptr && made->window != nullptr);
}

}  // namespace

int win_create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
               MPI_Win* win) {
  int error = MPI_SUCCESS;
  make(Call("MPI_Win_create"), comm, {MPI_WIN_FLAVOR_CREATE, base, size, disp_unit}, info, win,
       &error);
  Windows::settle_wake();
  return error;
}

int win_allocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                 MPI_Win* win) {
  const int error = create(Call("MPI_Win_allocate"), comm,
                           {MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit}, info, baseptr, win);
  Windows::settle_wake();
  return error;
}

int win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void* baseptr, MPI_Win* win) {
  return create(Call("MPI_Win_allocate_shared"), comm,
                {MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit}, info, baseptr, win);
}

int win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  int error = MPI_SUCCESS;
  make(Call("MPI_Win_create_dynamic"), comm, {MPI_WIN_FLAVOR_DYNAMIC, nullptr, 0, 1}, info, win,
       &error);
  Windows::settle_wake();
  return error;
}

int win_attach(MPI_Win win, void* base, MPI_Aint size) {
  const Call call("MPI_Win_attach");
  return on_window(call, win, [&](Window& window) -> int {
    if (!window.is_dynamic()) {
      return fail_on(call, window, MPI_ERR_RMA_FLAVOR,
                     "win was not made by MPI_Win_create_dynamic");
    }
    if (size < 0) {
      return fail_on(call, window, MPI_ERR_SIZE,
                     fmt::format("size is {}, which is negative", size));
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    const auto bytes = static_cast<std::uint64_t>(size);
    const bool meets =
        std::any_of(window.regions.begin(), window.regions.end(), [&](const WindowRegion& region) {
          return begin < region.begin + region.size && region.begin < begin + bytes;
        });
    if (meets || (base == nullptr && size != 0)) {
      return fail_on(call, window, MPI_ERR_RMA_ATTACH,
                     meets ? "some of the memory is attached already" : "base is a null pointer");
    }
    window.regions.push_back({begin, bytes});
    return MPI_SUCCESS;
  });
}

int win_detach(MPI_Win win, const void* base) {
  const Call call("MPI_Win_detach");
  return on_window(call, win, [&](Window& window) -> int {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    const auto found =
        std::find_if(window.regions.begin(), window.regions.end(),
                     [&](const WindowRegion& region) { return region.begin == begin; });
    if (found == window.regions.end()) {
      return fail_on(call, window, MPI_ERR_RMA_ATTACH, "base is the begin of nothing attached");
    }
    window.regions.erase(found);
    return MPI_SUCCESS;
  });
}

namespace {

int free_window(const Call& call, MPI_Win* win) {
  if (const int error = call.check_output(nullptr, win, "win")) return error;
  return on_window(call, *win, [&](Window& window) -> int {
    if (window.started || window.posted || window.all_locked || window.locks != 0) {
      return fail_on(call, window, MPI_ERR_RMA_SYNC,
                     "an epoch of MPI_Win_start, post, lock or lock_all is open");
    }
    if (const int error = delete_attributes(call, window); error != MPI_SUCCESS) {
      return fail_on(call, window, error, "the delete function of an attribute failed");
    }
    flush_all(call.process(), window, call.name());
    barrier(call.process(), *window.comm, CollectiveKind::win_free, call.name());
    drop(call, window);
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
  });
}

}  // namespace

int win_free(MPI_Win* win) {
  const int error = free_window(Call("MPI_Win_free"), win);
  Windows::settle_wake();
  return error;
}

// Whatever made the window: memory that this rank has no loads and stores for is told as none.
// Where the rank is MPI_PROC_NULL, the lowest rank that gives memory.
int win_shared_query(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr) {
  const Call call("MPI_Win_shared_query");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_target(call, window, rank)) return error;
    if (size == nullptr || disp_unit == nullptr || baseptr == nullptr) {
      return fail_on(call, window, MPI_ERR_ARG, "size, disp_unit or baseptr is a null pointer");
    }
    Process& process = call.process();
    int member = rank;
    for (int r = 0; member == MPI_PROC_NULL && r < window.comm->size; ++r) {
      if (window_peer(process, window, r, call.name()).size != 0) member = r;
    }
    *size = 0;
    *disp_unit = 1;
    *static_cast<void**>(baseptr) = nullptr;
    if (member == MPI_PROC_NULL) return MPI_SUCCESS;
    const WindowPeer& peer = window_peer(process, window, member, call.name());
    *disp_unit = static_cast<MPI_Aint>(peer.unit);
    if (peer.memory == nullptr || peer.size == 0) return MPI_SUCCESS;
    *size = static_cast<MPI_Aint>(peer.size);
    *static_cast<void**>(baseptr) = peer.memory;
    return MPI_SUCCESS;
  });
}

int win_get_group(MPI_Win win, MPI_Group* group) {
  const Call call("MPI_Win_get_group");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_given(call, window, group, "group")) return error;
    Group* const made = call.process().groups.make();
    for (int r = 0; r < window.comm->size; ++r) made->members.push_back(window.comm->job_rank(r));
    *group = reinterpret_cast<MPI_Group>(made);
    return MPI_SUCCESS;
  });
}

// --- Names, hints.

int win_set_name(MPI_Win win, const char* win_name) {
  const Call call("MPI_Win_set_name");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_given(call, window, win_name, "win_name")) return error;
    window.name = std::string(win_name).substr(0, MPI_MAX_OBJECT_NAME - 1);
    return MPI_SUCCESS;
  });
}

int win_get_name(MPI_Win win, char* win_name, int* resultlen) {
  const Call call("MPI_Win_get_name");
  if (win == MPI_WIN_NULL && win_name != nullptr && resultlen != nullptr) {
    copy_text("MPI_WIN_NULL", MPI_MAX_OBJECT_NAME, win_name, resultlen);
    return MPI_SUCCESS;
  }
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_given(call, window, win_name, "win_name")) return error;
    if (const int error = check_given(call, window, resultlen, "resultlen")) return error;
    copy_text(window.name, MPI_MAX_OBJECT_NAME, win_name, resultlen);
    return MPI_SUCCESS;
  });
}

int win_set_info(MPI_Win win, MPI_Info info) {
  const Call call("MPI_Win_set_info");
  return on_window(call, win, [&](Window& window) -> int {
    const Info* const hints = Objects<Info>::find(info);
    if (hints == nullptr) {
      return fail_on(call, window, MPI_ERR_INFO, "info is no info object, or was freed");
    }
    Info merged;
    merged.entries = window.hints;
    for (const auto& [key, value] : hints->entries) merged.set(key, value);
    window.hints = merged.entries;
    return MPI_SUCCESS;
  });
}

int win_get_info(MPI_Win win, MPI_Info* info_used) {
  const Call call("MPI_Win_get_info");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_given(call, window, info_used, "info_used")) return error;
    Info* const made = call.process().infos.make();
    made->entries = window.hints;
    *info_used = reinterpret_cast<MPI_Info>(made);
    return MPI_SUCCESS;
  });
}

// --- Error handlers.

int win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn,
                          MPI_Errhandler* errhandler) {
  const Call call("MPI_Win_create_errhandler");
  if (win_errhandler_fn == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG, "win_errhandler_fn is a null pointer");
  }
  if (const int error = call.check_output(nullptr, errhandler, "errhandler")) return error;
  ErrorHandler* const made = call.process().error_handlers.make();
  made->window = win_errhandler_fn;
  *errhandler = reinterpret_cast<MPI_Errhandler>(made);
  return MPI_SUCCESS;
}

int win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  const Call call("MPI_Win_set_errhandler");
  return on_window(call, win, [&](Window& window) -> int {
    if (!is_window_handler(errhandler)) {
      return fail_on(call, window, MPI_ERR_ERRHANDLER,
                     "errhandler is none, was freed, or is not one of windows");
    }
    set_window_handler(call.process(), window, errhandler);
    return MPI_SUCCESS;
  });
}

int win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  const Call call("MPI_Win_get_errhandler");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_given(call, window, errhandler, "errhandler")) return error;
    // The program has one more handle, to be freed.
    ErrorHandler* const made = Objects<ErrorHandler>::find(window.handler);
    if (made != nullptr) ++made->uses;
    *errhandler = window.handler;
    return MPI_SUCCESS;
  });
}

int win_call_errhandler(MPI_Win win, int errorcode) {
  const Call call("MPI_Win_call_errhandler");
  return on_window(call, win, [&](Window& window) -> int {
    const UserErrors::Code* const user = call.process().user_errors.find(errorcode);
    const std::string text = text_of_error(errorcode, user != nullptr ? &user->text : nullptr);
    (void)raise_on(call, window, errorcode,
                   fmt::format("MPI_Win_call_errhandler on rank {} of {}: {}", window.comm->rank,
                               window.comm->name, text));
    return MPI_SUCCESS;
  });
}

}  // namespace fairlead::mpi::api
