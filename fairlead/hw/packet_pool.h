// Packets under way in the model: one arena of fixed classes, named by 32-bit offsets, so that a
// packet is copied once (from its sender) whatever it passes through. NI and host buffers are
// counted where they are, not stored twice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "fairlead/base/check.h"

namespace fairlead::hw {

class PacketPool {
 public:
  static constexpr std::uint32_t kUnit = 64;  // offsets count cache lines
  static constexpr std::uint32_t kClasses = 3;

  // Classes: 2, 9 and enough lines for `largest_bytes`. The packets lie in `shared` (64-byte
  // aligned, its owner's, mapped by rank processes too) from its start, or, where that is empty, in
  // memory of the pool's own.
  explicit PacketPool(std::size_t largest_bytes, std::span<std::byte> shared = {})
      : lines_{2, 9, static_cast<std::uint32_t>((largest_bytes + kUnit - 1) / kUnit)},
        shared_(shared) {
    FAIRLEAD_CHECK(lines_[2] * std::uint64_t{kUnit} < kChunkBytes, "{} bytes", largest_bytes);
  }

  // The id of `bytes` or more of uninitialised memory, 64-byte aligned.
  std::uint32_t take(std::size_t bytes) {
    const std::uint32_t size_class = class_of(bytes);
    std::vector<std::uint32_t>& free = free_[size_class];
    if (free.empty()) return fresh(size_class);
    const std::uint32_t id = free.back();
    free.pop_back();
    return id;
  }
  // The most that take() serves.
  std::size_t largest_bytes() const { return std::size_t{lines_[kClasses - 1]} * kUnit; }
  // `bytes` as given to take().
  void give(std::uint32_t id, std::size_t bytes) { free_[class_of(bytes)].push_back(id); }

  // As at(); nullptr where no packet can have this id.
  std::byte* find(std::uint32_t id) const {
    return id / kChunkUnits < chunks_.size() ? at(id) : nullptr;
  }
  std::byte* at(std::uint32_t id) const {
    return chunks_[id / kChunkUnits] + std::size_t{id % kChunkUnits} * kUnit;
  }

 private:
  static constexpr std::uint32_t kChunkUnits = 1u << 14;
  static constexpr std::size_t kChunkBytes = std::size_t{kChunkUnits} * kUnit;  // 1 MiB

  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{kUnit}); }
  };

  std::uint32_t class_of(std::size_t bytes) const {
    for (std::uint32_t c = 0; c + 1 < kClasses; ++c) {
      if (bytes <= std::size_t{lines_[c]} * kUnit) return c;
    }
    FAIRLEAD_DCHECK(bytes <= std::size_t{lines_[kClasses - 1]} * kUnit, "{} bytes", bytes);
    return kClasses - 1;
  }
  void add_chunk() {
    FAIRLEAD_CHECK(chunks_.size() < (std::uint64_t{1} << 32) / kChunkUnits, "packet pool full");
    if (shared_.empty()) {
      owned_.emplace_back(
          static_cast<std::byte*>(::operator new[](kChunkBytes, std::align_val_t{kUnit})));
      chunks_.push_back(owned_.back().get());
    } else {
      const std::size_t begin = chunks_.size() * kChunkBytes;
      FAIRLEAD_CHECK(begin + kChunkBytes <= shared_.size(), "{} MiB of shared packets are full",
                     shared_.size() >> 20);
      chunks_.push_back(shared_.data() + begin);
    }
    next_in_chunk_ = 0;
  }
  std::uint32_t fresh(std::uint32_t size_class) {
    if (next_in_chunk_ + lines_[size_class] > kChunkUnits) {
      add_chunk();
    }
    const auto chunk = static_cast<std::uint32_t>(chunks_.size() - 1);
    const std::uint32_t id = chunk * kChunkUnits + next_in_chunk_;
    next_in_chunk_ += lines_[size_class];
    return id;
  }

  std::uint32_t lines_[kClasses];
  std::uint32_t next_in_chunk_ = kChunkUnits;
  std::vector<std::uint32_t> free_[kClasses];
  std::span<std::byte> shared_;
  std::vector<std::unique_ptr<std::byte[], Free>> owned_;
  std::vector<std::byte*> chunks_;
};

}  // namespace fairlead::hw
