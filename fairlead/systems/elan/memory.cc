#include "fairlead/systems/elan/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fairlead/base/pages.h"

namespace fairlead::elan {
namespace {

constexpr auto kSegments = run::names_of(run::System::elan).segments;
constexpr std::uint32_t kControl = 0;
constexpr std::uint32_t kHeap = 1;
constexpr std::uint32_t kAround = 2;  // what the heap is a part of
constexpr std::uint32_t kNiHeap = 3;
constexpr std::uint32_t kNeighbours = 4;
constexpr std::uint32_t kStatics = 5;  // and those after it: a part each
constexpr std::uint32_t kAll = lci::kRead | lci::kWrite | lci::kAtomic;

bool is_within(const void* address, std::size_t n, const std::byte* base, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto first = reinterpret_cast<std::uintptr_t>(base);
  return at >= first && at - first <= bytes && n <= bytes - (at - first);
}

}  // namespace

lci::SegId Memory::control_segment() const { return kSegments[kControl]; }
lci::SegId Memory::neighbours_segment() const { return kSegments[kNeighbours]; }
lci::SegId Memory::heap_segment() const { return kSegments[kHeap]; }

Memory::Memory(run::Context& context, std::size_t control_bytes, std::size_t bytes,
               const char* variable)
    : port_(context.port()),
      control_bytes_(control_bytes),
      bytes_(bytes),
      variable_(variable),
      heap_(bytes),
      parts_(program_data().parts) {}

Result<std::unique_ptr<Memory>> Memory::make(run::Context& context, std::size_t control_bytes,
                                             std::size_t bytes, const char* variable) {
  std::unique_ptr<Memory> memory(new Memory(context, control_bytes, bytes, variable));
  if (!memory->map()) {
    return Error{fmt::format("no address space for a heap of {} bytes ({}): {}", bytes, variable,
                             std::strerror(errno))};
  }
  return memory;
}

// Where peers can map it, they load and store; elsewhere the heap is memory of this process. Its
// first address is a multiple of kAlignMost, so that those of all processes are alike in it.
bool Memory::map() {
  control_ = static_cast<std::uint64_t*>(
      port_.allocate(kSegments[kControl], control_bytes_, lci::Place::host));
  if (control_ == nullptr) return false;
  const std::size_t all = bytes_ + kAlignMost;
  void* memory = nullptr;
  if ((port_.caps(port_.self()).flags & lci::kMappable) != 0) {
    memory = port_.allocate(kSegments[kAround], all, lci::Place::host);
  }
  if (memory == nullptr) {
    memory = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (memory == MAP_FAILED) return false;
    own_mapping_ = memory;
  }
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  base_ = reinterpret_cast<std::byte*>((at + kAlignMost - 1) / kAlignMost * kAlignMost);
  return port_.expose(kSegments[kHeap], base_, bytes_, kAll, nullptr, {}) == Post::done;
}

// The job is over: nobody asks the Port for it any more.
Memory::~Memory() {
  if (own_mapping_ != nullptr) munmap(own_mapping_, bytes_ + kAlignMost);
}

// Where the network begins operations by itself, its interface has memory that programs address.
std::byte* Memory::ni_base() {
  if (ni_asked_) return ni_base_;
  ni_asked_ = true;
  if ((port_.caps(port_.self()).flags & lci::kHwTrigger) == 0) return nullptr;
  ni_base_ = static_cast<std::byte*>(port_.allocate(kSegments[kNiHeap], kNiBytes, lci::Place::ni));
  return ni_base_;
}

// Moves the part's pages onto memory of the job's, at their old addresses, so that peers load and
// store there, too. False: the Port has no such memory left.
bool Memory::move_onto_job_memory(lci::SegId segment, DataPart& part) {
  const std::span<std::byte> pages = whole_pages({part.base, part.bytes});
  auto* const shared =
      static_cast<std::byte*>(port_.allocate(segment, pages.size(), lci::Place::host));
  if (shared == nullptr) return false;
  if (!move_onto(shared, pages)) {
    (void)port_.withdraw(segment);
    return false;
  }
  part = {pages.data(), pages.size()};
  return true;
}

void Memory::expose_statics() {
  const bool maps = (port_.caps(port_.self()).flags & lci::kMappable) != 0;
  for (std::uint32_t i = 0; i < parts_.size(); ++i) {
    const lci::SegId segment = kSegments[kStatics + i];
    if (maps && move_onto_job_memory(segment, parts_[i])) continue;
    if (port_.expose(segment, parts_[i].base, parts_[i].bytes, kAll, nullptr, {}) != Post::done) {
      statics_refused_ = "the Port cannot expose them";
      return;
    }
  }
  statics_ = true;
}

std::optional<Where> Memory::locate(const void* address, std::size_t n) const {
  const auto* const at = static_cast<const std::byte*>(address);
  if (is_within(address, n, base_, bytes_)) {
    return Where{kSegments[kHeap], static_cast<std::uint64_t>(at - base_)};
  }
  if (ni_base_ != nullptr && is_within(address, n, ni_base_, kNiBytes)) {
    return Where{kSegments[kNiHeap], static_cast<std::uint64_t>(at - ni_base_)};
  }
  for (std::uint32_t i = 0; statics_ && i < parts_.size(); ++i) {
    if (is_within(address, n, parts_[i].base, parts_[i].bytes)) {
      return Where{kSegments[kStatics + i], static_cast<std::uint64_t>(at - parts_[i].base)};
    }
  }
  return std::nullopt;
}

std::vector<ELAN_PART> Memory::parts() const {
  std::vector<ELAN_PART> all = {{base_, bytes_, kSegments[kHeap]}};
  for (std::uint32_t i = 0; statics_ && i < parts_.size(); ++i) {
    all.push_back({parts_[i].base, parts_[i].bytes, kSegments[kStatics + i]});
  }
  return all;
}

std::string Memory::describe(const void* address, std::size_t n) const {
  if (is_within(address, 0, base_, bytes_)) {
    return fmt::format("{} and the {} bytes behind it leave the symmetric heap of {} bytes",
                       address, n, bytes_);
  }
  for (const DataPart& part : parts_) {
    if (!is_within(address, 1, part.base, part.bytes)) continue;
    if (statics_refused_[0] != '\0') {
      return fmt::format("{} is a static variable, and here {}", address, statics_refused_);
    }
    return fmt::format("{} and the {} bytes behind it leave the static variables", address, n);
  }
  return fmt::format("{} is not symmetric: neither in the symmetric heap nor a static variable",
                     address);
}

}  // namespace fairlead::elan
