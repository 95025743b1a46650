#include "fairlead/systems/dsm/page_scan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/systems/dsm/mutants.h"

namespace fairlead::dsm {
namespace {

// include/uapi/linux/fs.h; the headers of Debian 12 do not have it.
struct ScanArgument {
  std::uint64_t size = sizeof(ScanArgument);
  std::uint64_t flags = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t walk_end = 0;
  std::uint64_t vec = 0;
  std::uint64_t vec_len = 0;
  std::uint64_t max_pages = 0;
  std::uint64_t category_inverted = 0;
  std::uint64_t category_mask = 0;
  std::uint64_t category_anyof_mask = 0;
  std::uint64_t return_mask = 0;
};
struct ScanRegion {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArgument);
constexpr std::uint64_t kScanWpMatching = 1 << 0;
constexpr std::uint64_t kScanCheckWpAsync = 1 << 1;
constexpr std::uint64_t kPageIsWritten = 1 << 1;
constexpr std::uint64_t kPageIsPresent = 1 << 3;
constexpr std::uint64_t kPageIsSwapped = 1 << 4;

constexpr std::size_t kRegionsMost = 512;

}  // namespace

PageScan::PageScan(Fd pagemap) : pagemap_(std::move(pagemap)) {}

Result<PageScan> PageScan::open() {
  Fd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!pagemap.valid()) return uffd_refused("/proc/self/pagemap");
  ScanArgument probe;  // of no page
  probe.category_mask = kPageIsWritten;
  if (ioctl(pagemap.get(), kPagemapScan, &probe) < 0) return uffd_refused("PAGEMAP_SCAN");
  return PageScan(std::move(pagemap));
}

void PageScan::written(std::uintptr_t begin, std::uintptr_t end, Pages pages,
                       std::vector<Run>& runs) {
  std::array<ScanRegion, kRegionsMost> regions;
  ScanArgument scan;
  scan.flags = kScanWpMatching | kScanCheckWpAsync;
  scan.start = begin;
  scan.end = end;
  scan.vec = reinterpret_cast<std::uintptr_t>(regions.data());
  scan.vec_len = regions.size();
  scan.category_mask = kPageIsWritten;
  // Pages that there never were are neither; a scan for writes alone would protect them all.
  scan.category_anyof_mask = kPageIsPresent | (pages == Pages::all ? kPageIsSwapped : 0);
  scan.return_mask = kPageIsWritten;
  while (scan.start < scan.end) {
    const int found = ioctl(pagemap_.get(), kPagemapScan, &scan);
    if (found < 0 && errno == EINTR) continue;
    FAIRLEAD_CHECK(found >= 0, "PAGEMAP_SCAN: {}", std::strerror(errno));
    for (int i = 0; i < found; ++i) {
      const ScanRegion& region = regions[static_cast<std::size_t>(i)];
      runs.push_back({region.start, region.end});
    }
    if (mutated(Mutant::write_not_found) && scan.walk_end < scan.end) return;
    scan.start = scan.walk_end;
  }
}

Error uffd_refused(const char* what) {
  return Error{fmt::format("{}: {} (it takes Linux 6.7, and a sandbox that allows it)", what,
                           std::strerror(errno))};
}

}  // namespace fairlead::dsm
