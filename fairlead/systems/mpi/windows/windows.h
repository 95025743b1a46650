// The windows of a process, and what they share: the channel of their messages, keys of attributes,
// and whether peers' messages interrupt what the rank computes.
#pragma once
#include <cstdint>

#include "fairlead/systems/mpi/attributes.h"
#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/objects.h"
#include "fairlead/systems/mpi/windows/window.h"
#include "fairlead/systems/mpi/windows/window_messages.h"

namespace fairlead::mpi {

// Keys of attributes of windows. Nothing copies a window, so that copy functions never run.
struct WindowKeyval {
  MPI_Win_delete_attr_function* erase = nullptr;
  void* extra = nullptr;
  bool freed = false;  // no new attributes; those there are keep their function
  int uses = 0;        // attributes there are
};
using WindowKeyvals = KeyTable<WindowKeyval, 1 << 24>;

// A process's windows.
class Windows {
 public:
  explicit Windows(Process& process) : messages_(process, by_id_) {}
  // The process's; made at the first call.
  static Windows& of(Process& process);

  Window* make(Comm& comm);
  void free(Process& process, Window& window);
  WindowMessages& messages() { return messages_; }
  WindowKeyvals keyvals;
  // Peers do not reach the window's memory here without this rank's processor.
  void count_needy(Window& window) {
    window.needs_processor = true;
    ++needy_;
  }
  // Where the Port can, lets peers' messages interrupt this rank's computing (Port::wake) while
  // there are such windows. Outside any Call, as it changes what they are; not with several
  // threads.
  static void settle_wake();

 private:
  Objects<Window> all_;
  WindowsById by_id_;
  WindowMessages messages_;
  std::uint32_t needy_ = 0;
  bool has_woken_ = false;  // the Port wakes because of it
};

}  // namespace fairlead::mpi
