// Which pages were written, as the kernel notes it for memory that is registered with a userfaultfd
// for asynchronous write protection: PAGEMAP_SCAN finds them and protects them again, in one call
// (Linux 6.7).
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"

namespace fairlead::dsm {

class PageScan {
 public:
  struct Run {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  enum class Pages : std::uint8_t {
    present,  // those in memory; what the kernel took out, another fault tells
    all,      // those that it wrote to swap, too
  };

  // Error: the system does not let this process scan, with its cause.
  static Result<PageScan> open();

  // Adds the runs of pages of [begin, end) that were written since the last call to `runs`.
  // Addresses of whole pages, all of them registered.
  void written(std::uintptr_t begin, std::uintptr_t end, Pages pages, std::vector<Run>& runs);

 private:
  explicit PageScan(Fd pagemap);

  Fd pagemap_;
};

// Says that the kernel refused `what`, and why, by errno.
Error uffd_refused(const char* what);

}  // namespace fairlead::dsm
