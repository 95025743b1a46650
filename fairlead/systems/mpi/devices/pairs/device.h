// Two devices in one job: pairs of ranks between which a processor's stores go to the other one's
// memory by hardware, off its node, have the rsm device; all others the direct one. A pair keeps
// its device for the job, so that its messages keep their order; both ends choose alike, as both
// see the same kind of path.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/mpi/device.h"
#include "fairlead/systems/mpi/devices/rsm/device.h"
#include "fairlead/systems/mpi/devices/rsm/tunables.h"
#include "fairlead/systems/mpi/request.h"

namespace fairlead::mpi {

class Engine;

class PairsDevice final : public Device {
 public:
  // Part of `engine`, whose direct device it uses, too.
  PairsDevice(Engine& engine, const rsm::Tunables& tunables, const run::Context& context);

  // Whether the pair of this rank and `peer` has the rsm device.
  static bool is_far(const lci::Port& port, Rank peer);
  static bool any_far(const lci::Port& port);

  // Device
  Sent start(Request& send, bool may_wait) override {
    return of(send.envelope.peer).start(send, may_wait);
  }
  bool send_whole(const void* from, std::uint64_t size, const Envelope& to) override {
    return is_far_[to.peer] && far_.send_whole(from, size, to);
  }
  void withdraw(Request& send) override { of(send.envelope.peer).withdraw(send); }
  void accept(Request& receive, Unexpected& message) override;
  bool progress() override;
  bool has_work() const override { return near_.has_work() || far_.has_work(); }
  // What is direct comes by the Port's upcalls, which these run.
  void poll() override { far_.poll(); }
  Post wait(const lci::Until& until) override { return far_.wait(until); }
  bool waits_for_all() const override { return true; }
  std::uint64_t eager_max(Rank to, bool sync) const override { return of(to).eager_max(to, sync); }
  std::uint64_t flags(Rank peer) const override { return of(peer).flags(peer); }
  std::uint64_t strays() const override { return near_.strays() + far_.strays(); }
  void slow_down(Rank peer, bool slow) override { of(peer).slow_down(peer, slow); }
  void stop() override { far_.stop(); }
  std::string describe(Rank peer) const override { return of(peer).describe(peer); }

 private:
  Device& of(Rank peer) { return is_far_[peer] ? static_cast<Device&>(far_) : near_; }
  const Device& of(Rank peer) const {
    return is_far_[peer] ? static_cast<const Device&>(far_) : near_;
  }

  std::vector<bool> is_far_;  // by rank
  Device& near_;
  RsmDevice far_;
};

}  // namespace fairlead::mpi
