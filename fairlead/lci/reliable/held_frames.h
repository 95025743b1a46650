// Frames that came and cannot be let go: early ones, and those of which the client keeps a packet.
// A frame stays in the memory of the fabric below where that can be, else in a copy.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "fairlead/fabric/nic.h"
#include "fairlead/lci/reliable/frame_pool.h"

namespace fairlead::lci {

class HeldFrames {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Both outlive it.
  HeldFrames(fabric::Nic& below, FramePool& pool) : below_(below), pool_(pool) {}
  ~HeldFrames() {
    for (const Held& held : held_) {
      if (held.uses > 0 && held.below) below_.release(held.token);
    }
  }
  HeldFrames(const HeldFrames&) = delete;
  HeldFrames& operator=(const HeldFrames&) = delete;

  // Holds a keepable frame where it is, used once. Its sink returns Keep::yes.
  std::uint32_t hold(const fabric::Incoming& in) {
    const std::uint32_t at = fresh();
    held_[at] = {in.payload, in.token, FramePool::kNone, 1, true};
    return at;
  }
  // Holds a copy of at most a pool's frame, used once. kNone: there is no room.
  std::uint32_t copy(std::span<const std::byte> data) {
    const std::uint32_t frame = pool_.take();
    if (frame == FramePool::kNone) return kNone;
    if (!data.empty()) std::memcpy(pool_.at(frame), data.data(), data.size());
    const std::uint32_t at = fresh();
    held_[at] = {{pool_.at(frame), data.size()}, 0, frame, 1, false};
    return at;
  }
  std::span<const std::byte> data(std::uint32_t at) const { return held_[at].data; }
  void use(std::uint32_t at) { ++held_[at].uses; }
  // One use less; the last one lets it go.
  void release(std::uint32_t at) {
    Held& held = held_[at];
    if (--held.uses > 0) return;
    if (held.below) below_.release(held.token);
    if (held.frame != FramePool::kNone) pool_.give(held.frame);
    free_.push_back(at);
  }
  // The first use ends before the fabric below was told that it is kept. True: there are others, so
  // it is.
  bool still_used(std::uint32_t at) {
    if (--held_[at].uses > 0) return true;
    free_.push_back(at);
    return false;
  }

 private:
  struct Held {
    std::span<const std::byte> data;
    std::uint64_t token;  // of the fabric below, or
    std::uint32_t frame;  // of a copy
    std::uint32_t uses;   // 0: free
    bool below;
  };

  std::uint32_t fresh() {
    if (free_.empty()) {
      held_.emplace_back();
      return static_cast<std::uint32_t>(held_.size() - 1);
    }
    const std::uint32_t at = free_.back();
    free_.pop_back();
    return at;
  }

  fabric::Nic& below_;
  FramePool& pool_;
  std::vector<Held> held_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fairlead::lci
