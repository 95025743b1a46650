// For tests: a network whose arrivals and departures are written down.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/hw/network.h"

namespace fairlead::hw {

struct Seen {
  std::uint32_t packet;
  Ps at;
  friend bool operator==(Seen, Seen) = default;
};

class WatchedNetwork : public testing::Test {
 protected:
  // `params` outlives the network.
  void watch(std::uint32_t nodes, const NetworkParams& params) {
    engine_ = std::make_unique<sim::Engine>(nodes);
    network_ = std::make_unique<Network>(*engine_, params, nodes);
    NetworkSink sink;
    sink.context = this;
    sink.arrived = [](void* self, Peer, std::uint32_t packet) {
      auto* test = static_cast<WatchedNetwork*>(self);
      test->arrived_.push_back({packet, test->engine_->now()});
    };
    sink.transmitted = [](void* self, Peer, std::uint32_t packet) {
      auto* test = static_cast<WatchedNetwork*>(self);
      test->left_.push_back({packet, test->engine_->now()});
    };
    network_->attach(sink);
  }

  std::unique_ptr<sim::Engine> engine_;
  std::unique_ptr<Network> network_;
  std::vector<Seen> arrived_;
  std::vector<Seen> left_;
};

}  // namespace fairlead::hw
