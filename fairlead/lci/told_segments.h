// What a rank knows of stores into its segments that are exposed with kTold: how often something
// was stored there, and how much of that a wait has seen (Until::segment). Whoever stores tells it:
// the server of packets on this host, a notice of a rank that stored by itself
// (RemoteMemory::tell), or a network that counts.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Thread: the port's. Most ranks have none, which takes a pointer.
class ToldSegments {
 public:
  // The segment is granted so from now on; a new one has had no stores.
  void granted(SegId segment, std::uint32_t permissions) {
    if ((permissions & kTold) == 0) return withdrawn(segment);
    if (book_ == nullptr) book_ = std::make_unique<Book>();
    book_->segments.try_emplace(segment, Stores{0, 0, any()});
  }
  void withdrawn(SegId segment) {
    if (book_ != nullptr) book_->segments.erase(segment);
  }
  bool has(SegId segment) const { return book_ != nullptr && book_->segments.contains(segment); }

  // Something was stored there. Others than those granted are not counted.
  void stored(SegId segment) {
    if (book_ == nullptr) return;
    const auto found = book_->segments.find(segment);
    if (found != book_->segments.end()) ++found->second.count;
  }
  // Something was, since this last said so.
  bool take(SegId segment) {
    if (book_ == nullptr) return false;
    const auto found = book_->segments.find(segment);
    if (found == book_->segments.end()) return false;
    Stores& stores = found->second;
    const std::uint64_t by_network = any();
    const bool news = stores.count != stores.seen || by_network != stores.by_network;
    stores.seen = stores.count;
    stores.by_network = by_network;
    return news;
  }
  // For a network that stores by itself and cannot say where: counts for all of them. There is one
  // once a segment was granted so.
  Counter* counted_by_network() { return book_ == nullptr ? nullptr : &book_->by_network; }

 private:
  struct Stores {
    std::uint64_t count = 0;
    std::uint64_t seen = 0;
    std::uint64_t by_network = 0;  // of those, seen
  };
  struct Book {
    std::unordered_map<SegId, Stores> segments;
    Counter by_network;
  };
  std::uint64_t any() const {
    return book_ == nullptr ? 0 : book_->by_network.ok.load(std::memory_order_acquire);
  }

  std::unique_ptr<Book> book_;
};

}  // namespace fairlead::lci
