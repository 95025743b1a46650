#include "fairlead/systems/dsm/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/base/pages.h"
#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {
namespace {

Error cannot_map(const void* address, std::size_t bytes, int error) {
  if (error == EEXIST) {
    return Error{
        fmt::format("the shared heap cannot lie at {}, where something else does: ranks that "
                    "are fibers share "
                    "one address space: run with --body process, or use handles and the engine "
                    "\"checked\"",
                    address)};
  }
  return Error{
      fmt::format("the shared heap of {} bytes cannot be mapped: {}; is there a limit on "
                  "address space (ulimit -v), or a smaller heap?",
                  bytes, std::strerror(error))};
}

// A child would write into this rank's pages unnoticed. Huge pages would be written as a whole.
void prepare(void* view, std::size_t bytes) {
  madvise(view, bytes, MADV_DONTFORK);
  madvise(view, bytes, MADV_NOHUGEPAGE);
}

}  // namespace

Result<Memory> Memory::map(std::size_t bytes, void* allocated, bool anywhere) {
  FAIRLEAD_CHECK(bytes > 0 && bytes % kPageBytes == 0, "{}", bytes);
  if (anywhere && allocated != nullptr) {
    auto* const both = static_cast<std::byte*>(allocated);
    return Memory(Fd(), both, both, bytes, false);
  }
  void* const address = reinterpret_cast<void*>(kViewAddress);
  if (allocated != nullptr) {
    // Shared memory can be seen at a second address; the first call finds out whether that is free.
    void* const room =
        mmap(address, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (room == MAP_FAILED) return cannot_map(address, bytes, errno);
    void* const view = map_again(allocated, bytes, address);
    if (view != nullptr) {
      prepare(view, bytes);
      return Memory(Fd(), static_cast<std::byte*>(view), static_cast<std::byte*>(allocated), bytes,
                    false);
    }
    munmap(address, bytes);
  }
  Fd file(memfd_create("fairlead-dsm", MFD_CLOEXEC));
  if (!file.valid() || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    return cannot_map(address, bytes, errno);
  }
  void* const alias =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (alias == MAP_FAILED) return cannot_map(address, bytes, errno);
  if (anywhere) {
    auto* const both = static_cast<std::byte*>(alias);
    return Memory(std::move(file), both, both, bytes, true);
  }
  void* const view = mmap(address, bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file.get(), 0);
  if (view == MAP_FAILED) {
    const int error = errno;
    munmap(alias, bytes);
    return cannot_map(address, bytes, error);
  }
  prepare(view, bytes);
  return Memory(std::move(file), static_cast<std::byte*>(view), static_cast<std::byte*>(alias),
                bytes, true);
}

Memory::Memory(Fd file, std::byte* view, std::byte* alias, std::size_t bytes, bool own_alias)
    : file_(std::move(file)), view_(view), alias_(alias), bytes_(bytes), own_alias_(own_alias) {}
Memory::Memory(Memory&& other) noexcept
    : file_(std::move(other.file_)),
      view_(std::exchange(other.view_, nullptr)),
      alias_(std::exchange(other.alias_, nullptr)),
      bytes_(other.bytes_),
      own_alias_(other.own_alias_) {}

Memory::~Memory() {
  if (view_ == nullptr) return;
  if (view_ != alias_) munmap(view_, bytes_);
  if (own_alias_) munmap(alias_, bytes_);
}

std::byte* Memory::view(PageId page) const { return view_ + std::size_t{page} * kPageBytes; }
std::byte* Memory::alias(PageId page) const { return alias_ + std::size_t{page} * kPageBytes; }
PageId Memory::pages() const { return static_cast<PageId>(bytes_ / kPageBytes); }

// A kernel that does not keeps the page.
void Memory::forget(PageId page) { (void)madvise(alias(page), kPageBytes, MADV_REMOVE); }

bool Memory::has(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto first = reinterpret_cast<std::uintptr_t>(view_);
  return at >= first && at - first < bytes_;
}

PageId Memory::page_of(const void* address) const {
  return static_cast<PageId>(
      static_cast<std::size_t>(static_cast<const std::byte*>(address) - view_) / kPageBytes);
}

void* map_sparse(std::size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return data;
}
void unmap_sparse(void* data, std::size_t bytes) { munmap(data, bytes); }

}  // namespace fairlead::dsm
