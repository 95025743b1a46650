#include "fairlead/lci/endpoint/rdma_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fairlead/fabric/model/model_nic.h"
#include "fairlead/lci/direct/direct_port.h"

namespace fairlead::lci {
namespace {

using fabric::model::Machine;
using fabric::model::ModelNic;
using fabric::model::NicMachine;
using fabric::model::NiKind;

constexpr Ps kLingerMost = milliseconds(10);

class RdmaEndpoint final : public Endpoint, private VirtualSite {
 public:
  // `nic` outlives it, or is `own`.
  RdmaEndpoint(ModelNic& nic, std::unique_ptr<ModelNic> own, const RankOptions& rank,
               NetworkUse network)
      : own_(std::move(own)), nic_(nic), work_takes_time_(rank.work_takes_time) {
    nic_.set_ranks(rank.ranks);
    nic_.allocates(rank.memory_bytes);
    DirectOptions options;
    options.site = this;
    options.memory_bytes = rank.memory_bytes;
    options.network = network;
    options.one_path = nic_.has_one_path();
    options.own_atomics_by_fabric = nic_.atomics_are_apart();
    options.wait = wait_plan_virtual();
    port_ = make_direct_port(nic_, options);
  }

  Port& port() override { return *port_; }
  // Until what upcalls sent has left, but not for long, as who ended before takes nothing any more;
  // then until all is there, where the network knows.
  void linger() override {
    constexpr int kBudget = 256;
    if (send_overflow(*port_)) {
      const Ps last = nic_.now() + kLingerMost;
      do {
        // Room; the program takes no packets any more.
        (void)nic_.reap(kBudget, 0);
        nic_.sleep(std::max(last - nic_.now(), Ps{0}));
      } while (send_overflow(*port_) && nic_.now() < last);
    }
    while (!nic_.settled()) {
      (void)port_->poll();
      if (!nic_.settled()) nic_.sleep(kNever);
    }
  }

 private:
  Ps now() const override { return nic_.now(); }
  static hw::HostWork of(const Work& work) {
    return {work.ops,          work.bytes,       work.working_set_bytes,
            work.copied_bytes, work.page_faults, work.protections};
  }
  void charge(const Work& work) override {
    if (work_takes_time_) nic_.work(of(work));
  }
  bool interrupts() const override { return nic_.interrupts(); }
  Ps default_watchdog() const override { return nic_.default_watchdog(); }
  void wake(Ps watchdog) override { nic_.wake(watchdog); }
  Ps time_of(const Work& work) override {
    return work_takes_time_ ? nic_.time_of(of(work)) : Ps{0};
  }
  Ps compute(Ps time, bool completions) override { return nic_.compute(time, completions); }
  void serve(bool interrupted) override { nic_.serve(interrupted); }
  void served() override { nic_.served(); }
  void waits_for(const char* what) override { nic_.set_wait(what); }
  bool shows() const override { return nic_.shows(); }
  void catch_up() override { nic_.catch_up(); }
  void show(Rank rank) override { nic_.show(rank); }

  std::unique_ptr<ModelNic> own_;
  ModelNic& nic_;
  bool work_takes_time_;
  std::unique_ptr<Port> port_;
};

class RdmaImplementation final : public ModelImplementation {
 public:
  RdmaImplementation(const NiKind& kind, NetworkUse network) : kind_(kind), network_(network) {}

  std::uint32_t buffer_bytes() const override { return 0; }
  Result<std::unique_ptr<NiSide>> make_ni_side(Machine& /*machine*/, Peer /*node*/,
                                               const Fatal& /*fatal*/) const override {
    return std::make_unique<NiSide>();
  }
  std::unique_ptr<Endpoint> make_endpoint(Machine& machine, const RankOptions& rank,
                                          const Fatal& /*fatal*/) const override {
    return std::make_unique<RdmaEndpoint>(static_cast<NicMachine&>(machine).nic(rank.self), nullptr,
                                          rank, network_);
  }
  std::unique_ptr<Endpoint> make_host_side(fabric::model::GateClient& gate,
                                           const fabric::model::GateMemory& memory,
                                           const RankOptions& rank, const Fatal& /*fatal*/,
                                           PortCounters& counters) const override {
    std::unique_ptr<ModelNic> nic = kind_.remote_nic(gate, memory, counters);
    ModelNic& made = *nic;
    return std::make_unique<RdmaEndpoint>(made, std::move(nic), rank, network_);
  }

 private:
  const NiKind& kind_;
  NetworkUse network_;
};

}  // namespace

std::vector<std::string> rdma_implementation_names(const NiKind& kind) {
  return {kind.implementations.begin(), kind.implementations.end()};
}

Result<std::unique_ptr<ModelImplementation>> choose_rdma(const NiKind& kind,
                                                         std::string_view name) {
  const std::vector<std::string> names = rdma_implementation_names(kind);
  const auto chosen = name.empty() ? names.begin() : std::find(names.begin(), names.end(), name);
  if (chosen == names.end()) {
    return Error{fmt::format(
        "--lci {}: network interfaces of kind {} are RDMA engines, which run no control "
        "program; valid: {}",
        name, kind.name, fmt::join(names, ", "))};
  }
  // The default first, the hosts' last.
  const NetworkUse network = chosen == names.begin()     ? NetworkUse::all
                             : chosen + 1 == names.end() ? NetworkUse::nothing
                                                         : NetworkUse::counters;
  return std::unique_ptr<ModelImplementation>(std::make_unique<RdmaImplementation>(kind, network));
}

}  // namespace fairlead::lci
