#include "fairlead/systems/splitc/block_heap.h"

#include <algorithm>
#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>
#include <new>

namespace fairlead::splitc {
namespace {

// The lock is ours.
using Blocks = boost::interprocess::rbtree_best_fit<boost::interprocess::null_mutex_family>;
constexpr std::size_t kGrain = 16;

Blocks& of(void* blocks) { return *static_cast<Blocks*>(blocks); }

}  // namespace

void BlockHeap::begin(std::byte* base, std::size_t bytes) {
  if (bytes < Blocks::get_min_size(0)) return;
  base_ = reinterpret_cast<std::uintptr_t>(base);
  bytes_ = bytes;
  blocks_ = ::new (static_cast<void*>(base)) Blocks(bytes, 0);
}

void* BlockHeap::allocate(std::size_t bytes, std::size_t align) {
  if (blocks_ == nullptr || bytes > bytes_) return nullptr;
  const std::lock_guard<std::mutex> locked(lock_);
  const std::size_t some = std::max<std::size_t>(bytes, 1);
  return align <= kGrain ? of(blocks_).allocate(some) : of(blocks_).allocate_aligned(some, align);
}

void BlockHeap::free(void* block) {
  const std::lock_guard<std::mutex> locked(lock_);
  of(blocks_).deallocate(block);
}

bool BlockHeap::grow(void* block, std::size_t bytes) {
  const std::lock_guard<std::mutex> locked(lock_);
  if (of(blocks_).size(block) >= bytes) return true;
  if (bytes > bytes_) return false;
  char* same = static_cast<char*>(block);
  std::size_t got = bytes;
  return of(blocks_).allocation_command<char>(
             boost::interprocess::expand_fwd | boost::interprocess::nothrow_allocation, bytes, got,
             same) != nullptr;
}

std::size_t BlockHeap::size(const void* block) const {
  return static_cast<Blocks*>(blocks_)->size(block);
}

BlockHeap& program_blocks() {
  static BlockHeap one;
  return one;
}

}  // namespace fairlead::splitc
