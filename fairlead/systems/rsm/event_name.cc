#include "fairlead/systems/rsm/event_name.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <system_error>

#include "fairlead/run/machine/probes.h"

namespace fairlead::rsm {
namespace {

// Drawn by the kernel when it starts. 0: it does not tell.
std::uint64_t this_kernel() {
  std::string digits = run::machine_id();
  std::erase(digits, '-');
  std::uint64_t number = 0;
  const char* const end = digits.data() + std::min<std::size_t>(digits.size(), 16);
  const auto [read, error] = std::from_chars(digits.data(), end, number, 16);
  return error == std::errc{} && read == end ? number : 0;
}

// The kernel's number of an eventfd; negative: it is none, or has no number.
std::int64_t event_of(int fd) {
  std::ifstream file(fmt::format("/proc/self/fdinfo/{}", fd));
  for (std::string key; file >> key;) {
    std::int64_t number = -1;
    if (key == "eventfd-id:" && file >> number) return number;
  }
  return -1;
}

}  // namespace

EventName name_event(int fd) {
  const std::int64_t event = event_of(fd);
  if (event < 0) return {};
  return {this_kernel(), static_cast<std::uint32_t>(::getpid()), static_cast<std::uint32_t>(fd),
          static_cast<std::uint32_t>(event)};
}

Fd open_event(const EventName& name) {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
  if (name.kernel == 0 || name.kernel != this_kernel()) return {};
  const Fd owner(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<int>(name.process), 0u)));
  if (!owner.valid()) return {};
  Fd event(static_cast<int>(
      ::syscall(SYS_pidfd_getfd, owner.get(), static_cast<int>(name.descriptor), 0u)));
  if (!event.valid() || event_of(event.get()) != std::int64_t{name.event}) return {};
  return event;
#else
  (void)name;
  return {};
#endif
}

}  // namespace fairlead::rsm
