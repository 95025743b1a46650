#include "fairlead/systems/dsm/tmk.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "fairlead/run/context.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/dsm.h"

// Part of the interface: a process is one rank.
unsigned Tmk_nprocs = 0;
unsigned Tmk_proc_id = 0;

namespace fairlead::dsm {
namespace {

[[noreturn]] void exit_with(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  std::exit(1);
}

Core& running(const char* call) {
  Core* const core = Core::current();
  if (core == nullptr) exit_with(fmt::format("{} before Tmk_startup", call));
  return *core;
}

}  // namespace
}  // namespace fairlead::dsm

using fairlead::dsm::running;

extern "C" {

void Tmk_startup(int, char**) {
  const fairlead::Result<fairlead::run::Context*> joined = fairlead::run::attach();
  if (!joined.ok()) {
    fairlead::dsm::exit_with(fmt::format("Tmk_startup: {}", joined.error().text));
  }
  fairlead::run::Context& context = *joined.value();
  const auto options = fairlead::dsm::Options::of_environment();
  if (!options.ok()) context.abort_job(1, fmt::format("Tmk_startup: {}", options.error().text));
  const auto started = fairlead::dsm::Dsm::start(context, options.value());
  if (!started.ok()) context.abort_job(1, fmt::format("Tmk_startup: {}", started.error().text));
  Tmk_nprocs = started.value()->size();
  Tmk_proc_id = started.value()->self();
}

void Tmk_exit(int status) {
  fairlead::dsm::Core& core = running("Tmk_exit");
  if (status != 0) core.context().abort_job(status, fmt::format("Tmk_exit({})", status));
  core.dsm().stop();
  std::exit(0);
}

void Tmk_barrier(unsigned id) {
  fairlead::dsm::Core& core = running("Tmk_barrier");
  if (id >= TMK_NBARRIERS) {
    core.fail(fmt::format("Tmk_barrier({}): they are below {}", id, TMK_NBARRIERS));
  }
  core.barrier(id, "Tmk_barrier");
}

void Tmk_lock_acquire(unsigned id) { running("Tmk_lock_acquire").acquire(id); }
void Tmk_lock_release(unsigned id) { running("Tmk_lock_release").release(id); }
void Tmk_lock_cond_wait(unsigned id, unsigned condition) {
  running("Tmk_lock_cond_wait").cond_wait(id, condition);
}
void Tmk_lock_cond_signal(unsigned id, unsigned condition) {
  running("Tmk_lock_cond_signal").cond_wake(id, condition, false);
}
void Tmk_lock_cond_broadcast(unsigned id, unsigned condition) {
  running("Tmk_lock_cond_broadcast").cond_wake(id, condition, true);
}
char* Tmk_malloc(unsigned size) { return static_cast<char*>(running("Tmk_malloc").allocate(size)); }
void Tmk_free(char* allocated) { running("Tmk_free").free(allocated); }
void Tmk_touch(const void* begin, unsigned long bytes, int writes) {
  running("Tmk_touch")
      .touch(begin, bytes, writes != 0,
             reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
}
void Tmk_distribute(void* variable, int size) {
  fairlead::dsm::Core& core = running("Tmk_distribute");
  if (size < 0) core.fail(fmt::format("Tmk_distribute of {} bytes", size));
  core.distribute(variable, static_cast<std::size_t>(size));
}

}  // extern "C"
