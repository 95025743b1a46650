// Pages that are out cannot be accessed, pages that are in and unwritten only be read; both raise
// SIGSEGV. Works everywhere; a fault and a system call for each page and each first write.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/systems/dsm/fault_engine.h"

namespace fairlead::dsm {
namespace {

class MprotectEngine final : public FaultEngine {
 public:
  explicit MprotectEngine(const Memory& memory)
      : memory_(memory), written_(memory.pages()), is_written_(memory.pages()) {
    protect(0, memory.pages(), PROT_NONE);
  }

  const char* name() const override { return "mprotect"; }

  void admit(PageId first, PageId count) override { protect(first, count, PROT_READ); }

  void admit_written(PageId page) override { fault_inside(page); }

  void expel(PageId first, PageId count) override { protect(first, count, PROT_NONE); }

  void fault_inside(PageId page) override {
    FAIRLEAD_CHECK(count_ < memory_.pages(), "page {}", page);
    written_[count_++] = page;
    is_written_[page] = 1;
    protect(page, 1, PROT_READ | PROT_WRITE);
  }

  bool mark_written(PageId page) override {
    if (is_written_[page] == 0) fault_inside(page);
    return true;
  }

  void collect(std::vector<PageId>& written) override {
    const std::size_t before = written.size();
    for (std::size_t i = 0; i < count_; ++i) {
      written.push_back(written_[i]);
      is_written_[written_[i]] = 0;
    }
    count_ = 0;
    const auto begin = written.begin() + static_cast<std::ptrdiff_t>(before);
    std::sort(begin, written.end());
    for (auto at = begin; at != written.end();) {
      auto next = at + 1;
      while (next != written.end() && *next == *(next - 1) + 1) ++next;
      protect(*at, static_cast<PageId>(next - at), PROT_READ);
      at = next;
    }
  }

 private:
  void protect(PageId first, PageId count, int protection) {
    const int answer = mprotect(memory_.view(first), std::size_t{count} * kPageBytes, protection);
    FAIRLEAD_CHECK(answer == 0,
                   "mprotect of {} pages: {}; where it is ENOMEM, a process may have no more "
                   "mappings, and pages that are here take one for each run of them: raise "
                   "vm.max_map_count (sysctl), limit them with FAIRLEAD_DSM_CACHE, or run where "
                   "userfaultfd is allowed",
                   count, std::strerror(errno));
  }

  const Memory& memory_;
  Sparse<PageId> written_;           // since collect()
  Sparse<std::uint8_t> is_written_;  // by page
  std::size_t count_ = 0;
};

}  // namespace

Result<std::unique_ptr<FaultEngine>> make_mprotect_engine(const Memory& memory) {
  return std::unique_ptr<FaultEngine>(new MprotectEngine(memory));
}

Result<std::unique_ptr<FaultEngine>> make_engine(EngineKind kind, const Memory& memory,
                                                 bool first_writes, std::string& why) {
  if (kind == EngineKind::checked) return make_checked_engine(memory);
  if (kind == EngineKind::automatic && first_writes) {
    why = "it sees each first write";
    return make_mprotect_engine(memory);
  }
  if (kind == EngineKind::mprotect) return make_mprotect_engine(memory);
  Result<std::unique_ptr<FaultEngine>> made = make_uffd_engine(memory);
  if (made.ok() || kind == EngineKind::uffd) return made;
  why = made.error().text;
  return make_mprotect_engine(memory);
}

}  // namespace fairlead::dsm
