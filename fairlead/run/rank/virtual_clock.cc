#include "fairlead/run/rank/virtual_clock.h"

#include <dlfcn.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <system_error>

namespace fairlead::run {
namespace {
constexpr const char* kVariable = "LD_PRELOAD=";
// Looks in a row after which the machine catches up: so many, twice as many, and so on; beyond the
// last of them every so many.
constexpr std::uint64_t kLooksFirst = 8;
constexpr std::uint64_t kLooksMost = 64;
}  // namespace

VirtualClock::VirtualClock(fabric::model::GateClient& gate)
    : gate_(gate),
      process_(::getpid()),
      thread_(::gettid()),
      table_{&VirtualClock::now, &VirtualClock::sleep, this} {}

std::unique_ptr<VirtualClock> VirtualClock::install(fabric::model::GateClient& gate) {
  void* const found = ::dlsym(RTLD_DEFAULT, "fairlead_clock_install");
  if (found == nullptr) return nullptr;
  std::unique_ptr<VirtualClock> made(new VirtualClock(gate));
  reinterpret_cast<decltype(&fairlead_clock_install)>(found)(&made->table_);
  return made;
}

// A loop that looks at a clock and at memory sees what peers write there only if they get their
// turn: the machine catches up with this rank's clock. Other programs pay nothing.
void VirtualClock::catch_up() {
  const std::int64_t answered_ps = gate_.slot().answer.now_ps;
  if (answered_ps != answered_ps_) looks_ = 0;
  answered_ps_ = answered_ps;
  ++looks_;
  const bool due =
      looks_ % kLooksMost == 0 || (looks_ >= kLooksFirst && std::has_single_bit(looks_));
  if (!due) return;
  gate_.sync();
  answered_ps_ = gate_.slot().answer.now_ps;
}

// Looking costs what an empty poll does.
int VirtualClock::now(void* self, std::int64_t* nanoseconds) {
  auto& mine = *static_cast<VirtualClock*>(self);
  Ps now{};
  if (::gettid() == mine.thread_) {
    ++mine.gate_.slot().tally.clock_reads;
    mine.gate_.advance(mine.gate_.look());
    mine.catch_up();
    now = mine.gate_.now();
  } else if (::getpid() == mine.process_) {
    now = mine.gate_.shown();
  } else {
    return 0;
  }
  *nanoseconds = now.count / fairlead::nanoseconds(1).count;
  return 1;
}

int VirtualClock::sleep(void* self, std::int64_t nanoseconds) {
  auto& mine = *static_cast<VirtualClock*>(self);
  if (::gettid() != mine.thread_) return 0;
  mine.gate_.sleep(fairlead::nanoseconds(nanoseconds));
  return 1;
}

void preload_virtual_clock(std::vector<std::string>& environment) {
  namespace fs = std::filesystem;
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&preload_virtual_clock), &library) == 0) return;
  std::error_code ignored;
  const fs::path clock =
      fs::absolute(library.dli_fname, ignored).parent_path() / "libfairlead_clock.so";
  if (!fs::exists(clock, ignored)) return;
  const std::string ours = kVariable + clock.string();
  for (std::string& entry : environment) {
    if (entry.compare(0, std::string(kVariable).size(), kVariable) != 0) continue;
    entry = ours + ":" + entry.substr(std::string(kVariable).size());
    return;
  }
  environment.push_back(ours);
}

}  // namespace fairlead::run
