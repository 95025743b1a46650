// No protections and no signals: the program says before each access what it is about to do
// (Dsm::touch, Shared). So ranks may be fibers of one address space, as many as there is memory
// for.
#include "fairlead/systems/dsm/fault_engine.h"

namespace fairlead::dsm {
namespace {

class CheckedEngine final : public FaultEngine {
 public:
  explicit CheckedEngine(const Memory& memory) : written_(memory.pages()) {}

  const char* name() const override { return "checked"; }
  bool uses_signals() const override { return false; }
  void admit(PageId, PageId) override {}
  void admit_written(PageId page) override { (void)mark_written(page); }
  void expel(PageId, PageId) override {}
  bool fault_inside(PageId) override { return true; }
  bool mark_written(PageId page) override {
    if (written_[page] == 0) since_.push_back(page);
    written_[page] = 1;
    return true;
  }
  void collect(std::vector<PageId>& written) override {
    for (const PageId page : since_) written_[page] = 0;
    written.insert(written.end(), since_.begin(), since_.end());
    since_.clear();
  }

 private:
  Sparse<std::uint8_t> written_;
  std::vector<PageId> since_;  // written since collect()
};

}  // namespace

std::unique_ptr<FaultEngine> make_checked_engine(const Memory& memory) {
  return std::make_unique<CheckedEngine>(memory);
}

}  // namespace fairlead::dsm
