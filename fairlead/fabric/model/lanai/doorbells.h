// The doorbells of an NI whose control program looks for descriptors itself (virtual interfaces:
// Split-C paper, section 2): one word of NI memory for each virtual interface, which its host
// writes and the program empties.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/fabric/packet.h"

namespace fairlead::fabric::model {

class Doorbells {
 public:
  // Each is in a page of NI memory of its own, so that it can be mapped into one process.
  static constexpr std::uint32_t kMost = 1024;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A doorbell for the rank at `place` of the node: the number of an empty one, first of those that
  // were given back. kNone: there are no more.
  std::uint32_t add(std::uint32_t place) {
    const auto empty = std::find_if(given_back_.begin(), given_back_.end(),
                                    [this](std::uint32_t number) { return !full(number); });
    if (empty != given_back_.end()) {
      const std::uint32_t number = *empty;
      given_back_.erase(empty);
      all_[number] = {place, false};
      return number;
    }
    if (all_.size() == kMost) return kNone;
    all_.push_back({place, false});
    return static_cast<std::uint32_t>(all_.size() - 1);
  }
  // Nobody writes it any more. The program goes on looking at it.
  void give_back(std::uint32_t number) { given_back_.push_back(number); }

  // How many the program looks at.
  std::uint32_t count() const { return static_cast<std::uint32_t>(all_.size()); }
  bool has(std::uint32_t number) const { return number < all_.size(); }
  std::uint32_t place_of(std::uint32_t number) const { return all_[number].place; }

  // Its host has written it, and the program has not taken what is there.
  bool full(std::uint32_t number) const { return all_[number].full; }
  void fill(std::uint32_t number) {
    FAIRLEAD_CHECK(!all_[number].full, "doorbell {} rung twice", number);
    all_[number].full = true;
  }
  void clear(std::uint32_t number) { all_[number].full = false; }

  // The one that the rank at `place` writes for packets to `peer`, of `peers`: made by the first of
  // them. Where there are no more, peers share the first one.
  std::uint32_t for_peer(std::uint32_t place, Peer peer, Peer peers) {
    if (of_peers_.size() <= place) of_peers_.resize(place + 1);
    std::vector<std::uint32_t>& own = of_peers_[place];
    if (own.empty()) own.assign(peers, kNone);
    if (own[peer] == kNone) own[peer] = add(place);
    return own[peer] != kNone ? own[peer] : *std::min_element(own.begin(), own.end());
  }

 private:
  struct One {
    std::uint32_t place;
    bool full;
  };
  std::vector<One> all_;
  std::vector<std::uint32_t> given_back_;
  std::vector<std::vector<std::uint32_t>> of_peers_;  // by place and peer
};

}  // namespace fairlead::fabric::model
