// Pages that are out cannot be accessed, pages that are in and unwritten only be read; both raise
// SIGSEGV. Works everywhere; a fault and a system call for each page and each first write.
//
// The kernel has a mapping for each run of pages with the same protection, of which a process may
// have only so many. Where there would be more, blocks of pages are shut: one run that nothing can
// access, whatever is in. An access to a page of such a block opens it again, and shuts the block
// that was opened longest ago.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "fairlead/base/check.h"
#include "fairlead/systems/dsm/fault_engine.h"

namespace fairlead::dsm {
namespace {

constexpr PageId kBlockPages = 512;  // 2 MiB

class MprotectEngine final : public FaultEngine {
 public:
  MprotectEngine(const Memory& memory, std::size_t mappings)
      : memory_(memory),
        mappings_(mappings),
        access_(memory.pages()),
        written_(memory.pages()),
        blocks_((memory.pages() + kBlockPages - 1) / kBlockPages) {
    apply(0, memory.pages(), kNone);
  }

  const char* name() const override { return "mprotect"; }

  void admit(PageId first, PageId count) override {
    set(first, count, kRead);
    for (PageId page = first; page < first + count; ++page) reach(page);
  }

  void admit_written(PageId page) override {
    write(page);
    reach(page);
  }

  void expel(PageId first, PageId count) override { set(first, count, kNone); }

  bool fault_inside(PageId page) override {
    if (blocks_[page / kBlockPages].shut) {
      reach(page);
      return false;
    }
    write(page);
    return true;
  }

  void reach(PageId page) override {
    Block& block = blocks_[page / kBlockPages];
    block.opened = ++opened_;
    if (!block.shut) return;
    turn(page / kBlockPages, false);
    make_room();
  }

  bool mark_written(PageId page) override {
    if (access_[page] != kWrite) write(page);
    reach(page);
    return true;
  }

  void collect(std::vector<PageId>& written) override {
    const auto before = static_cast<std::ptrdiff_t>(written.size());
    for (std::size_t i = 0; i < count_; ++i) written.push_back(written_[i]);
    count_ = 0;
    const auto begin = written.begin() + before;
    std::sort(begin, written.end());
    for (auto at = begin; at != written.end();) {
      auto next = at + 1;
      while (next != written.end() && *next == *(next - 1) + 1) ++next;
      set(*at, static_cast<PageId>(next - at), kRead);
      at = next;
    }
  }

 private:
  enum Access : std::uint8_t { kNone, kRead, kWrite };
  struct Block {
    std::uint32_t borders = 0;  // in front of its pages: where a mapping ends and another begins
    bool shut = false;
    std::uint64_t opened = 0;  // when, or when something in it was wanted; counts up
  };

  Access shown(PageId page) const {
    return blocks_[page / kBlockPages].shut ? kNone : static_cast<Access>(access_[page]);
  }
  PageId end_of(PageId block) const { return std::min(memory_.pages(), (block + 1) * kBlockPages); }

  void write(PageId page) {
    FAIRLEAD_CHECK(count_ < memory_.pages(), "page {}", page);
    written_[count_++] = page;
    set(page, 1, kWrite);
  }

  // Adds `change` for each border in front of pages [first, end].
  void count_borders(PageId first, PageId end, int change) {
    for (PageId page = std::max<PageId>(first, 1); page <= end && page < memory_.pages(); ++page) {
      if (shown(page - 1) == shown(page)) continue;
      blocks_[page / kBlockPages].borders += static_cast<std::uint32_t>(change);
      borders_ += static_cast<std::size_t>(change);
    }
  }

  // A page of a block that is shut may be accessed in this way once the block is open again.
  void set(PageId first, PageId count, Access access) {
    const PageId end = first + count;
    count_borders(first, end, -1);
    for (PageId page = first; page < end; ++page) access_[page] = access;
    count_borders(first, end, 1);
    apply_open(first, end);
    make_room();
  }

  // What access_ says, where blocks are open.
  void apply_open(PageId first, PageId end) {
    for (PageId from = first; from < end;) {
      const PageId to = run_end(from, end);
      if (!blocks_[from / kBlockPages].shut) apply(from, to - from, shown(from));
      from = to;
    }
  }
  PageId run_end(PageId from, PageId end) const {
    PageId to = from + 1;
    while (to < end && shown(to) == shown(from) &&
           blocks_[to / kBlockPages].shut == blocks_[from / kBlockPages].shut) {
      ++to;
    }
    return to;
  }

  void turn(PageId block, bool shut) {
    const PageId first = block * kBlockPages;
    const PageId end = end_of(block);
    count_borders(first, end, -1);
    blocks_[block].shut = shut;
    count_borders(first, end, 1);
    shut ? apply(first, end - first, kNone) : apply_open(first, end);
  }

  void make_room() {
    while (borders_ >= mappings_) {
      PageId oldest = 0;
      std::uint64_t when = opened_;  // that one stays open
      for (PageId block = 0; block < blocks_.size(); ++block) {
        const Block& at = blocks_[block];
        if (at.shut || at.borders == 0 || at.opened >= when) continue;
        oldest = block;
        when = at.opened;
      }
      if (when == opened_) return;
      turn(oldest, true);
    }
  }

  void apply(PageId first, PageId count, Access access) {
    constexpr int kProtections[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
    const int answer =
        mprotect(memory_.view(first), std::size_t{count} * kPageBytes, kProtections[access]);
    FAIRLEAD_CHECK(answer == 0,
                   "mprotect of {} pages: {}; where it is ENOMEM, a process may have no more "
                   "mappings (vm.max_map_count), of which the shared heap takes up to {}: raise it "
                   "(sysctl), or run where userfaultfd is allowed",
                   count, std::strerror(errno), mappings_);
  }

  const Memory& memory_;
  const std::size_t mappings_;   // that the heap may be cut into
  Sparse<std::uint8_t> access_;  // by page: Access, in an open block
  Sparse<PageId> written_;       // since collect()
  std::size_t count_ = 0;
  std::vector<Block> blocks_;
  std::size_t borders_ = 0;  // of all blocks
  std::uint64_t opened_ = 0;
};

// The program and its libraries have the rest.
std::size_t mappings_for_the_heap() {
  constexpr std::size_t kUsual = 65530;
  std::size_t most = kUsual;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return (most == 0 ? kUsual : most) / 4 * 3;
}

}  // namespace

Result<std::unique_ptr<FaultEngine>> make_mprotect_engine(const Memory& memory,
                                                          std::size_t mappings) {
  return std::unique_ptr<FaultEngine>(new MprotectEngine(memory, mappings));
}

Result<std::unique_ptr<FaultEngine>> make_engine(EngineKind kind, const Memory& memory,
                                                 bool first_writes, std::string& why) {
  if (kind == EngineKind::checked) return make_checked_engine(memory);
  if (kind == EngineKind::automatic && first_writes) {
    why = "it sees each first write";
    return make_mprotect_engine(memory, mappings_for_the_heap());
  }
  if (kind == EngineKind::mprotect) return make_mprotect_engine(memory, mappings_for_the_heap());
  Result<std::unique_ptr<FaultEngine>> made = make_uffd_engine(memory);
  if (made.ok() || kind == EngineKind::uffd) return made;
  why = made.error().text;
  return make_mprotect_engine(memory, mappings_for_the_heap());
}

}  // namespace fairlead::dsm
