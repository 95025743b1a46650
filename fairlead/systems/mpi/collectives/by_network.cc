#include "fairlead/systems/mpi/collectives/by_network.h"

#include <memory>
#include <optional>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/network.h"

namespace fairlead::mpi {
namespace {

void and_bytes(const void* a, const void* b, void* out, std::size_t count) {
  const auto* const x = static_cast<const std::uint8_t*>(a);
  const auto* const y = static_cast<const std::uint8_t*>(b);
  for (std::size_t i = 0; i < count; ++i) static_cast<std::uint8_t*>(out)[i] = x[i] & y[i];
}

// All members ask for it only where each has such a network and one thread, whose calls of several
// communicators have one order. Once they agree every one knows that the others' parts are there.
bool all_can(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  GroupCall group(process, comm, kind, call);
  auto can = static_cast<std::byte>(process.network != nullptr && process.lock == nullptr);
  reduce_tree(group, {&and_bytes, 1, 1}, &can);
  bcast_binomial(group, &can, 1, 0);
  return can != std::byte{0};
}

// nullptr: the members use messages.
elan::Members* members_of(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  if (comm.network == nullptr) {
    auto made = std::make_shared<NetworkGroup>();
    if (all_can(process, comm, kind, call)) {
      made->members = std::make_unique<elan::Members>(process.network->collectives(),
                                                      comm.context + 1, comm.members);
    }
    comm.network = std::move(made);
  }
  return comm.network->members.get();
}

// Enters the communicator's next collective. True: this rank may go on to the members' part.
class NetworkCall {
 public:
  NetworkCall(Process& process, Comm& comm, CollectiveKind kind, const char* call)
      : process_(process), comm_(comm), kind_(kind), call_(call) {
    ++comm.collectives;
    comm.before = comm.collective;
    comm.collective = static_cast<std::uint8_t>(kind);
  }
  ~NetworkCall() { process_.engine().wait_is_over(); }
  NetworkCall(const NetworkCall&) = delete;
  NetworkCall& operator=(const NetworkCall&) = delete;

  void meet(elan::Members& members) {
    const auto mine = static_cast<std::uint8_t>(kind_);
    const std::uint8_t first = members.meet(mine, call_);
    if (first != mine) disagree(process_, comm_, call_, 0, comm_.collectives, first);
  }

 private:
  Process& process_;
  Comm& comm_;
  CollectiveKind kind_;
  const char* call_;
};

// Whether there is anything to ask the members of a communicator.
bool may(Process& process, const Comm& comm) {
  return process.network != nullptr && asks_network(comm.size, process.bcast_way);
}

std::optional<Network::Known> known(Process& process, const Operand& operand,
                                    const elan::Members& members) {
  if (operand.kernel == nullptr || operand.count == 0) return std::nullopt;
  const auto found = process.network->known(operand.kernel);
  return found && members.reduces(found->op, found->type) ? found : std::nullopt;
}

// As Elanlib wants it: the higher operand is combined into what is there of the lower ones.
void combine_into(const void* from, void* into, std::size_t count, void* operand) {
  static_cast<const Operand*>(operand)->combine(into, from, into, count);
}

}  // namespace

bool barrier_by_network(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  if (!may(process, comm)) return false;
  elan::Members* const members = members_of(process, comm, kind, call);
  if (members == nullptr || !members->meets()) return false;
  NetworkCall(process, comm, kind, call).meet(*members);
  return true;
}

bool bcast_by_network(Process& process, Comm& comm, const char* call, void* buffer,
                      std::uint64_t size, int root) {
  if (!may(process, comm)) return false;
  elan::Members* const members = members_of(process, comm, CollectiveKind::bcast, call);
  if (members == nullptr || !members->broadcasts()) return false;
  NetworkCall here(process, comm, CollectiveKind::bcast, call);
  here.meet(*members);
  members->broadcast(buffer, size, static_cast<std::uint32_t>(root), call);
  return true;
}

bool reduce_by_network(Process& process, Comm& comm, const char* call, const void* own,
                       void* result, const Operand& operand, int root) {
  if (!may(process, comm)) return false;
  elan::Members* const members = members_of(process, comm, CollectiveKind::reduce, call);
  if (members == nullptr) return false;
  const std::optional<Network::Known> what = known(process, operand, *members);
  if (!what || !network_reduces(operand.bytes())) return false;
  const NetworkCall here(process, comm, CollectiveKind::reduce, call);
  const bool at_root = comm.rank == root;
  Scratch partial(process, at_root ? 0 : operand.bytes());
  members->reduce(what->op, what->type, own, at_root ? result : partial.data(), operand.count,
                  call);
  return true;
}

bool allreduce_by_network(Process& process, Comm& comm, const char* call, const void* own,
                          void* result, const Operand& operand) {
  if (!may(process, comm)) return false;
  elan::Members* const members = members_of(process, comm, CollectiveKind::allreduce, call);
  if (members == nullptr || operand.count == 0) return false;
  if (const std::optional<Network::Known> what = known(process, operand, *members);
      what && network_reduces(operand.bytes())) {
    const NetworkCall here(process, comm, CollectiveKind::allreduce, call);
    members->reduce(what->op, what->type, own, result, operand.count, call);
    return true;
  }
  if (!members->broadcasts() || !operand.commutes() || !network_brings_result(operand.bytes())) {
    return false;
  }
  const NetworkCall here(process, comm, CollectiveKind::allreduce, call);
  const elan::Members::Combining how{&combine_into, const_cast<Operand*>(&operand),
                                     operand.element};
  members->reduce_in_tree(how, own, result, operand.count, call);
  return true;
}

}  // namespace fairlead::mpi
