// Per-destination queues of packets that wait for a window to open (LCI paper, figure 4: Send Queue
// Mgt). FIFO per peer; a blocked peer holds up nobody else.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/post.h"

namespace fairlead::proto {

class SendQueues {
 public:
  // At most `capacity` items wait over all peers; 8 bytes a peer, 8 an item.
  SendQueues(std::uint32_t peers, std::uint32_t capacity) : queues_(peers), items_(capacity) {
    for (std::uint32_t i = 0; i < capacity; ++i) items_[i].next = i + 1;
    if (capacity > 0) items_[capacity - 1].next = kNone;
    free_ = capacity > 0 ? 0 : kNone;
  }

  bool empty(Peer peer) const { return queues_[peer].first == kNone; }
  std::uint32_t size() const { return size_; }

  // False: full; the item stays with the caller.
  [[nodiscard]] bool push(Peer peer, std::uint32_t item) {
    if (free_ == kNone) return false;
    const std::uint32_t index = free_;
    free_ = items_[index].next;
    items_[index] = Item{item, kNone};
    Queue& queue = queues_[peer];
    if (queue.first == kNone) {
      queue.first = index;
    } else {
      items_[queue.last].next = index;
    }
    queue.last = index;
    ++size_;
    return true;
  }

  // The longest-waiting item; the queue is not empty.
  std::uint32_t front(Peer peer) const { return items_[queues_[peer].first].item; }

  void pop(Peer peer) {
    Queue& queue = queues_[peer];
    FAIRLEAD_DCHECK(queue.first != kNone, "peer {}", peer);
    const std::uint32_t index = queue.first;
    queue.first = items_[index].next;
    items_[index].next = free_;
    free_ = index;
    --size_;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Queue {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  struct Item {
    std::uint32_t item;
    std::uint32_t next;
  };

  std::vector<Queue> queues_;
  std::vector<Item> items_;
  std::uint32_t free_ = kNone;
  std::uint32_t size_ = 0;
};

}  // namespace fairlead::proto
