// The lower waist in virtual time: what a machine whose network interfaces are RDMA engines gives
// each rank. The direct composition stands on it (lci/endpoint/rdma_endpoint.h), whatever the kind
// of engine.
#pragma once
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/hw/host_cost.h"

namespace fairlead::fabric::model {

// Its calls take the rank's time.
class ModelNic : public Nic {
 public:
  // How many there are; before its port is made.
  virtual void set_ranks(Rank ranks) = 0;
  // Its caps() are the same for all peers: whoever asks about many need not.
  virtual bool has_one_path() const { return false; }
  // Its atomics are not atomic with those of this rank's processor, which therefore leaves its own
  // words to it where peers change them, too (InfiniBand).
  virtual bool atomics_are_apart() const { return false; }
  // The rank's clock.
  virtual Ps now() = 0;
  virtual void work(const hw::HostWork& work) = 0;
  // What sleep() shows when the job hangs; a string that outlives the wait.
  virtual void set_wait(const char* what) = 0;

  // Ports of this job may allocate so many bytes; before the first is made. Where that is more than
  // regions have, ranks share no memory.
  virtual void allocates(std::uint64_t /*bytes*/) {}
  // --- As lci's VirtualSite has them: memory that ranks of a node share.
  virtual bool shows() const { return false; }
  virtual void catch_up() {}
  virtual void show(Rank /*rank*/) {}

  // --- Interrupts, as lci's VirtualSite has them: where a machine has none, nothing of it is
  // called.
  virtual bool interrupts() const { return false; }
  virtual Ps default_watchdog() const { return Ps{0}; }
  virtual void wake(Ps /*watchdog*/) {}
  virtual Ps time_of(const hw::HostWork&) { return Ps{0}; }
  virtual Ps compute(Ps time, bool /*completions*/) { return time; }
  virtual void serve(bool /*interrupted*/) {}
  virtual void served() {}
};

class NicMachine : public Machine {
 public:
  virtual ModelNic& nic(Rank rank) = 0;

 protected:
  using Machine::Machine;

  std::shared_ptr<Figures> counted_;  // by count(): hosts and interfaces hold a pointer
};

}  // namespace fairlead::fabric::model
