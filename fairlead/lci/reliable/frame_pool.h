// Buffers of one size for frames: taken when something is sent, given back when it was
// acknowledged.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/base/reserved_memory.h"

namespace fairlead::lci {

class FramePool {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Address space for `frames`; memory is used by those that ever were out at the same time. Throws
  // std::bad_alloc where there is none.
  // Not a multiple of a page apart: frames start in different sets of the cache.
  FramePool(std::size_t frame_bytes, std::uint32_t frames)
      : stride_((frame_bytes + 63) / 64 * 64 + 64), frames_(frames), memory_(stride_ * frames) {}

  // The one given back last, which the cache may still hold. kNone: all are out.
  std::uint32_t take() {
    if (!free_.empty()) {
      const std::uint32_t frame = free_.back();
      free_.pop_back();
      return frame;
    }
    return fresh_ < frames_ ? fresh_++ : kNone;
  }
  void give(std::uint32_t frame) { free_.push_back(frame); }
  std::byte* at(std::uint32_t frame) const { return memory_.data() + stride_ * frame; }
  // The frame in which an address lies.
  std::uint32_t frame_of(const std::byte* address) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(address - memory_.data()) / stride_);
  }
  // Frames that are out.
  std::size_t out() const { return fresh_ - free_.size(); }

 private:
  std::size_t stride_;
  std::uint32_t frames_;
  std::uint32_t fresh_ = 0;  // were never taken
  ReservedMemory memory_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fairlead::lci
