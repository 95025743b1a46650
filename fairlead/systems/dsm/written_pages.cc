#include "fairlead/systems/dsm/written_pages.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "fairlead/base/userfaults.h"
#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {
namespace {

// Whole pages; parts that meet in one are one run.
std::vector<PageScan::Run> pages_of(std::span<const DataPart> parts) {
  std::vector<PageScan::Run> runs;
  for (const DataPart& part : parts) {
    if (part.bytes == 0) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(part.base);
    runs.push_back({begin / kPageBytes * kPageBytes,
                    (begin + part.bytes + kPageBytes - 1) / kPageBytes * kPageBytes});
  }
  std::sort(runs.begin(), runs.end(),
            [](const PageScan::Run& a, const PageScan::Run& b) { return a.begin < b.begin; });
  std::vector<PageScan::Run> merged;
  for (const PageScan::Run& run : runs) {
    if (merged.empty() || merged.back().end < run.begin) {
      merged.push_back(run);
    } else {
      merged.back().end = std::max(merged.back().end, run.end);
    }
  }
  return merged;
}

}  // namespace

WrittenPages::WrittenPages(Fd uffd, PageScan scan, std::vector<PageScan::Run> watched)
    : uffd_(std::move(uffd)), scan_(std::move(scan)), watched_(std::move(watched)) {}

Result<std::unique_ptr<WrittenPages>> WrittenPages::of(std::span<const DataPart> parts) {
  Fd uffd(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)));
  if (!uffd.valid()) return uffd_refused("userfaultfd");
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kUserfaultWpAsync | kUserfaultWpUnpopulated;
  if (ioctl(uffd.get(), UFFDIO_API, &api) != 0) return uffd_refused("userfaultfd's features");
  Result<PageScan> scan = PageScan::open();
  if (!scan.ok()) return scan.error();
  std::vector<PageScan::Run> watched = pages_of(parts);
  for (const PageScan::Run& run : watched) {
    uffdio_register range{};
    range.range.start = run.begin;
    range.range.len = run.end - run.begin;
    range.mode = UFFDIO_REGISTER_MODE_WP;
    if (ioctl(uffd.get(), UFFDIO_REGISTER, &range) != 0) {
      return uffd_refused("userfaultfd's registration");
    }
  }
  return std::unique_ptr<WrittenPages>(
      new WrittenPages(std::move(uffd), std::move(scan.value()), std::move(watched)));
}

std::span<const PageScan::Run> WrittenPages::since_last() {
  written_.clear();
  for (const PageScan::Run& run : watched_) {
    scan_.written(run.begin, run.end, PageScan::Pages::all, written_);
  }
  return written_;
}

}  // namespace fairlead::dsm
