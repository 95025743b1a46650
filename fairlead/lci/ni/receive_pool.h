// The receive buffers of a NI that are one pool for all senders, and who had packets dropped
// because there was none (LCI paper, section 5.1.2).
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/proto/item_lists.h"
#include "fairlead/proto/peer_table.h"

namespace fairlead::lci {

class ReceivePool {
 public:
  explicit ReceivePool(std::uint32_t buffers) : free_(buffers), all_(buffers) {}

  // One buffer, if more than `leave` are free.
  bool take(std::uint32_t leave) {
    if (free_ <= leave) return false;
    --free_;
    return true;
  }
  // One for who can do without: half of all stay for the others.
  bool take_spare() { return take(all_ / 2); }
  void give() { ++free_; }

  // A packet of `peer` found no buffer.
  void starves(Peer peer) {
    bool& already = starves_.of(peer);
    if (!already) starved_peers_.push(starved_, peer);
    already = true;
  }
  // Somebody starves, and a quarter of all buffers is free.
  bool has_plenty_for_starved() const { return !starved_.empty() && free_ * 4 >= all_; }
  // The one that has starved longest; it does no more. There is one.
  Peer take_starved() {
    const Peer peer = starved_peers_.front(starved_);
    starved_peers_.pop(starved_);
    starves_.of(peer) = false;
    return peer;
  }

 private:
  std::uint32_t free_;
  std::uint32_t all_;
  proto::ItemList starved_;
  proto::ItemLists starved_peers_;
  proto::PeerTable<bool> starves_;
};

}  // namespace fairlead::lci
