// A process's beginning and end: the device it sends by, and what it owns.
#include "fairlead/systems/mpi/process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "fairlead/lci/message_matching.h"
#include "fairlead/systems/mpi/anytime_call.h"
#include "fairlead/systems/mpi/background.h"
#include "fairlead/systems/mpi/collectives/network.h"
#include "fairlead/systems/mpi/devices/pairs/device.h"
#include "fairlead/systems/mpi/devices/panda/device.h"
#include "fairlead/systems/mpi/devices/rsm/device.h"
#include "fairlead/systems/mpi/devices/tports/device.h"
#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/windows/windows.h"

namespace fairlead::mpi {
namespace {

void abort_with(void* context, const std::string& reason) {
  end_job(*static_cast<run::Context*>(context), MPI_ERR_OTHER, "MPI: " + reason);
}

CopyChoice copy_choice(run::Context& context) {
  const char* const told = std::getenv(CopyChoice::kVariable);
  Result<CopyChoice> made = CopyChoice::of_text(told != nullptr ? told : "auto");
  if (!made.ok()) end_job(context, MPI_ERR_OTHER, "MPI: " + made.error().text);
  return made.value();
}

std::uint64_t most_ranks_of_a_node(run::Context& context) {
  std::map<Peer, std::uint64_t> ranks;
  std::uint64_t most = 0;
  for (Rank rank = 0; rank < context.port().size(); ++rank) {
    most = std::max(most, ++ranks[context.node_of(rank)]);
  }
  return most;
}

rsm::Tunables rsm_tunables(run::Context& context) {
  const Result<rsm::Tunables> tunables =
      rsm::Tunables::read([](const char* name) -> const char* { return std::getenv(name); });
  if (!tunables.ok()) end_job(context, MPI_ERR_OTHER, "MPI: " + tunables.error().text);
  const Result<void> fits = tunables.value().check(most_ranks_of_a_node(context));
  if (!fits.ok()) end_job(context, MPI_ERR_OTHER, "MPI: " + fits.error().text);
  const char* const prints = std::getenv("MPI_PRINTENV");
  if (prints != nullptr && *prints != '\0' && *prints != '0' && context.port().self() == 0) {
    std::fputs(tunables.value().text().c_str(), stderr);
  }
  return tunables.value();
}

OtherDevice rsm_device(run::Context& context) {
  return {[told = rsm_tunables(context), &context](Engine& engine) {
    auto made = std::make_unique<RsmDevice>(engine, told, context);
    for (Rank to = 0; told.connect_all != 0 && to < engine.port().size(); ++to) {
      if (to != engine.self()) made->connect(to);
    }
    return made;
  }};
}

OtherDevice pairs_device(run::Context& context) {
  return {[told = rsm_tunables(context), &context](Engine& engine) {
    return std::make_unique<PairsDevice>(engine, told, context);
  }};
}

OtherDevice other_device(run::Context& context, const JobOptions& options) {
  if (options.device == DeviceName::direct) return {};
  if (options.device == DeviceName::rsm) return rsm_device(context);
  if (options.device == DeviceName::automatic) {
    if (!PairsDevice::any_far(context.port())) return {};
    return pairs_device(context);
  }
  const run::LayerCosts& costs = context.layer_costs();
  if (options.device == DeviceName::tports) {
    return {[&context](Engine& engine) { return std::make_unique<TportsDevice>(engine, context); },
            costs.of(run::LayerStep::mpi_tports_send),
            costs.of(run::LayerStep::mpi_tports_receive)};
  }
  // The program may use Panda, too, and then starts and stops it.
  panda::Panda* panda = panda::Panda::of(context);
  const bool owned = panda == nullptr;
  if (owned) {
    const Result<panda::Panda*> started = panda::Panda::start(context, {});
    if (!started.ok()) end_job(context, MPI_ERR_OTHER, "MPI: " + started.error().text);
    panda = started.value();
  }
  return {[panda, owned](Engine& engine) {
            return std::make_unique<PandaDevice>(engine, *panda, owned);
          },
          costs.of(run::LayerStep::mpi_panda_send), costs.of(run::LayerStep::mpi_panda_match)};
}

}  // namespace

DeviceName device_in(run::Context& context, DeviceName asked) {
  const bool open = asked == DeviceName::unnamed || asked == DeviceName::automatic;
  if (open && lci::matching_of(context.port()) != nullptr) return DeviceName::tports;
  return asked == DeviceName::unnamed ? DeviceName::direct : asked;
}

Process::Process(run::Context& context, int level, const JobOptions& options)
    : thread_level(level),
      bcast_way(options.bcast),
      // Most programs that ask for several threads' calls never make them.
      lock(level == MPI_THREAD_MULTIPLE ? std::make_unique<FairLock>(FairLock::Bias::creator)
                                        : nullptr),
      context_(context),
      engine_(context.port(), {&abort_with, &context}, copy_choice(context), {},
              other_device(context, options)) {
  const Rank rank = context.port().self();
  world_.context = 0;
  world_.rank = static_cast<int>(rank);
  world_.size = static_cast<int>(context.port().size());
  world_.name = "MPI_COMM_WORLD";
  world_.given = world_.name;
  world_attributes.universe_size = world_.size;
  self_.context = 2;
  self_.size = 1;
  self_.name = "MPI_COMM_SELF";
  self_.given = self_.name;
  self_.members = {rank};
  self_.index_members();
  done_send_.state = State::done;
  done_send_.is_send = true;
  done_receive_.state = State::done;
  done_send_.kind = RequestKind::constant;
  done_receive_.kind = RequestKind::constant;
  engine_.share(lock.get());
  if (lock != nullptr) extras_ = std::make_unique<Extras>();  // begin_turn() looks at it
  if (run::process_context.load() == &context) {
    EarlyState early = take_early_state();
    user_errors = std::move(early.user_errors);
    numbers = std::move(early.numbers);
  }
  engine_.set_unexpected_bytes(options.unexpected_bytes);
  network = Network::make(context, engine_);
  may_be_plain_ = lock == nullptr && engine_.short_ways();
  may_be_plain_in_turn_ = lock != nullptr && engine_.short_ways();
  // Before it messages may come to ranks whose device is not there yet.
  if (options.device == DeviceName::panda) panda::Panda::of(context)->barrier();
}

Process::~Process() = default;

Extras& Process::extras() {
  if (extras_ == nullptr) extras_ = std::make_unique<Extras>();
  return *extras_;
}

}  // namespace fairlead::mpi
