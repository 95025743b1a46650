#include "fairlead/systems/mpi/call_signal.h"

#include "fairlead/run/node/call_signal.h"

namespace fairlead::mpi {
namespace {

const Comm* group_of(void* process, std::uint32_t context) {
  return static_cast<const Process*>(process)->find_context(context);
}

void print_call(int) {
  Process* const process = Process::current();
  if (process == nullptr) return;
  const bool over = process->phase == Process::Phase::finalized;
  run::print_call(process->context(), over ? "has called MPI_Finalize" : "");
}

}  // namespace

void tell_waits(Process& process) {
  run::RankCall* const call = process.context().rank_call();
  if (call == nullptr) return;
  process.engine().tell_waits({call, &group_of, &process});
  run::answer_call_signal(process.context(), &print_call);
}

}  // namespace fairlead::mpi
