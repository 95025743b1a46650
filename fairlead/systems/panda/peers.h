// What Panda keeps of each other rank, made when it is first needed: a rank of a large job talks to
// few.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/systems/panda/received.h"

namespace fairlead::panda {

// Messages from one source, by one call: in order, one after the other.
struct Stream {
  Received* partial = nullptr;  // of whose packets more are to come
  Number next = 0;              // of the next message
};

struct Peer {
  std::array<Stream, 2> in;   // unicast, and by multicast
  Number next_out = 0;        // of the next message to it
  std::uint32_t waiting = 0;  // messages to it that wait for room
};

class Peers {
 public:
  // `first`: of each stream's numbers; the same on every rank.
  Peers(Rank ranks, Number first) : first_(first), pages_((ranks + kPage - 1) / kPage) {}

  Peer& of(Rank rank) {
    std::unique_ptr<Page>& page = pages_[rank / kPage];
    if (page == nullptr) [[unlikely]]
      make(page);
    return (*page)[rank % kPage];
  }

 private:
  static constexpr Rank kPage = 8;
  using Page = std::array<Peer, kPage>;

  [[gnu::noinline, gnu::cold]] void make(std::unique_ptr<Page>& page) const {
    page = std::make_unique<Page>();
    for (Peer& peer : *page) {
      for (Stream& stream : peer.in) stream.next = first_;
      peer.next_out = first_;
    }
  }

  Number first_;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace fairlead::panda
