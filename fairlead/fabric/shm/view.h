// Typed access to the parts of a mapped job. Indices are the caller's, checked by it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/fabric/shm/layout.h"

namespace fairlead::fabric {

class ShmView {
 public:
  ShmView(std::byte* base, const ShmLayout& layout) : base_(base), layout_(layout) {}

  const ShmLayout& layout() const { return layout_; }
  ShmJobHeader& header() const { return at<ShmJobHeader>(0); }
  ShmRankStatus& status(std::uint32_t rank) const {
    return at<ShmRankStatus>(sizeof(ShmJobHeader) + rank * sizeof(ShmRankStatus));
  }
  ShmRankControl& control(std::uint32_t rank) const {
    return at<ShmRankControl>(layout_.rank(rank));
  }
  // Bitmap of `lane` in the part of `receiver`: one bit per sender.
  std::atomic<std::uint64_t>* attention(std::uint32_t receiver, std::uint32_t lane) const {
    return &at<std::atomic<std::uint64_t>>(layout_.rank(receiver) + layout_.attention +
                                           lane * layout_.attention_words * 8);
  }
  // What `receiver` tells `sender`.
  ShmPairLines& pair(std::uint32_t sender, std::uint32_t receiver) const {
    return at<ShmPairLines>(layout_.rank(sender) + layout_.pairs + receiver * sizeof(ShmPairLines));
  }
  ShmSlot* ring(std::uint32_t receiver, std::uint32_t sender, std::uint32_t lane) const {
    return &at<ShmSlot>(layout_.ring(receiver, sender, lane));
  }
  std::byte* buffer(std::uint32_t sender, std::uint32_t index) const {
    return base_ + layout_.rank(sender) + layout_.pool + std::uint64_t{index} * kShmBufferBytes;
  }
  std::byte* region(std::uint32_t rank) const {
    return base_ + layout_.rank(rank) + layout_.region;
  }

 private:
  template <class T>
  T& at(std::uint64_t offset) const {
    return *reinterpret_cast<T*>(base_ + offset);
  }

  std::byte* base_;
  ShmLayout layout_;
};

// Whether nothing of one rank's kernel reaches the other: they are of different hosts.
inline bool shm_far(const ShmView& view, std::uint32_t one, std::uint32_t other) {
  return view.header().hosts != 0 && view.status(one).node != view.status(other).node;
}

}  // namespace fairlead::fabric
