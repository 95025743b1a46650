#include "fairlead/systems/mpi/collectives/network.h"

#include <complex>
#include <iterator>
#include <type_traits>
#include <utility>

#include "fairlead/systems/mpi/datatype_c.h"
#include "fairlead/systems/mpi/thresholds.h"
#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi {
namespace {

struct SameOp {
  MPI_Op here;
  ReduceOp there;
};
const SameOp kOps[] = {{MPI_SUM, ReduceOp::sum},    {MPI_MIN, ReduceOp::min},
                       {MPI_MAX, ReduceOp::max},    {MPI_BAND, ReduceOp::bit_and},
                       {MPI_BOR, ReduceOp::bit_or}, {MPI_BXOR, ReduceOp::bit_xor}};

// nullopt: networks combine no such elements.
template <class T>
std::optional<ReduceType> type_there() {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                (std::is_integral_v<T> && sizeof(T) <= 8)) {
    return reduce_type_of<T>();
  } else {
    return std::nullopt;
  }
}

struct SameType {
  std::uintptr_t here;
  std::optional<ReduceType> there;
};
const SameType kTypes[] = {
#define FAIRLEAD_MPI_TYPE(name, value, type, group) {value, type_there<type>()},
#include "fairlead/systems/mpi/datatypes.inc"
#undef FAIRLEAD_MPI_TYPE
};

}  // namespace

std::unique_ptr<Network> Network::make(run::Context& context, Engine& engine) {
  const elan::Collectives::Names names{kNetworkChannel, kNetworkSignals,     kNames.counters.first,
                                       kNetworkSegment, kNetworkSegment + 1, kNames.groups.first};
  const elan::Waiting waiting{[](void* user, const lci::Until& until, const char* call) {
                                static_cast<Engine*>(user)->wait_beside_device(until, call);
                              },
                              &engine};
  auto made = elan::Collectives::make(context, names, waiting);
  return made == nullptr ? nullptr : std::unique_ptr<Network>(new Network(std::move(made)));
}

Network::Network(std::unique_ptr<elan::Collectives> collectives)
    : collectives_(std::move(collectives)) {
  for (const SameType& type : kTypes) {
    if (!type.there) continue;
    for (const SameOp& op : kOps) {
      const Combine kernel = find_combine(op.here, reinterpret_cast<MPI_Datatype>(type.here));
      if (kernel != nullptr) known_.emplace(kernel, Known{op.there, *type.there});
    }
  }
}

std::optional<Network::Known> Network::known(Combine kernel) const {
  const auto found = known_.find(kernel);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace fairlead::mpi
