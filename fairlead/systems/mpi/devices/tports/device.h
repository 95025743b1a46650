// The device that is Tports (Quadrics paper, section 3; systems/elan/tports.h): they match messages
// and receives themselves, those of this rank to itself too, so that a wildcard has one matcher. A
// communicator's context is a message's port, its rank and tag are the message's.
//
// Up to eager_max() a message is sent unasked; what finds no receive is kept by the Tports. Longer
// ones are offered, and a receive gets their bytes straight from the sender's memory. Bytes that do
// not lie in a row go through one, at either end.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/pool.h"
#include "fairlead/base/post.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/tports.h"
#include "fairlead/systems/mpi/device.h"
#include "fairlead/systems/mpi/request.h"

namespace fairlead::mpi {

class Engine;

class TportsDevice final : public Device {
 public:
  // Part of `engine`, whose rank `context` is.
  TportsDevice(Engine& engine, run::Context& context);
  ~TportsDevice() override;

  // Device
  Sent start(Request& send, bool may_wait) override;
  void withdraw(Request&) override {}  // the Tports do
  bool matches() const override { return true; }
  void post(Request& receive) override;
  bool cancel(Request& receive) override;
  const Unexpected* probe(const Envelope& wanted) override;
  Unexpected* take(const Envelope& wanted) override;
  bool any_early() const override { return tports_.any_kept(); }
  void accept(Request& receive, Unexpected& message) override;
  bool progress() override;
  bool has_work() const override { return tports_.has_work() || !requests_to_slow_.empty(); }
  void poll() override;
  Post wait(const lci::Until& until) override;
  bool waits_for_all() const override { return true; }
  std::uint64_t eager_max(Rank to, bool sync) const override;
  std::uint64_t flags(Rank) const override { return 0; }
  std::uint64_t strays() const override { return strays_ + tports_.strays(); }
  void slow_down(Rank peer, bool slow) override;
  std::string describe(Rank peer) const override;

 private:
  struct Outgoing : elan::Send {
    std::uint32_t id = 0;           // the pool's
    Outgoing* next_free = nullptr;  // the pool's
    Request* request = nullptr;
    std::unique_ptr<std::byte[]> row;  // of bytes that do not lie in one
  };
  struct Incoming : elan::Receive {
    std::uint32_t id = 0;           // the pool's
    Incoming* next_free = nullptr;  // the pool's
    Request* request = nullptr;     // nullptr: taken by a matched probe, and not received yet
  };

  static elan::Wanted wanted_of(const Envelope& envelope);
  Outgoing& outgoing(Request& send);
  Incoming& incoming(const Envelope& wanted, Request* request);
  void give(Outgoing& out);
  void give(Incoming& in);
  void received(Incoming& in);
  void sent(Outgoing& out);
  bool send_slow(Rank peer, bool slow);

  Engine& engine_;
  lci::Port& port_;
  Pool<Outgoing> outgoing_;
  Pool<Incoming> incoming_;
  elan::Tports tports_;
  Unexpected probed_;                                    // what probe() returns
  std::vector<std::pair<Rank, bool>> requests_to_slow_;  // that found no room
  std::uint64_t strays_ = 0;
};

}  // namespace fairlead::mpi
