#include "fairlead/run/machine/probes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/membarrier.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "fairlead/base/fd.h"
#include "fairlead/base/loaded_library.h"
#include "fairlead/base/userfaults.h"
#include "fairlead/fabric/ofi/ofi_nic.h"
#include "fairlead/fabric/udp/libcrypto.h"
#include "fairlead/fabric/udp/udp_nic.h"

namespace fairlead::run {
namespace {

std::string reason() { return std::strerror(errno); }

std::string first_word_of(const char* path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// From one sibling to another, as ranks are to each other: what a parent may do to its child says
// nothing under Yama's ptrace_scope 1.
Probe probe_process_vm() {
  Probe probe{"process_vm access", false, ""};
  const std::uint64_t told = 0x66616972;
  const pid_t owner = ::fork();
  if (owner == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  const pid_t reader = owner < 0 ? -1 : ::fork();
  if (reader == 0) {
    std::uint64_t seen = 0;
    iovec to{&seen, sizeof seen};
    iovec from{const_cast<std::uint64_t*>(&told), sizeof told};
    const ssize_t got = ::process_vm_readv(owner, &to, 1, &from, 1, 0);
    ::_exit(got == sizeof seen && seen == told ? 0 : errno != 0 ? errno : EIO);
  }
  int status = 0;
  if (reader > 0) ::waitpid(reader, &status, 0);
  if (owner > 0) {
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
  }
  probe.works = reader > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (probe.works) {
    probe.detail = "large messages move with one copy";
    return probe;
  }
  const std::string scope = first_word_of("/proc/sys/kernel/yama/ptrace_scope");
  probe.detail = fmt::format(
      "{}{}: large messages take two copies", std::strerror(WEXITSTATUS(status)),
      scope.empty() || scope == "0" ? "" : fmt::format(" (kernel.yama.ptrace_scope is {})", scope));
  return probe;
}

// Says which engine page-based shared memory takes where it may choose.
Probe probe_userfaultfd() {
  Probe probe{"userfaultfd", false, ""};
  Fd fault(
      static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kUserfaultFeatures;
  probe.works = fault.valid() && ::ioctl(fault.get(), UFFDIO_API, &api) == 0;
  if (probe.works) {
    probe.detail = "page-based shared memory takes the engine uffd: the kernel notes writes";
    return probe;
  }
  probe.detail = fmt::format(
      "{}: page-based shared memory takes the engine mprotect, which pays a signal for each first "
      "write and a mapping for each run of pages",
      fault.valid() ? "not all of Linux 6.7's" : reason());
  return probe;
}

Probe probe_io_uring() {
  Probe probe{"io_uring", false, ""};
  // struct io_uring_params, all zero: 120 bytes.
  alignas(8) std::byte params[120] = {};
  const Fd ring(static_cast<int>(::syscall(SYS_io_uring_setup, 4, params)));
  probe.works = ring.valid();
  if (probe.works) {
    probe.detail = "batched system calls";
    return probe;
  }
  const std::string disabled = first_word_of("/proc/sys/kernel/io_uring_disabled");
  probe.detail = fmt::format("{}{}: plain system calls are used", reason(),
                             disabled.empty() || disabled == "0"
                                 ? ""
                                 : fmt::format(" (kernel.io_uring_disabled is {})", disabled));
  return probe;
}

Probe probe_membarrier() {
  Probe probe{"membarrier", false, ""};
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  probe.works = commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0;
  probe.detail = probe.works ? "senders need no fence to find a sleeping receiver"
                             : fmt::format("{}: senders pay a fence per message",
                                           commands < 0 ? reason() : "no expedited global barrier");
  return probe;
}

Probe probe_memfd() {
  Probe probe{"memfd", false, ""};
  const Fd memory(::memfd_create("fairlead-probe", MFD_CLOEXEC));
  probe.works = memory.valid() && ::ftruncate(memory.get(), 1 << 20) == 0;
  probe.detail = probe.works ? "jobs leave nothing in /dev/shm"
                             : fmt::format("{}: jobs on shared memory cannot start", reason());
  return probe;
}

Probe probe_processors() {
  const CpuLimits limits = cpu_limits();
  Probe probe{"processors", true, ""};
  probe.detail = fmt::format("{} allowed", limits.allowed.size());
  if (limits.cgroup_cpus > 0) {
    probe.detail += fmt::format(", a cgroup grants the time of {:g}", limits.cgroup_cpus);
  }
  probe.detail += fmt::format(": up to {} ranks have one of their own", limits.usable);
  return probe;
}

Probe probe_udp() {
  Probe probe{"udp", false, ""};
  Result<std::unique_ptr<fabric::UdpNic>> nic = fabric::open_udp({});
  if (!nic.ok()) {
    probe.detail = fmt::format("{}: no network to other hosts, no --on udp", nic.error().text);
    return probe;
  }
  probe.works = true;
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int one = 1;
  const bool joined = ::setsockopt(socket.get(), SOL_UDP, UDP_GRO, &one, sizeof one) == 0;
  const bool cut = ::setsockopt(socket.get(), SOL_UDP, UDP_SEGMENT, &one, sizeof one) == 0;
  const std::size_t bytes = nic.value()->socket_bytes();
  constexpr std::size_t kEnough = 4 << 20;
  probe.detail = fmt::format("{} KiB before the kernel drops{}; {}", bytes / 1024,
                             bytes < kEnough ? " (raise net.core.rmem_max to 8388608)" : "",
                             joined && cut ? "many datagrams by one system call (GSO, GRO)"
                                           : "a system call for each datagram (no GSO or no GRO)");
  return probe;
}

Probe probe_crypto() {
  const Result<fabric::Libcrypto>& library = fabric::Libcrypto::get();
  if (!library.ok()) return {"libcrypto", false, library.error().text};
  return {"libcrypto", true, "--auth full and --auth encrypt can be used"};
}

Probe probe_ofi() {
  const Result<std::vector<fabric::OfiProvider>> found = fabric::ofi_providers("", "");
  if (!found.ok()) return {"libfabric", false, found.error().text};
  const fabric::OfiProvider& first = found.value().front();
  std::string detail = fmt::format("--on ofi would use {} ({})", first.name, first.atomics);
  for (std::size_t i = 1; i < found.value().size(); ++i) {
    const fabric::OfiProvider& other = found.value()[i];
    detail += fmt::format("; {} {}", other.name, other.passed_over);
  }
  return {"libfabric", true, detail};
}

Probe probe_pmix() {
  if (!LoadedLibrary::load(kPmixLibrary).ok()) {
    return {"PMIx launchers", false,
            fmt::format("no {} (Debian: libpmix2): Open MPI's mpirun and srun --mpi=pmix cannot "
                        "start ranks",
                        kPmixLibrary)};
  }
  return {"PMIx launchers", true, "Open MPI's mpirun and srun --mpi=pmix can start ranks"};
}

}  // namespace

std::vector<Probe> probe_kernel() {
  return {probe_processors(), probe_memfd(),      probe_process_vm(), probe_userfaultfd(),
          probe_io_uring(),   probe_membarrier(), probe_udp(),        probe_crypto(),
          probe_ofi(),        probe_pmix()};
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return name;
}

std::string machine_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

}  // namespace fairlead::run
