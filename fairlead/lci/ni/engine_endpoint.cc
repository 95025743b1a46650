#include "fairlead/lci/ni/engine_endpoint.h"

#include <fmt/format.h>

#include "fairlead/lci/client/waking_port.h"
#include "fairlead/lci/ni/ni_port_receive.h"
#include "fairlead/lci/ni/ni_port_send.h"
#include "fairlead/lci/ni/transfer.h"

namespace fairlead::lci {
namespace {

using fabric::engine::EngineHostNi;

// An engine opens a socket and is at work.
constexpr Ps kEngineLimit = seconds(30);

class EngineEndpoint final : public RankEndpoint {
 public:
  EngineEndpoint(fabric::ShmJob& job, std::unique_ptr<EngineHostNi> ni,
                 const fabric::engine::HostOptions& options, const WakeHooks& wake)
      : ni_(std::move(ni)),
        helper_(wake),
        port_(helper_, *ni_, port_options(*ni_, options), job.own_counters(options.self)) {}

  Port& port() override { return port_; }
  void settle() override {
    const PortTurn turn(port_);
    while (port_.inner().owes()) port_.poll();
    ni_->settle();
  }
  // The engine has a copy of what was posted and goes on without the rank.
  void linger() override {
    stop_helper();
    ni_->settle();
  }
  void stop_helper() override { helper_.stop(); }

 private:
  static NiPortOptions port_options(const EngineHostNi& ni,
                                    const fabric::engine::HostOptions& from) {
    NiPortOptions options;
    options.self = from.self;
    options.size = from.nodes.ranks();
    options.mtu_bytes = ni.payload_bytes() - kPrefixBytes;
    options.work_takes_time = false;
    options.flags = kFreeWork | kHwRdma | kHwAtomic | kHwMulticast | kHwFetchAdd | kHwPut |
                    kHwQuery | kInterrupt | kOrderedGet;
    options.rails = ni.rails();
    options.region = ni.region();
    options.ni_words = ni.words();
    options.queries_below = true;
    return options;
  }

  std::unique_ptr<EngineHostNi> ni_;
  // The host writes into packet buffers that its NI reaches: programmed I/O of the paper's methods.
  WakeHelper helper_;
  WakingPort<NiPort<EngineHostNi, PioTransfer>> port_;
};

}  // namespace

Result<std::unique_ptr<RankEndpoint>> make_engine_endpoint(
    fabric::ShmJob& job, const fabric::engine::HostOptions& options, const WakeHooks& wake) {
  auto ni = std::make_unique<EngineHostNi>(job, options);
  if (!ni->await_engine(kEngineLimit)) {
    return Error{fmt::format("the NI engine of node {} is not at work",
                             options.nodes.node_of(options.self))};
  }
  return std::unique_ptr<RankEndpoint>(
      std::make_unique<EngineEndpoint>(job, std::move(ni), options, wake));
}

}  // namespace fairlead::lci
