// Exported memory while it is published, where peers can map memory of the job: its pages are ones
// of the job's at their old addresses, so that importers load and store there too.
#pragma once
#include <cstddef>

#include "fairlead/lci/port.h"

namespace fairlead::rsm {

class JobPages {
 public:
  // [base, base + size) are whole pages. Makes their content that of memory which the Port
  // allocates under `segment`, and that memory theirs. False, and nothing is changed: there is none
  // left, or these are not this process's private pages to read and write.
  bool move(lci::Port& port, lci::SegId segment, std::byte* base, std::size_t size);
  // Other pages of the same size, with their content; those of before get private memory. False,
  // and nothing is changed: as move().
  bool move_to(std::byte* base);
  // Gives the pages private memory with the same content. What others still write to the job's
  // memory reaches nobody. The segment stays allocated: its withdrawal is the caller's.
  void move_back();

  bool moved() const { return job_ != nullptr; }
  // Another address of the same pages; nullptr: they were not moved.
  std::byte* job() const { return job_; }

 private:
  std::byte* base_ = nullptr;
  std::byte* job_ = nullptr;
  std::size_t size_ = 0;
};

// Whether all of it is mapped in this process. Whole pages.
bool is_mapped(const void* base, std::size_t size);

}  // namespace fairlead::rsm
