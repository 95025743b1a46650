#include "fairlead/systems/rsm/job_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/pages.h"

namespace fairlead::rsm {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Whether the kernel's list of mappings covers all of [first, end) by private ones to read and
// write, none of them the stack.
bool is_private_memory(std::uintptr_t first, std::uintptr_t end) {
  const std::unique_ptr<std::FILE, CloseFile> maps(std::fopen("/proc/self/maps", "re"));
  if (maps == nullptr) return false;
  const auto here = reinterpret_cast<std::uintptr_t>(&first);
  if (here >= first && here < end) return false;
  char line[512];
  std::uintptr_t covered = first;
  while (covered < end && std::fgets(line, sizeof line, maps.get()) != nullptr) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char mode[5] = "";
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, mode) != 3) continue;
    if (to <= covered) continue;
    if (from > covered || std::strncmp(mode, "rw", 2) != 0 || mode[3] != 'p') return false;
    if (std::strstr(line, "[stack") != nullptr) return false;
    covered = to;
  }
  return covered >= end;
}

}  // namespace

bool is_mapped(const void* base, std::size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> in_core(size / page);
  return mincore(const_cast<void*>(base), size, in_core.data()) == 0;
}

bool JobPages::move(lci::Port& port, lci::SegId segment, std::byte* base, std::size_t size) {
  const auto first = reinterpret_cast<std::uintptr_t>(base);
  if (!is_private_memory(first, first + size)) return false;
  auto* const job = static_cast<std::byte*>(port.allocate(segment, size, lci::Place::host));
  if (job == nullptr) return false;
  if (!move_onto(job, {base, size})) {
    (void)port.withdraw(segment);
    return false;
  }
  base_ = base;
  job_ = job;
  size_ = size;
  return true;
}

bool JobPages::move_to(std::byte* base) {
  const auto first = reinterpret_cast<std::uintptr_t>(base);
  // Only when they are elsewhere: what they share with the former ones has one content.
  const bool apart = base >= base_ + size_ || base_ >= base + size_;
  if (!apart || !is_private_memory(first, first + size_)) return base == base_;
  std::byte* const job = job_;
  move_back();
  std::memcpy(job, base, size_);
  const void* const moved = map_again(job, size_, base);
  FAIRLEAD_CHECK(moved == base, "no address space for {} bytes of an exported segment", size_);
  base_ = base;
  job_ = job;
  return true;
}

void JobPages::move_back() {
  if (job_ == nullptr) return;
  void* const fresh =
      mmap(base_, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  FAIRLEAD_CHECK(fresh == base_, "no private pages for {} bytes of an exported segment", size_);
  std::memcpy(base_, job_, size_);
  job_ = nullptr;
}

}  // namespace fairlead::rsm
