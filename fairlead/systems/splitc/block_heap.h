// Blocks of a range of memory, as malloc gives them out, by Boost.Interprocess's best fit: its
// tables lie in that memory itself. A translated program's malloc takes from a part of its rank's
// heap, so that other ranks reach what it gives (Split-C paper, section 5.3).
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace fairlead::splitc {

// Any thread may call. Before begin() it has no memory: allocate() returns nullptr, has() false.
class BlockHeap {
 public:
  // Takes `bytes` from `base` on, which nobody else uses from now on, for good; 16-byte aligned.
  void begin(std::byte* base, std::size_t bytes);

  // A block of `bytes` at least, at a multiple of `align`, a power of two; 16 at least. nullptr:
  // there is no room.
  void* allocate(std::size_t bytes, std::size_t align);
  // `block` is one that allocate() gave.
  void free(void* block);
  // Whether the block has `bytes` now, in the same place. It keeps its content.
  bool grow(void* block, std::size_t bytes);
  // As many as the block has, which may be more than were asked for.
  std::size_t size(const void* block) const;
  bool has(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - base_ < bytes_;
  }

 private:
  std::mutex lock_;
  std::uintptr_t base_ = 0;
  std::size_t bytes_ = 0;
  void* blocks_ = nullptr;  // Boost's
};

// What malloc gives out in a program in Split-C's own syntax, of which each process is one rank.
BlockHeap& program_blocks();

}  // namespace fairlead::splitc
