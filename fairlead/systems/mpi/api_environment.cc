// Starting and ending MPI, versions, time.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/mpi/attached_buffers.h"
#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/call_signal.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collectives/explain.h"
#include "fairlead/systems/mpi/comm_making.h"
#include "fairlead/systems/mpi/task.h"
#include "fairlead/systems/mpi/text.h"
#include "fairlead/systems/mpi/watch/watch.h"

namespace fairlead::mpi::api {
namespace {

constexpr std::uint64_t kClockOps = 20;
constexpr std::string_view kLibraryVersion = "Fairlead 0.1 (MPI 5.0 standard ABI)";

// For --stats.
void report_copies(Process& process) {
  if (std::getenv(CopyChoice::kReportVariable) == nullptr) return;
  const auto print = [&](const char* what, const CopyChoice& choice) {
    const std::string measured = choice.report();
    if (measured.empty()) return;
    fmt::print(stderr, "rank {}: large {}: {}\n", process.world().rank, what, measured);
  };
  print("messages", process.engine().choice());
  print("MPI_Allreduce", process.world().reduction_choice[0]);
  print("MPI_Reduce", process.world().reduction_choice[1]);
}

int start(const char* name, int required, int* provided) {
  const Result<run::Context*> joined = run::attach();
  if (!joined.ok()) exit_with(fmt::format("{}: {}", name, joined.error().text));
  run::Context& context = *joined.value();
  if (context.state(run::System::mpi) != nullptr) {
    end_job(context, MPI_ERR_OTHER, fmt::format("{} was called a second time", name));
  }
  const auto text = [](const char* variable) {
    const char* const told = std::getenv(variable);
    return std::string(told != nullptr ? told : "");
  };
  const Result<JobOptions> options =
      JobOptions::of_texts(text(JobOptions::kDeviceVariable), text(JobOptions::kBcastVariable),
                           text(JobOptions::kUnexpectedVariable));
  if (!options.ok())
    end_job(context, MPI_ERR_OTHER, fmt::format("{}: {}", name, options.error().text));
  JobOptions chosen = options.value();
  chosen.device = device_in(context, chosen.device);
  // Only the direct device tells threads that wait of what came to others.
  if (chosen.device != DeviceName::direct) {
    required = std::min<int>(required, MPI_THREAD_SERIALIZED);
  }
  const int level = required <= MPI_THREAD_SINGLE       ? MPI_THREAD_SINGLE
                    : required <= MPI_THREAD_FUNNELED   ? MPI_THREAD_FUNNELED
                    : required <= MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED
                                                        : MPI_THREAD_MULTIPLE;
  {
    const lci::PortTurn turn(context.port());  // its upcalls find it made
    Process& process =
        context.set_state(run::System::mpi, std::make_unique<Process>(context, level, chosen));
    tell_waits(process);
    Watch::start(process);
  }
  context.began(run::System::mpi);
  if (provided != nullptr) *provided = level;
  return MPI_SUCCESS;
}

}  // namespace

int init(int*, char***) { return start("MPI_Init", MPI_THREAD_SINGLE, nullptr); }

int init_thread(int*, char***, int required, int* provided) {
  return start("MPI_Init_thread", required, provided);
}

int query_thread(int* provided) {
  const Call call("MPI_Query_thread");
  *provided = call.process().thread_level;
  return MPI_SUCCESS;
}

int initialized(int* flag) {
  *flag = Process::current() != nullptr;
  return MPI_SUCCESS;
}

int finalized(int* flag) {
  const Process* process = Process::current();
  *flag = process != nullptr && process->phase == Process::Phase::finalized;
  return MPI_SUCCESS;
}

int finalize() {
  {
    const Call call("MPI_Finalize");
    Process& process = call.process();
    // First of all, while MPI is still there: what the standard lets libraries tidy up by.
    if (const int error = delete_attributes(call, process.self()); error != MPI_SUCCESS) {
      return call.fail(&process.self(), error, "the delete function of an attribute failed");
    }
  }
  if (Watch* const watch = Watch::current(); watch != nullptr) watch->finish();
  const Call call("MPI_Finalize");
  Process& process = call.process();
  drop_buffers(call, nullptr);
  call.engine().drain(call.name());
  explain_collectives(process);
  barrier(process, process.world(), CollectiveKind::finalize, call.name());
  call.engine().drain(call.name());
  sweep_given_up(call);
  call.engine().stop();
  process.finalize();
  report_copies(process);
  process.context().ended(run::System::mpi);
  return MPI_SUCCESS;
}

int abort(MPI_Comm, int errorcode) {
  const Process* process = Process::current();
  run::Context* context = run::current();
  const std::string reason =
      process == nullptr
          ? fmt::format("MPI_Abort with code {}, outside MPI_Init and MPI_Finalize", errorcode)
          : fmt::format("MPI_Abort with code {} on rank {}", errorcode, context->port().self());
  if (context == nullptr) exit_with(reason);
  end_job(*context, errorcode, reason);
}

int abi_get_version(int* abi_major, int* abi_minor) {
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

int get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int get_library_version(char* version, int* resultlen) {
  copy_text(kLibraryVersion, MPI_MAX_LIBRARY_VERSION_STRING, version, resultlen);
  return MPI_SUCCESS;
}

int get_processor_name(char* name, int* resultlen) {
  const Call call("MPI_Get_processor_name");
  copy_text(call.process().context().processor_name(), MPI_MAX_PROCESSOR_NAME, name, resultlen);
  return MPI_SUCCESS;
}

double wtime() {
  Process* const process = Process::current();
  if (process == nullptr) exit_with("MPI_Wtime was called before MPI_Init");
  lci::Port& port = run::current()->port();
  // In virtual time looking takes time, so that a loop on the clock ends.
  port.charge({.ops = kClockOps});
  if (!process->engine().free_work()) run::current()->looked_at_clock();
  return to_seconds(port.now());
}

double wtick() { return 1e-9; }

// Levels of control are a profiling tool's matter.
int pcontrol(const int) { return MPI_SUCCESS; }

int is_thread_main(int* flag) {
  const Call call("MPI_Is_thread_main");
  if (const int error = call.check_output(nullptr, flag, "flag")) return error;
  *flag = call.process().main_thread == std::this_thread::get_id();
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
