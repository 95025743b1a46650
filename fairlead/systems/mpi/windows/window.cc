#include "fairlead/systems/mpi/windows/window.h"

#include <algorithm>

#include "fairlead/systems/mpi/errors.h"

namespace fairlead::mpi {

bool Window::has(std::uint64_t offset, std::uint64_t bytes) const {
  if (!is_dynamic()) {
    const auto all = static_cast<std::uint64_t>(size);
    return offset <= all && bytes <= all - offset;
  }
  // What is attached in pieces that touch may be accessed as one. Pieces share no byte, so that
  // each is come by once.
  for (;;) {
    const auto here = std::find_if(regions.begin(), regions.end(), [&](const WindowRegion& region) {
      const bool begins = offset >= region.begin && offset - region.begin <= region.size;
      return begins && (bytes == 0 || offset - region.begin < region.size);
    });
    if (here == regions.end()) return false;
    const std::uint64_t rest = here->size - (offset - here->begin);
    if (bytes <= rest) return true;
    offset += rest;
    bytes -= rest;
  }
}

WindowPeer& window_peer(Process& process, Window& window, int target, const char* call) {
  WindowPeer& peer = window.peers.of(target);
  if (peer.known) [[likely]]
    return peer;
  peer.known = true;
  if (target == window.comm->rank) {
    peer.memory = window.is_dynamic() ? nullptr : window.base;
    peer.control = window.control;
    peer.size = window.control->size;
    peer.unit = window.control->unit;
    peer.units = peer.size / peer.unit;
    return peer;
  }
  lci::Port& port = process.engine().port();
  const Rank rank = window.comm->job_rank(target);
  void* const mapped = port.map(rank, window.control_segment());
  std::uint64_t told[3];  // size, unit, offset
  if (mapped != nullptr) {
    peer.control = static_cast<WindowControl*>(mapped);
    told[0] = peer.control->size;
    told[1] = peer.control->unit;
    told[2] = peer.control->offset;
  } else {
    process.engine().fetch({rank, window.control_segment(), offsetof(WindowControl, size)}, told,
                           sizeof told, call);
  }
  peer.size = told[0];
  peer.unit = told[1];
  peer.units = peer.size / peer.unit;
  if (window.flavor == MPI_WIN_FLAVOR_SHARED) {
    const bool own = window.comm->rank == 0;
    void* const all =
        own ? window.base : port.map(window.comm->job_rank(0), window.memory_segment());
    peer.memory = static_cast<std::byte*>(all) + told[2];
  } else if (!window.is_dynamic() && peer.size != 0) {
    peer.memory = static_cast<std::byte*>(port.map(rank, window.memory_segment()));
  }
  return peer;
}

int fail_on(const Call& call, Window& window, int error, const std::string& what) {
  if (window.handler == MPI_ERRORS_RETURN) return error;
  const ErrorClass* const known = find_error(error);
  const std::string class_text =
      known != nullptr ? fmt::format(" ({}: {})", known->name, known->text) : std::string();
  return raise_on(call, window, error,
                  fmt::format("{} failed on rank {} of {}: {}{}", call.name(), window.comm->rank,
                              window.comm->name, what, class_text));
}

int raise_on(const Call& call, Window& window, int error, const std::string& text) {
  if (window.handler == MPI_ERRORS_RETURN) return error;
  if (const ErrorHandler* made = Objects<ErrorHandler>::find(window.handler); made != nullptr) {
    auto handle = reinterpret_cast<MPI_Win>(&window);
    int code = error;
    call.run_outside([&] {
      made->window(&handle, &code);
      return 0;
    });
    return error;
  }
  end_job(call.process().context(), error, text);
}

void set_window_handler(Process& process, Window& window, MPI_Errhandler handler) {
  ErrorHandler* const made = Objects<ErrorHandler>::find(handler);
  ErrorHandler* const old = Objects<ErrorHandler>::find(window.handler);
  if (made != nullptr) ++made->uses;
  if (old != nullptr) process.release_handler(*old);
  window.handler = handler;
}

}  // namespace fairlead::mpi
