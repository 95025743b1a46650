// What the network, or its interfaces, do of this process's collectives: Elanlib's groups
// (systems/elan/collectives.h), made where a job has such a network. by_network.h has the calls.
#pragma once
#include <memory>
#include <optional>
#include <unordered_map>

#include "fairlead/base/reduction.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/collectives.h"
#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/operation.h"

namespace fairlead::mpi {

class Network {
 public:
  // nullptr: there is no such network. Messages of the engine go on while a collective waits.
  static std::unique_ptr<Network> make(run::Context& context, Engine& engine);

  // What networks call the reduction that a kernel (operation.h) does.
  struct Known {
    ReduceOp op;
    ReduceType type;
  };
  // nullopt: no network knows it.
  std::optional<Known> known(Combine kernel) const;

  elan::Collectives& collectives() { return *collectives_; }

 private:
  explicit Network(std::unique_ptr<elan::Collectives> collectives);

  std::unique_ptr<elan::Collectives> collectives_;
  std::unordered_map<Combine, Known> known_;
};

// One communicator's share of it, made when its members have settled that (by_network.h).
struct NetworkGroup {
  // nullptr: they use messages.
  std::unique_ptr<elan::Members> members;
};

}  // namespace fairlead::mpi
