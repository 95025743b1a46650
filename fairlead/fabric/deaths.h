// Deaths of peers that others than the fabric find out (a guardian, a launcher): what a Nic is told
// of them.
#pragma once
#include <atomic>
#include <cstdint>

#include "fairlead/fabric/nic.h"

namespace fairlead::fabric {

struct Deaths {
  // A number that changes once dead() returns true for another peer; nullptr: nobody tells.
  const std::atomic<std::uint32_t>* count = nullptr;
  bool (*dead)(void* context, Peer peer) = nullptr;
  void* context = nullptr;
};

class DeathWatch {
 public:
  explicit DeathWatch(const Deaths& deaths) : deaths_(deaths) {}

  // Calls died(peer) for all dead peers whenever there are new ones among them.
  template <class Died>
  void look(Peer peers, Died died) {
    if (deaths_.count == nullptr) return;
    const std::uint32_t count = deaths_.count->load(std::memory_order_acquire);
    if (count == seen_) [[likely]]
      return;
    seen_ = count;
    for (Peer peer = 0; peer < peers; ++peer) {
      if (deaths_.dead(deaths_.context, peer)) died(peer);
    }
  }

 private:
  Deaths deaths_;
  std::uint32_t seen_ = 0;
};

}  // namespace fairlead::fabric
