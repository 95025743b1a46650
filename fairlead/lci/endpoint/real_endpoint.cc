#include "fairlead/lci/endpoint/real_endpoint.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/paths/path_nic.h"

namespace fairlead::lci {

RealEndpoint::RealEndpoint(std::unique_ptr<fabric::Nic> nic, RealEndpointOptions options)
    : nic_(std::move(nic)),
      helper_(options.wake),
      wait_(options.direct.wait),
      linger_max_(options.linger_max) {
  fabric::Nic* top = nic_.get();
  // A reliable fabric carries the client's header only; `faulty` carries all of it.
  const bool reliable = (top->caps(top->self()).flags & fabric::kReliable) != 0;
  if (options.faults.has_value() || (options.hrx && reliable)) {
    faulty_ =
        fabric::make_faulty(*top, options.faults.value_or(fabric::FaultPlan{}), options.faulty);
    top = faulty_.get();
    if (options.faults.has_value() && options.faults->loses()) {
      options.direct.raw = {[](void* faulty, Rank rank) {
                              return fabric::loses_put(*static_cast<fabric::Nic*>(faulty), rank);
                            },
                            faulty_.get()};
    }
  }
  if (options.hrx) {
    reliable_ = make_reliable_nic(*top, options.reliable);
    top = reliable_.get();
  }
  last_ = top;
  if (options.node != nullptr) {
    node_ = std::move(options.node);
    paths_ = make_path_nic(*node_, *top, std::move(options.near));
    top = paths_.get();
  }
  options.direct.helper = &helper_;
  port_ = make_direct_port(*top, options.direct);
}

template <class Poll>
void RealEndpoint::settle_by(Poll&& poll) {
  const Ps begin = nanoseconds(monotonic_ns());
  WaitLadder ladder(wait_);
  while (!last_->settled()) {
    if (poll() > 0) {
      ladder.reset();
    } else if (nanoseconds(monotonic_ns()) - begin > linger_max_) {
      return;
    } else {
      climb(ladder, [this] { last_->sleep(wait_.sleep_max); });
    }
  }
}

void RealEndpoint::settle() {
  const PortTurn turn(*port_);
  settle_by([this] { return port_->poll(); });
}

void RealEndpoint::linger() {
  stop_helper();
  if (!last_->settled()) {
    fabric::Sink nobody;
    nobody.arrived = [](void*, const fabric::Incoming&) { return Keep::no; };
    last_->attach(nobody);
    constexpr int kBudget = 256;
    settle_by([this] { return last_->reap(kBudget, fabric::kAllLanes); });
  }
  if (reliable_ != nullptr) reliable_->leave();
}

Result<bool> choose_hrx(const std::string& lci, const fabric::FaultPlan& plan, bool fabric_loses,
                        const char* place) {
  if (lci == "hrx") return true;
  if (lci.empty()) return fabric_loses || plan.loses();
  if (lci == "direct" && !fabric_loses) return false;
  if (lci == kRawImplementation && fabric_loses) return false;
  if (lci == "direct") {
    return Error{
        fmt::format("{} loses packets now and then, and the direct composition has no "
                    "reliability part to mend it; valid: hrx, nirx, raw",
                    place)};
  }
  return Error{fmt::format("implementation \"{}\" does not exist on {}; valid: {}{}", lci, place,
                           fabric_loses ? "hrx, nirx, raw" : "direct, hrx",
                           lci == "nirx" ? "; NI engines are on udp: try --on udp" : "")};
}

}  // namespace fairlead::lci
