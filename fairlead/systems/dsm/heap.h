// Which part of the shared heap is whose: runs of pages from a counter that all ranks share, small
// blocks from a run of this rank's own. What is known of blocks is private to who allocated them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "fairlead/systems/dsm/memory.h"

namespace fairlead::dsm {

class Heap {
 public:
  static constexpr std::size_t kAlignment = 16;

  // `take_pages(count)` returns the first of so many pages that nobody had; pages() and more: there
  // are none left.
  Heap(const Memory& memory, std::function<std::uint64_t(std::uint64_t count)> take_pages)
      : memory_(memory), take_pages_(std::move(take_pages)) {}

  // nullptr: no room. `reused`: it is not zero.
  void* allocate(std::size_t bytes, bool& reused);
  // The bytes that were asked for; 0: not allocated by this rank.
  std::size_t free(void* block);
  std::size_t size_of(const void* block) const;

 private:
  static constexpr std::size_t kRunPages = 16;  // of a rank's small blocks
  std::byte* take(std::size_t bytes);

  const Memory& memory_;
  std::function<std::uint64_t(std::uint64_t)> take_pages_;
  std::byte* run_ = nullptr;  // what is left of this rank's run
  std::size_t run_left_ = 0;
  struct Block {
    std::size_t asked;
    std::size_t room;
  };
  std::unordered_map<const void*, Block> blocks_;
  std::map<std::size_t, std::vector<void*>> free_;  // by room
};

}  // namespace fairlead::dsm
