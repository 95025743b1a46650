// Objects of one type, made in blocks that double, and used again: no malloc on a message path
// once warm. Each object has an id that a peer may name it by; the id changes with every use, so
// that a late packet cannot reach the wrong message.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/base/check.h"

namespace fairlead {

// T has the members `std::uint32_t id` and `T* next_free`, both kept by the pool. An id is the
// index plus 1 (24 bits) below the generation (8 bits, which wraps): never 0, which on the wire
// names no object. Bound: 2^24 - 1 objects, then CHECK.
template <class T>
class Pool {
 public:
  T* take() {
    if (free_ == nullptr) [[unlikely]]
      grow();
    T* object = free_;
    free_ = object->next_free;
    return object;
  }
  // take() needs no memory.
  bool at_hand() const { return free_ != nullptr; }
  void give(T* object) {
    object->id += 1u << kIndexBits;
    object->next_free = free_;
    free_ = object;
  }
  // The object stays in use, under an id of its own.
  void renew(T* object) { object->id += 1u << kIndexBits; }
  // The object in use under `id`, or nullptr. It may be one given back but not taken again since:
  // callers also check its state.
  T* find(std::uint32_t id) const {
    const std::uint32_t index = (id & kIndexMask) - 1;  // of id 0: beyond all blocks
    const std::uint32_t block = block_of(index);
    if (block >= blocks_.size()) return nullptr;
    T* object = &blocks_[block][index - first_of(block)];
    return object->id == id ? object : nullptr;
  }

 private:
  static constexpr std::uint32_t kIndexBits = 24;
  static constexpr std::uint32_t kIndexMask = (1u << kIndexBits) - 1;
  // A rank of a large modelled job needs two or three of each, one that floods its peers thousands.
  static constexpr std::uint32_t kFirst = 4;  // objects of blocks 0 and 1; a power of two

  static constexpr std::uint32_t block_of(std::uint32_t index) {
    return static_cast<std::uint32_t>(std::bit_width(index / kFirst));
  }
  static constexpr std::uint32_t first_of(std::uint32_t block) {
    return block == 0 ? 0 : kFirst << (block - 1);
  }

  [[gnu::noinline, gnu::cold]] void grow() {
    const auto block = static_cast<std::uint32_t>(blocks_.size());
    const std::uint32_t first = first_of(block);
    const std::uint32_t size = first_of(block + 1) - first;
    FAIRLEAD_CHECK(first + size <= kIndexMask, "{} objects of a pool in use", first);
    blocks_.push_back(std::make_unique<T[]>(size));
    for (std::uint32_t i = size; i-- > 0;) {
      T* object = &blocks_.back()[i];
      object->id = first + i + 1;
      object->next_free = free_;
      free_ = object;
    }
  }

  T* free_ = nullptr;
  std::vector<std::unique_ptr<T[]>> blocks_;
};

}  // namespace fairlead
