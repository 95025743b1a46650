// The heap's memory on one rank: pages of the Port or of a memfd, mapped twice. The view is what
// the program uses, at an address that is the same on every rank, and what a fault engine protects;
// the alias is the runtime's own, always readable and writable, which peers' puts and gets reach.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"

namespace fairlead::dsm {

using PageId = std::uint32_t;

class Memory {
 public:
  // `allocated`, where not null: memory of the Port, zeroed, in whole pages, which is the alias
  // where it can be mapped twice; it outlives this. `anywhere`: view and alias are one and lie
  // where there is room, on each rank elsewhere. Error: the address is taken, or there is not so
  // much address space.
  static Result<Memory> map(std::size_t bytes, void* allocated = nullptr, bool anywhere = false);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&&) = delete;
  ~Memory();

  std::byte* view(PageId page) const;
  std::byte* alias(PageId page) const;
  std::size_t bytes() const { return bytes_; }
  PageId pages() const;
  // Gives the memory of a page back; it is zero where it is looked at again.
  void forget(PageId page);
  bool has(const void* address) const;
  // Whether some rank's heap may lie there, its view by signals: without asking whose.
  static constexpr bool may_have(std::uintptr_t address) {
    return address >= kViewAddress && address - kViewAddress < kBytesMost;
  }
  PageId page_of(const void* address) const;

 private:
  // Where the heap lies on every rank: between what the kernel gives to programs (above) and what
  // sanitizers map (below).
  static constexpr std::uintptr_t kViewAddress = 0x2000'0000'0000;
  static constexpr std::uintptr_t kBytesMost = std::uintptr_t{1} << 44;

  Memory(Fd file, std::byte* view, std::byte* alias, std::size_t bytes, bool own_alias);
  Fd file_;  // invalid: the pages are another's
  std::byte* view_;
  std::byte* alias_;
  std::size_t bytes_;
  bool own_alias_;
};

// `count` zeroed elements that take memory where they are used only; plain types.
template <class T>
class Sparse {
 public:
  explicit Sparse(std::size_t count);
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  ~Sparse();

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_;
  std::size_t bytes_;
};

// Zeroed pages. std::bad_alloc, which Core::make() puts into words: there is no address space.
void* map_sparse(std::size_t bytes);
void unmap_sparse(void* data, std::size_t bytes);

template <class T>
Sparse<T>::Sparse(std::size_t count)
    : data_(static_cast<T*>(map_sparse(count * sizeof(T)))), bytes_(count * sizeof(T)) {}
template <class T>
Sparse<T>::~Sparse() {
  unmap_sparse(data_, bytes_);
}

}  // namespace fairlead::dsm
