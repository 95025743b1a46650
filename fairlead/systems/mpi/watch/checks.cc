#include "fairlead/systems/mpi/watch/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "fairlead/systems/mpi/datatypes/derived_type.h"
#include "fairlead/systems/mpi/neighbours.h"
#include "fairlead/systems/mpi/task.h"
#include "fairlead/systems/mpi/watch/gather_texts.h"
#include "fairlead/systems/mpi/windows/window.h"

namespace fairlead::mpi {
namespace {

// A request that is done, in the place of the process's one for all sends that are done at once:
// each handle of the program's is to be one of its own.
class DoneSend final : public Task {
 public:
  explicit DoneSend(Process& process) : Task(process, RequestKind::task) {
    request().state = State::done;
  }
  int cancel(const Call&) override { return MPI_SUCCESS; }
};

// The handle where a program has it.
const void* handle_at(const void* place) {
  const void* handle = nullptr;
  if (place != nullptr) std::memcpy(&handle, place, sizeof handle);
  return handle;
}

MPI_Comm comm_of(const void* handle) { return static_cast<MPI_Comm>(const_cast<void*>(handle)); }

MPI_Win win_of(const void* handle) { return static_cast<MPI_Win>(const_cast<void*>(handle)); }

std::string name_of_comm(const Comm& comm) { return comm.given.empty() ? comm.name : comm.given; }

std::string name_of_window(const Window& window) {
  return window.name.empty() ? window.comm->name : window.name;
}

std::string tag_text(int tag) {
  return tag == MPI_ANY_TAG ? std::string("any tag") : fmt::format("tag {}", tag);
}

// The epoch that permits an access of `target` now.
EpochKind epoch_of(const Window& window, int target) {
  const std::vector<int>& started = window.targets;
  if (window.started && std::find(started.begin(), started.end(), target) != started.end()) {
    return EpochKind::start;
  }
  return window.all_locked || window.has_locked(target) ? EpochKind::lock : EpochKind::fence;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

int Checks::before(CallId id, const Given& given, CallState& state) {
  if (id == CallId::Finalize) return MPI_SUCCESS;
  const Call call(row_of(id).name);
  agreement_.look(call);
  if (given.takes_requests && given.requests.at != nullptr && given.requests.count > 0) {
    state.requests.assign(given.requests.at, given.requests.at + given.requests.count);
  }
  if (given.takes_object) state.object = handle_at(given.object.at);
  if (const int error = check_buffers(call, id, given, state)) return error;
  if (const int error = check_window(call, id, given, state)) return error;
  agree(call, id, given);
  return MPI_SUCCESS;
}

void Checks::agree(const Call& call, CallId id, const Given& given) {
  const CallRow& row = row_of(id);
  const bool frees = row.nature == Nature::comm_free;
  const bool among_neighbours = row.nature == Nature::neighbour;
  if (!frees && !among_neighbours && row.nature != Nature::collective &&
      row.nature != Nature::maker) {
    return;
  }
  Comm* const comm = process_.find(frees ? comm_of(handle_at(given.object.at)) : given.comm);
  if (comm == nullptr || (among_neighbours && !has_topology(*comm))) return;
  if (frees && (comm == &process_.world() || comm == &process_.self())) return;
  agreement_.enter(call, *comm, Entry::of(*comm, id, given), row.form == CallForm::at_once);
  if (frees) agreement_.forget(*comm);
}

int Checks::check_window(const Call& call, CallId id, const Given& given, CallState& state) {
  const CallRow& row = row_of(id);
  if (row.nature == Nature::access) return check_access(call, id, given, state);
  if (id == CallId::Win_post || id == CallId::Win_unlock || id == CallId::Win_unlock_all) {
    Window* const window = Objects<Window>::find(given.win);
    if (window != nullptr) end_epoch(call, id, *window, given.to);
    return MPI_SUCCESS;
  }
  const bool frees = row.nature == Nature::win_free;
  if (!frees && row.nature != Nature::fence) return MPI_SUCCESS;
  Window* const window =
      Objects<Window>::find(frees ? win_of(handle_at(given.object.at)) : given.win);
  if (window == nullptr) return MPI_SUCCESS;
  if (frees) {
    if (const int error = check_win_free(call, *window)) return error;
  }
  Comm& comm = *window->comm;
  comm.given = window->name;
  Entry entry = Entry::of(comm, id, given);
  entry.accesses = epochs_.past(window->id());
  for (const Access& one : epochs_.open(window->id())) {
    if (one.epoch == EpochKind::fence) entry.accesses.push_back(one);
  }
  agreement_.enter(call, comm, std::move(entry), true);
  epochs_.forget(window->id());
  access_buffers_.end(window->id(), Epochs::kAllTargets);
  if (frees) agreement_.forget(comm);
  return MPI_SUCCESS;
}

int Checks::check_win_free(const Call& call, Window& window) {
  const std::vector<Access> open = epochs_.open(window.id());
  if (open.empty()) return MPI_SUCCESS;
  return fail_on(
      call, window, MPI_ERR_RMA_SYNC,
      fmt::format("--check: no fence, or other call, has ended the epoch of an access to "
                  "rank {}",
                  open[0].target));
}

// What tells the access apart from those of other ranks.
void Checks::place_in_epoch(const Call& call, Window& window, Epochs::Made& access) {
  access.epoch = epoch_of(window, access.target);
  if (access.epoch == EpochKind::start) {
    access.from = exposures_of(process_, window, access.target, call.name());
  }
  if (access.epoch != EpochKind::lock) return;
  // As the call would do, which takes the lock of MPI_Win_lock_all at the first access: what was
  // completed before it was taken is to be in the count.
  WindowPeer& peer = window_peer(process_, window, access.target, call.name());
  if (window.all_locked && peer.lock == WindowLock::none) {
    lock_target(process_, window, access.target, window.all_lock, call.name());
  }
  access.from = completions_of(process_, window, access.target, call.name());
}

int Checks::check_access(const Call& call, CallId id, const Given& given, CallState& state) {
  Window* const window = Objects<Window>::find(given.win);
  // Wrong arguments are the call's to tell.
  const bool there = window != nullptr && given.to >= 0 && given.to < window->comm->size &&
                     given.far.count > 0 && find_body(given.far.type) != nullptr;
  if (!there || (given.far.disp < 0 && !window->is_dynamic())) return MPI_SUCCESS;
  Epochs::Made access{window->id(), given.to, AccessKind::combine, {}, EpochKind::fence, 0};
  if (id == CallId::Put || id == CallId::Rput) access.kind = AccessKind::put;
  if (id == CallId::Get || id == CallId::Rget) access.kind = AccessKind::get;
  const std::uint64_t unit =
      window->is_dynamic() ? 1 : window_peer(process_, *window, given.to, call.name()).unit;
  access.ranges = bytes_at_target(static_cast<std::uint64_t>(given.far.disp) * unit,
                                  given.far.count, given.far.type);
  place_in_epoch(call, *window, access);
  if (const std::string found = epochs_.conflict(access); !found.empty()) {
    return fail_on(call, *window, MPI_ERR_RMA_CONFLICT, found);
  }
  // The end of its request ends the get: that is not followed.
  if (id != CallId::Rget) state.access = std::move(access);
  return MPI_SUCCESS;
}

Epochs::Count Checks::counting(const Call& call, Window& window) {
  return [this, &call, &window](int target) {
    return count_completion(process_, window, target, call.name());
  };
}

// Before the call: what others may know of only when it has been counted.
void Checks::end_epoch(const Call& call, CallId id, Window& window, int target) {
  if (id == CallId::Win_post) {
    if (!window.posted) ++window.control->exposures;
    return;
  }
  if (id == CallId::Win_unlock_all) {
    if (!window.all_locked || !epochs_.has_open(window.id(), Epochs::kAllTargets)) return;
    flush_all(process_, window, call.name());
    return epochs_.end(window.id(), Epochs::kAllTargets, counting(call, window));
  }
  if (window.all_locked || target < 0 || target >= window.comm->size) return;
  if (!window.has_locked(target) || !epochs_.has_open(window.id(), target)) return;
  flush(process_, window, target, call.name());
  epochs_.end(window.id(), target, counting(call, window));
}

void Checks::note_window(const Call& call, CallId id, const Given& given, const CallState& state) {
  Window* const window = Objects<Window>::find(given.win);
  if (window == nullptr) return;
  if (state.access) {
    epochs_.add(*state.access);
    if (row_of(id).form == CallForm::at_once) {
      access_buffers_.add(window->id(), name_of_window(*window), given.to, state.regions);
    }
  }
  if (row_of(id).nature != Nature::completion) return;
  const bool of_one =
      id == CallId::Win_flush || id == CallId::Win_flush_local || id == CallId::Win_unlock;
  access_buffers_.end(window->id(), of_one ? given.to : Epochs::kAllTargets);
  const Epochs::Count count = counting(call, *window);
  switch (id) {
    case CallId::Win_flush_local:
      return epochs_.end_gets(window->id(), given.to, count);
    case CallId::Win_flush_local_all:
      return epochs_.end_gets(window->id(), Epochs::kAllTargets, count);
    case CallId::Win_flush:
      return epochs_.end(window->id(), given.to, count);
    case CallId::Win_flush_all:
    case CallId::Win_complete:
      return epochs_.end(window->id(), Epochs::kAllTargets, count);
    default:  // counted before the call
      break;
  }
}

int Checks::check_buffers(const Call& call, CallId id, const Given& given, CallState& state) {
  const CallRow& row = row_of(id);
  const Comm* const comm = process_.find(given.comm);
  if (row.nature == Nature::start || row.nature == Nature::startall) {
    // Those that one call starts are checked against each other, too.
    for (const MPI_Request request : state.requests) {
      ActiveBuffers::Use* const use = buffers_.find(request);
      if (use == nullptr) continue;
      if (const std::string found = buffers_.conflict(use->regions); !found.empty()) {
        return call.fail(nullptr, MPI_ERR_BUFFER, fmt::format("{}, {}", use->what, found));
      }
      use->is_active = true;
    }
    return MPI_SUCCESS;
  }
  state.regions = regions_of(comm != nullptr ? *comm : process_.world(), id, given);
  if (row.form == CallForm::persistent) return MPI_SUCCESS;
  std::string found = buffers_.conflict(state.regions);
  if (found.empty()) found = access_buffers_.conflict(state.regions);
  if (found.empty()) return MPI_SUCCESS;
  Window* const window = Objects<Window>::find(given.win);
  return window != nullptr ? fail_on(call, *window, MPI_ERR_BUFFER, found)
                           : call.fail(comm, MPI_ERR_BUFFER, found);
}

void Checks::after(CallId id, const Given& given, int answer, const CallState& state) {
  const Call call(row_of(id).name);
  note_taken(given, state);
  if (answer != MPI_SUCCESS) return;
  note_made(id, given, state);
  note_window(call, id, given, state);
}

void Checks::note_taken(const Given& given, const CallState& state) {
  for (std::size_t i = 0; i < state.requests.size(); ++i) {
    const MPI_Request before = state.requests[i];
    const MPI_Request now = given.requests.at[i];
    if (now != before) {
      handles_.freed(ObjectKind::request, before);
      buffers_.remove(before);
      continue;
    }
    ActiveBuffers::Use* const use = buffers_.find(now);
    if (use != nullptr && reinterpret_cast<Request*>(now)->state == State::inactive) {
      use->is_active = false;
    }
  }
  if (given.takes_object && handle_at(given.object.at) != state.object) {
    handles_.freed(given.object.kind, state.object);
  }
}

void Checks::note_made(CallId id, const Given& given, const CallState& state) {
  if (!given.takes_object && given.object.at != nullptr) {
    const void* const handle = handle_at(given.object.at);
    handles_.made(given.object.kind, handle, row_of(id).name);
    // What is begun is no communicator yet.
    Comm* const comm =
        given.object.kind == ObjectKind::comm ? process_.find(comm_of(handle)) : nullptr;
    if (comm != nullptr && row_of(id).form == CallForm::at_once) agreement_.know(*comm);
    if (given.object.kind == ObjectKind::win) {
      if (Window* const window = Objects<Window>::find(win_of(handle)); window != nullptr) {
        agreement_.know(*window->comm);
      }
    }
  }
  if (given.takes_requests || given.requests.at == nullptr) return;
  MPI_Request& request = *given.requests.at;
  if (request == reinterpret_cast<MPI_Request>(&process_.done_send())) {
    request = (new DoneSend(process_))->handle();  // the request's, from here on
  }
  const std::string what = describe(id, given);
  handles_.made(ObjectKind::request, request, what);
  if (request == reinterpret_cast<MPI_Request>(&process_.done_receive())) return;
  buffers_.add(request, {what, state.regions, row_of(id).form == CallForm::begun});
}

std::string Checks::describe(CallId id, const Given& given) const {
  const CallRow& row = row_of(id);
  std::string text = row.name;
  if (row.nature == Nature::send || row.nature == Nature::exchange) {
    text += fmt::format(" to rank {}, {}", given.to, tag_text(given.out_tag));
  }
  if (row.nature == Nature::exchange) text += " and";
  if (row.nature == Nature::exchange ||
      (row.nature == Nature::receive && given.comm != MPI_COMM_NULL)) {
    text +=
        given.from == MPI_ANY_SOURCE ? " from any rank" : fmt::format(" from rank {}", given.from);
    text += ", " + tag_text(given.in_tag);
  }
  if (const Comm* const comm = process_.find(given.comm); comm != nullptr) {
    text += ", " + name_of_comm(*comm);
  }
  return text;
}

std::string Checks::lost_handles() const {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [handle, made] : handles_.all()) {
    std::string what = made.what;
    if (handle.first == ObjectKind::comm) {
      const Comm* const comm = process_.find(comm_of(handle.second));
      if (comm != nullptr && !comm->given.empty()) what += fmt::format(" ({})", comm->given);
    }
    counts[fmt::format("{} of {}", name_of(handle.first), what)] += made.times;
  }
  std::string text;
  for (const auto& [what, times] : counts) {
    text += times == 1 ? fmt::format("{}\n", what) : fmt::format("{}, {} times\n", what, times);
  }
  return text;
}

void Checks::finish() {
  {
    const Call call(row_of(CallId::Finalize).name);
    // Every member has entered every collective of every communicator that there is.
    std::map<std::uint32_t, Comm*> comms = {{process_.world().context, &process_.world()}};
    std::map<std::uint32_t, std::vector<Access>> accesses;  // of those that are a window's
    for (const auto& [handle, made] : handles_.all()) {
      if (handle.first == ObjectKind::win) {
        const Window* const window = Objects<Window>::find(win_of(handle.second));
        if (window == nullptr) continue;
        comms[window->id()] = window->comm;
        accesses[window->id()] = epochs_.past(window->id());
      }
      if (handle.first != ObjectKind::comm) continue;
      Comm* const comm = process_.find(comm_of(handle.second));
      if (comm != nullptr) comms[comm->context] = comm;
    }
    for (const auto& [context, comm] : comms) {
      Entry entry;
      entry.call = CallId::Finalize;
      entry.accesses = accesses[context];
      agreement_.enter(call, *comm, entry, true);
    }
    agreement_.finish(call);
  }
  std::map<std::string, std::vector<std::size_t>> ranks;
  const std::vector<std::string> texts = gather_texts(process_, lost_handles());
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    for (const std::string& line : lines_of(texts[rank])) ranks[line].push_back(rank);
  }
  for (const auto& [line, who] : ranks) {
    fmt::print(stderr, "fairlead: --check: MPI_Finalize on {}: not given back: {}\n",
               ranks_text(who), line);
  }
}

}  // namespace fairlead::mpi
