// The host of Fire Link interfaces for a rank that is a process of its own: what FirelinkHost is to
// a fiber, through the rank's gate.
#pragma once
#include <cstdint>
#include <deque>

#include "fairlead/base/even_nodes.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/firelink/firelink_gate.h"
#include "fairlead/fabric/model/node_regions.h"
#include "fairlead/fabric/model/remote_host.h"

namespace fairlead::fabric::model {

class RemoteFirelinkHost : public RemoteHost<FirelinkOp, RunFront, FirelinkTerms> {
 public:
  // Both outlive it.
  RemoteFirelinkHost(GateClient& gate, const GateMemory& memory);

  // Meanings as in FirelinkHost; those marked * hand control over.
  Peer node_of(Rank rank) const { return ranks_.node_of(rank); }
  bool near(Rank peer) const { return node_of(peer) == node_of(self()); }
  std::span<std::byte> region(Rank peer) const { return region_of(regions_, peer); }
  void store(std::uint32_t run) {
    catch_up(FirelinkOp::store, run, 0, 0);
    gate_.time_passes();
  }
  void drain() {
    catch_up(FirelinkOp::drain, 0, 0, 0);
    gate_.time_passes();
  }
  LoadEnd load(std::uint32_t run) {  // *
    stale_ = true;
    return static_cast<LoadEnd>(gate_.hand_over(FirelinkOp::load, run).value);
  }
  void pass_near(std::uint32_t run) { catch_up(FirelinkOp::pass_near, run, 0, 0); }
  bool settled() {  // *
    return gate_.hand_over(FirelinkOp::settled).value != 0 && news_.empty();
  }
  bool next_news(FirelinkNews* news) { return take_first(news_, news); }

 private:
  void take_visible();

  const EvenNodes ranks_;
  const std::span<std::byte> regions_;
  std::deque<FirelinkNews> news_;
};

}  // namespace fairlead::fabric::model
