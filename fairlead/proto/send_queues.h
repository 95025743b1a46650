// Per-destination queues of packets that wait for a window to open (LCI paper, figure 4: Send Queue
// Mgt). FIFO per peer; a blocked peer holds up nobody else.
#pragma once
#include <cstdint>
#include <memory>

#include "fairlead/base/post.h"
#include "fairlead/proto/item_lists.h"
#include "fairlead/proto/peer_table.h"

namespace fairlead::proto {

// Takes 16 bytes until something waits for the first time.
class SendQueues {
 public:
  bool empty(Peer peer) { return size_ == 0 || made_->queues.of(peer).empty(); }
  void push(Peer peer, std::uint32_t item) {
    if (made_ == nullptr) made_ = std::make_unique<Made>();
    made_->items.push(made_->queues.of(peer), item);
    ++size_;
  }
  // The longest-waiting item; the queue is not empty.
  std::uint32_t front(Peer peer) { return made_->items.front(made_->queues.of(peer)); }
  void pop(Peer peer) {
    made_->items.pop(made_->queues.of(peer));
    --size_;
  }
  // Over all peers.
  std::uint32_t size() const { return size_; }

 private:
  struct Made {
    ItemLists items;
    PeerTable<ItemList> queues;
  };
  std::unique_ptr<Made> made_;
  std::uint32_t size_ = 0;
};

}  // namespace fairlead::proto
