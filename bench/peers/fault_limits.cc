// The least that page-based shared memory in user space pays for a page, measured beside it
// (dsm.py): a page that is missing, by a signal, a copy and UFFDIO_CONTINUE; the first write to a
// page that is write-protected asynchronously, by the kernel alone.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/peers/limits.h"

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 1024;
constexpr int kRounds = 9;
// From Linux 6.7 (include/uapi/linux/userfaultfd.h); the headers of Debian 12 do not have them.
constexpr std::uint64_t kFeatureWpShmem = 1 << 12;
constexpr std::uint64_t kFeatureWpUnpopulated = 1 << 13;
constexpr std::uint64_t kFeatureWpAsync = 1 << 15;
constexpr std::uint64_t kContinueModeWp = 1 << 1;

int uffd = -1;
char* view = nullptr;   // what the program touches
char* alias = nullptr;  // the memory behind it
char* home = nullptr;   // where pages come from

void need(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fault_limits: ");
  std::perror(what);
  std::exit(1);
}

// Calls nothing that a signal handler may not.
void missing(int, siginfo_t* info, void*) {
  const auto offset =
      (reinterpret_cast<std::uintptr_t>(info->si_addr) - reinterpret_cast<std::uintptr_t>(view)) /
      kPage * kPage;
  if (offset >= kPages * kPage) _exit(1);
  std::memcpy(alias + offset, home + offset, kPage);
  uffdio_continue range{};
  range.range.start = reinterpret_cast<std::uintptr_t>(view + offset);
  range.range.len = kPage;
  range.mode = kContinueModeWp;
  if (ioctl(uffd, UFFDIO_CONTINUE, &range) != 0) _exit(1);
}

char* map(int file) {
  void* const memory = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  need(memory != MAP_FAILED, "mmap");
  return static_cast<char*>(memory);
}

int make_file() {
  const int file = memfd_create("fault_limits", MFD_CLOEXEC);
  need(file >= 0 && ftruncate(file, kPages * kPage) == 0, "memfd");
  return file;
}

void prepare() {
  const int file = make_file();
  view = map(file);
  alias = map(file);
  home = map(make_file());
  std::memset(alias, 1, kPages * kPage);
  std::memset(home, 2, kPages * kPage);
  uffd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
  need(uffd >= 0, "userfaultfd");
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MINOR_SHMEM | kFeatureWpShmem |
                 kFeatureWpUnpopulated | kFeatureWpAsync;
  need(ioctl(uffd, UFFDIO_API, &api) == 0, "UFFDIO_API");
  uffdio_register range{};
  range.range.start = reinterpret_cast<std::uintptr_t>(view);
  range.range.len = kPages * kPage;
  range.mode = UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
  need(ioctl(uffd, UFFDIO_REGISTER, &range) == 0, "UFFDIO_REGISTER");
  struct sigaction action {};
  action.sa_sigaction = missing;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  need(sigaction(SIGBUS, &action, nullptr) == 0, "sigaction");
}

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  limits::pin(1);
  prepare();
  std::vector<double> fetches;
  std::vector<double> writes;
  for (int round = 0; round < kRounds; ++round) {
    need(madvise(view, kPages * kPage, MADV_DONTNEED) == 0, "madvise");
    std::uint64_t sum = 0;
    double start = limits::seconds_now();
    for (std::size_t i = 0; i < kPages; ++i) {
      sum += *reinterpret_cast<volatile unsigned char*>(view + i * kPage);
    }
    fetches.push_back((limits::seconds_now() - start) / kPages * 1e6);
    if (sum != 2 * kPages) {
      std::fprintf(stderr, "fault_limits: read %lu, not %zu\n", static_cast<unsigned long>(sum),
                   2 * kPages);
      return 1;
    }
    start = limits::seconds_now();
    for (std::size_t i = 0; i < kPages; ++i) {
      *reinterpret_cast<volatile unsigned char*>(view + i * kPage) = 3;
    }
    writes.push_back((limits::seconds_now() - start) / kPages * 1e6);
  }
  limits::print_figure("page_fetch", 0, median(fetches), "us");
  limits::print_figure("first_write", 0, median(writes), "us");
  return 0;
}
