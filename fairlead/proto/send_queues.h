// Per-destination queues of packets that wait for a window to open (LCI paper, figure 4: Send Queue
// Mgt). FIFO per peer; a blocked peer holds up nobody else.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/proto/item_lists.h"
#include "fairlead/proto/peer_table.h"

namespace fairlead::proto {

class SendQueues {
 public:
  bool empty(Peer peer) { return size() == 0 || queues_.of(peer).empty(); }
  void push(Peer peer, std::uint32_t item) { items_.push(queues_.of(peer), item); }
  // The longest-waiting item; the queue is not empty.
  std::uint32_t front(Peer peer) { return items_.front(queues_.of(peer)); }
  void pop(Peer peer) { items_.pop(queues_.of(peer)); }
  // Over all peers.
  std::uint32_t size() const { return items_.size(); }

 private:
  ItemLists<> items_;
  PeerTable<ItemList> queues_;
};

}  // namespace fairlead::proto
