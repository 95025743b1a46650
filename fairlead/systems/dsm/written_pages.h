// Which pages of its own memory a process wrote: noted by the kernel, without signals and without
// reading them. Thread: any, one at a time.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/program_data.h"
#include "fairlead/base/result.h"
#include "fairlead/systems/dsm/page_scan.h"

namespace fairlead::dsm {

class WrittenPages {
 public:
  // From now on, of the pages in which `parts` lie, for as long as this lives. Error: the system
  // does not let this process have it, with its cause.
  static Result<std::unique_ptr<WrittenPages>> of(std::span<const DataPart> parts);

  // The pages that were written since the last call, by their addresses and in their order; the
  // first time those that were there before, too, written or not. Until the next call.
  std::span<const PageScan::Run> since_last();

 private:
  WrittenPages(Fd uffd, PageScan scan, std::vector<PageScan::Run> watched);

  Fd uffd_;
  PageScan scan_;
  std::vector<PageScan::Run> watched_;
  std::vector<PageScan::Run> written_;
};

}  // namespace fairlead::dsm
