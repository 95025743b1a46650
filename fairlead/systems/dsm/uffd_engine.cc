// Missing pages by userfaultfd, without a thread of its own: a touch raises SIGBUS in the thread
// that touches. Pages are admitted write-protected; the kernel itself lifts the protection at the
// first write (WP_ASYNC), and PAGEMAP_SCAN tells which pages were written and protects them again.
// Works without privileges (UFFD_USER_MODE_ONLY).
//
// A scan costs by what is cached, not by what was written. So a block in which nothing was written
// for some scans leaves them: it is protected as a whole, and the next write to it, a SIGSEGV,
// brings it back.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/base/fd.h"
#include "fairlead/base/userfaults.h"
#include "fairlead/systems/dsm/fault_engine.h"
#include "fairlead/systems/dsm/page_scan.h"

namespace fairlead::dsm {
namespace {

// From Linux 6.7 (include/uapi/linux/userfaultfd.h); the headers of Debian 12 do not have it.
constexpr std::uint64_t kContinueModeWp = 1 << 1;
constexpr PageId kBlockPages = 512;     // 2 MiB
constexpr std::uint8_t kQuietMost = 4;  // scans of a block that find nothing

class UffdEngine final : public FaultEngine {
 public:
  UffdEngine(const Memory& memory, Fd uffd, PageScan scan)
      : memory_(memory),
        uffd_(std::move(uffd)),
        scan_(std::move(scan)),
        uncertain_(memory.pages()),
        blocks_((memory.pages() + kBlockPages - 1) / kBlockPages) {}

  const char* name() const override { return "uffd"; }

  void admit(PageId first, PageId count) override { map_in(first, count, kContinueModeWp); }

  // What is not protected against writes counts as written.
  void admit_written(PageId page) override {
    if (blocks_[page / kBlockPages].state == Block::left) bring_back(page / kBlockPages);
    map_in(page, 1, 0);
  }

  void expel(PageId first, PageId count) override {
    const int answer = madvise(memory_.view(first), std::size_t{count} * kPageBytes, MADV_DONTNEED);
    FAIRLEAD_CHECK(answer == 0, "madvise: {}", std::strerror(errno));
  }

  // The first write to a block that left the scans; else the kernel took the page out of the
  // address space (to write it to swap, to move it), and what it knew of writes with it.
  bool fault_inside(PageId page) override {
    if (blocks_[page / kBlockPages].state == Block::left) {
      bring_back(page / kBlockPages);
      return true;
    }
    if (uncertain_[page] == 0) {
      uncertain_[page] = 1;
      ++uncertain_count_;
    }
    admit(page, 1);
    return true;
  }

  bool mark_written(PageId page) override {
    if (blocks_[page / kBlockPages].state == Block::left) bring_back(page / kBlockPages);
    return false;
  }

  void collect(std::vector<PageId>& written) override {
    const std::size_t before = written.size();
    const PageId blocks = static_cast<PageId>(blocks_.size());
    for (PageId block = 0; block < blocks;) {
      const PageId begin = block;
      while (block < blocks && blocks_[block].state == Block::scanned) ++block;
      if (block != begin) scan_blocks(begin, block, written);
      if (block == begin) ++block;
    }
    if (uncertain_count_ != 0) add_uncertain(written, before);
    for (std::size_t i = before; i < written.size(); ++i) {
      blocks_[written[i] / kBlockPages].was_written = true;
    }
    for (PageId block = 0; block < blocks; ++block) end_scan(block);
  }

 private:
  struct Block {
    enum State : std::uint8_t { empty, scanned, left };
    State state = empty;
    std::uint8_t quiet = 0;  // scans that found nothing, one behind the other
    bool was_written = false;
  };

  // `mode`: whether writes to them are noticed.
  void map_in(PageId first, PageId count, std::uint64_t mode) {
    const PageId end = first + count;
    for (PageId block = first / kBlockPages; block <= (end - 1) / kBlockPages; ++block) {
      if (blocks_[block].state == Block::empty) blocks_[block].state = Block::scanned;
    }
    for (PageId page = first; page < end;) {
      // A block that left the scan is a mapping of its own, and the call takes no more than one.
      const PageId stop = std::min(end, (page / kBlockPages + 1) * kBlockPages);
      uffdio_continue range{};
      range.range.start = reinterpret_cast<std::uintptr_t>(memory_.view(page));
      range.range.len = std::size_t{stop - page} * kPageBytes;
      range.mode = mode;
      if (ioctl(uffd_.get(), UFFDIO_CONTINUE, &range) == 0) {
        page = stop;
        continue;
      }
      const int error = errno;
      // What went well before the page at fault is said where something did.
      const auto mapped = static_cast<std::uint64_t>(std::max<std::int64_t>(range.mapped, 0));
      page += static_cast<PageId>(mapped / kPageBytes);
      if (error == EEXIST && range.mapped <= 0) ++page;
      if (error == EFAULT && range.mapped <= 0) {
        // The file has no such page yet: it gets one by a write that changes nothing.
        auto* const byte = reinterpret_cast<volatile std::byte*>(memory_.alias(page));
        *byte = *byte;
      }
      FAIRLEAD_CHECK(error == EAGAIN || error == EEXIST || error == EFAULT,
                     "UFFDIO_CONTINUE of page {}: {}", page, std::strerror(error));
    }
  }

  bool protect(PageId block, int protection) {
    const PageId first = block * kBlockPages;
    const PageId count = std::min(kBlockPages, memory_.pages() - first);
    return mprotect(memory_.view(first), std::size_t{count} * kPageBytes, protection) == 0;
  }

  void bring_back(PageId block) {
    const bool opened = protect(block, PROT_READ | PROT_WRITE);
    FAIRLEAD_CHECK(opened, "mprotect: {}", std::strerror(errno));
    blocks_[block].state = Block::scanned;
  }

  void end_scan(PageId number) {
    Block& block = blocks_[number];
    if (block.state != Block::scanned) return;
    block.quiet = std::exchange(block.was_written, false)
                      ? std::uint8_t{0}
                      : static_cast<std::uint8_t>(block.quiet + 1);
    if (block.quiet < kQuietMost) return;
    block.quiet = 0;
    // It stays where the kernel allows no more mappings.
    if (protect(number, PROT_READ)) block.state = Block::left;
  }

  void scan_blocks(PageId begin, PageId end, std::vector<PageId>& written) {
    const auto first = reinterpret_cast<std::uintptr_t>(memory_.view(0));
    runs_.clear();
    scan_.written(
        first + std::size_t{begin} * kBlockPages * kPageBytes,
        std::min(first + std::size_t{end} * kBlockPages * kPageBytes, first + memory_.bytes()),
        PageScan::Pages::present, runs_);
    for (const PageScan::Run& run : runs_) {
      for (std::uintptr_t at = run.begin; at < run.end; at += kPageBytes) {
        written.push_back(static_cast<PageId>((at - first) / kPageBytes));
      }
    }
  }

  void add_uncertain(std::vector<PageId>& written, std::size_t before) {
    for (std::size_t i = before; i < written.size(); ++i) uncertain_[written[i]] = 0;
    for (PageId page = 0; page < memory_.pages(); ++page) {
      if (std::exchange(uncertain_[page], std::uint8_t{0}) != 0) written.push_back(page);
    }
    uncertain_count_ = 0;
  }

  const Memory& memory_;
  Fd uffd_;
  PageScan scan_;
  Sparse<std::uint8_t> uncertain_;
  std::size_t uncertain_count_ = 0;
  std::vector<PageScan::Run> runs_;
  std::vector<Block> blocks_;
};

}  // namespace

Result<std::unique_ptr<FaultEngine>> make_uffd_engine(const Memory& memory) {
  Fd uffd(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)));
  if (!uffd.valid()) return uffd_refused("userfaultfd");
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kUserfaultFeatures;
  if (ioctl(uffd.get(), UFFDIO_API, &api) != 0) return uffd_refused("userfaultfd's features");
  uffdio_register range{};
  range.range.start = reinterpret_cast<std::uintptr_t>(memory.view(0));
  range.range.len = memory.bytes();
  range.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
  if (ioctl(uffd.get(), UFFDIO_REGISTER, &range) != 0)
    return uffd_refused("userfaultfd's registration");
  Result<PageScan> scan = PageScan::open();
  if (!scan.ok()) return scan.error();
  return std::unique_ptr<FaultEngine>(
      new UffdEngine(memory, std::move(uffd), std::move(scan.value())));
}

}  // namespace fairlead::dsm
