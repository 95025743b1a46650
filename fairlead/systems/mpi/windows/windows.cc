#include "fairlead/systems/mpi/windows/windows.h"

#include <memory>

namespace fairlead::mpi {

Windows& Windows::of(Process& process) {
  if (process.windows == nullptr) [[unlikely]]
    process.windows = std::make_unique<Windows>(process);
  return *process.windows;
}

Window* Windows::make(Comm& comm) {
  Window* const made = all_.make();
  made->comm = &comm;
  made->peers.resize(comm.size);
  by_id_[comm.context] = made;
  return made;
}

void Windows::free(Process& process, Window& window) {
  set_window_handler(process, window, MPI_ERRORS_ARE_FATAL);
  by_id_.erase(window.id());
  if (window.needs_processor) --needy_;
  window = Window();
  all_.free(&window);
}

void Windows::settle_wake() {
  Process* const process = Process::current();
  Windows* const windows = process != nullptr ? process->windows.get() : nullptr;
  if (windows == nullptr || process->lock != nullptr) return;
  lci::Port& port = process->engine().port();
  const bool wants = windows->needy_ != 0;
  if (wants && !port.wakes()) {
    port.wake(lci::Wake::watchdog, Ps{0});
    windows->has_woken_ = true;
  } else if (!wants && windows->has_woken_) {
    port.wake(lci::Wake::poll_only, Ps{0});
    windows->has_woken_ = false;
  }
}

}  // namespace fairlead::mpi
