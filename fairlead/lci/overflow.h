// Packets that an upcall sent while the way was full. The upcall may not wait and its reply must
// not be lost; the port stops taking what could produce more until these are gone.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "fairlead/base/ring.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::lci {

class Overflow {
 public:
  static constexpr std::size_t kMax = 4096;   // per lane: then the upcall gets again_credit
  static constexpr std::size_t kStopAt = 64;  // per lane: then lower lanes are not reaped

  struct Entry {
    Peer dest;
    fabric::PacketHeader header;
    std::byte* buffer;                  // the fabric's, or nullptr
    std::unique_ptr<std::byte[]> heap;  // the payload otherwise
  };

  bool empty() const { return count_ == 0; }
  std::size_t size(std::uint32_t lane) const { return lanes_[lane].size(); }
  bool full(std::uint32_t lane) const { return lanes_[lane].size() >= kMax; }
  void push(std::uint32_t lane, Entry entry) {
    lanes_[lane].push_back(std::move(entry));
    ++count_;
  }
  // An upcall for a packet on lane i may add to lanes above i.
  fabric::LaneMask may_reap() const {
    if (count_ < kStopAt) return fabric::kAllLanes;
    fabric::LaneMask mask = fabric::kAllLanes;
    if (lanes_[1].size() >= kStopAt) mask &= ~1u;
    if (lanes_[2].size() >= kStopAt) mask &= ~3u;
    return mask;
  }

  // Offers the entries of each lane in order to post(entry), which returns whether it is finished
  // with the entry; the first that is not stops its lane.
  template <class PostEntry>
  int flush(PostEntry&& post) {
    int n = 0;
    for (auto& lane : lanes_)
      for (; !lane.empty() && post(lane.front()); ++n, --count_) lane.pop_front();
    return n;
  }

 private:
  std::array<Ring<Entry>, fabric::kLanes> lanes_;
  std::size_t count_ = 0;
};

}  // namespace fairlead::lci
