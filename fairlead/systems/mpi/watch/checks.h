// What --check looks for in the calls of one rank: collectives that members enter differently,
// buffers that overlap those of calls under way, one-sided accesses that do not go together,
// handles that are not given back.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/watch/agreement.h"
#include "fairlead/systems/mpi/watch/buffers.h"
#include "fairlead/systems/mpi/watch/calls.h"
#include "fairlead/systems/mpi/watch/epochs.h"
#include "fairlead/systems/mpi/watch/handles.h"

namespace fairlead::mpi {

// What is known before a call, and needed after it.
struct CallState {
  std::vector<MPI_Request> requests;  // that it takes
  const void* object = nullptr;       // likewise
  std::vector<Region> regions;
  std::optional<Epochs::Made> access;
};

struct Window;

class Checks {
 public:
  explicit Checks(Process& process) : process_(process) { agreement_.know(process.world()); }

  // An MPI error class, raised: the call is not to be made.
  int before(CallId call, const Given& given, CallState& state);
  void after(CallId call, const Given& given, int answer, const CallState& state);
  // All ranks call it in MPI_Finalize: rank 0 prints what is not given back.
  void finish();

 private:
  void agree(const Call& call, CallId id, const Given& given);
  int check_window(const Call& call, CallId id, const Given& given, CallState& state);
  int check_access(const Call& call, CallId id, const Given& given, CallState& state);
  void place_in_epoch(const Call& call, Window& window, Epochs::Made& access);
  int check_win_free(const Call& call, Window& window);
  void note_window(const Call& call, CallId id, const Given& given, const CallState& state);
  void end_epoch(const Call& call, CallId id, Window& window, int target);
  Epochs::Count counting(const Call& call, Window& window);
  int check_buffers(const Call& call, CallId id, const Given& given, CallState& state);
  void note_taken(const Given& given, const CallState& state);
  void note_made(CallId id, const Given& given, const CallState& state);
  std::string describe(CallId id, const Given& given) const;
  std::string lost_handles() const;

  Process& process_;
  Agreement agreement_;
  Handles handles_;
  ActiveBuffers buffers_;
  AccessBuffers access_buffers_;
  Epochs epochs_;
};

}  // namespace fairlead::mpi
