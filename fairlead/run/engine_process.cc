#include "fairlead/run/engine_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "fairlead/fabric/faulty/faulty.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/udp/udp_nic.h"
#include "fairlead/lci/ni_engine.h"
#include "fairlead/run/bootstrap.h"
#include "fairlead/run/bootstrap_messages.h"
#include "fairlead/run/rank_process.h"
#include "fairlead/run/welcome.h"

namespace fairlead::run {
namespace {

using fabric::engine::Nodes;

// Engines tell each other where they are on the cards of their first ranks.
struct Addresses {
  const fabric::ShmJob& job;
  Nodes nodes;
};
bool find_engine(void* context, Peer node, fabric::UdpAddress* address) {
  const auto& known = *static_cast<const Addresses*>(context);
  return known.job.read_card(known.nodes.first(node),
                             std::as_writable_bytes(std::span(address, 1)));
}

// All windows of the others together fit what the kernel holds for this engine.
std::uint32_t window_for(std::size_t socket_bytes, Peer engines) {
  const std::size_t packets = socket_bytes / 2 / fabric::engine::kSlotBytes;
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(packets / std::max<Peer>(engines - 1, 1), 4, 64));
}

// Of several nodes, the guardian passes it on to the others.
void tell_address(const JobPlan& plan, Rank first, const fabric::UdpAddress& own, const Fd& life) {
  static_assert(sizeof own <= AddressNote::kCardBytes);
  if (plan.ground.here.count == 0) return;
  auto note = make_message<AddressNote>(first);
  note.size = sizeof own;
  std::memcpy(note.card, &own, sizeof own);
  (void)::send(life.get(), &note, sizeof note, MSG_NOSIGNAL);
}

Result<void> serve(const JobPlan& plan, Peer node, const Fd& life, int bell,
                   const std::function<void(const std::string&)>& fatal) {
  Result<std::unique_ptr<fabric::ShmJob>> job =
      fabric::ShmJob::open(plan.ground.fd, plan.ground.nonce);
  if (!job.ok()) return job.error();
  const Nodes nodes = nodes_of(plan.options);
  Addresses addresses{*job.value(), nodes};
  fabric::UdpOptions udp;
  udp.self = node;
  udp.peers = nodes.count();
  udp.key = plan.ground.key;
  udp.job = fabric::job_number(udp.key);
  udp.auth = fabric::parse_auth(plan.options.auth).value();
  udp.address = plan.options.address;
  udp.mtu = plan.options.mtu;
  udp.find = find_engine;
  udp.find_context = &addresses;
  udp.bell = bell;
  udp.counters = &fabric::engine::queue_area(*job.value(), nodes.first(node)).status().counters;
  Result<std::unique_ptr<fabric::UdpNic>> nic = fabric::open_udp(udp);
  if (!nic.ok()) return nic.error();
  fabric::Nic* wire = nic.value().get();
  std::unique_ptr<fabric::Nic> faulty;
  if (const auto faults = fault_plan_of(plan.options.faults, plan.options.seed)) {
    faulty = fabric::make_faulty(*wire, *faults, {.epoch = plan.ground.epoch});
    wire = faulty.get();
  }
  lci::NiEngineOptions options;
  options.nodes = nodes;
  options.self = node;
  options.epoch = plan.ground.epoch;
  options.wait = plan.binding.wait;
  options.window = window_for(nic.value()->socket_bytes(), nodes.count());
  options.fatal = fatal;
  lci::NiEngine engine(*job.value(), *wire, options);
  const fabric::UdpAddress& own = nic.value()->address();
  job.value()->publish_card(nodes.first(node), std::as_bytes(std::span(&own, 1)));
  tell_address(plan, nodes.first(node), own, life);
  engine.ready();
  const std::atomic<bool> never{false};
  engine.run(never);
  return {};
}

[[noreturn]] void run_engine(const JobPlan& plan, Peer node, const Fd& life, int bell) {
  ::prctl(PR_SET_NAME, fmt::format("fairlead-ni-{}", node).c_str());
  const auto fatal = [&life](const std::string& reason) {
    auto note = make_message<AbortNote>(0);
    note.code = 1;
    set_text(note.reason, reason);
    (void)::send(life.get(), &note, sizeof note, MSG_NOSIGNAL);
    ::_exit(1);
  };
  const Result<void> served = serve(plan, node, life, bell, fatal);
  fatal(fmt::format("the NI engine of node {}: {}", node,
                    served.ok() ? "it stopped" : served.error().text));
  ::_exit(1);
}

}  // namespace

bool has_engines(const WorldOptions& options) {
  return options.on == "udp" && options.lci == "nirx" &&
         (!options.several_nodes || options.ranks_per_node > 0);
}

Nodes nodes_of(const WorldOptions& options) {
  return {options.ranks, std::max(options.ranks_per_node, 1U)};
}

Result<EngineProcess> start_engine(const JobPlan& plan, Peer node,
                                   const std::function<void()>& close_inherited) {
  Result<SocketPair> life = socket_pair();
  if (!life.ok()) return life.error();
  EngineProcess engine;
  engine.bell = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const pid_t guardian = ::getpid();
  engine.pid = engine.bell.valid() ? ::fork() : -1;
  if (engine.pid < 0) {
    return Error{fmt::format("cannot start the NI engine of node {}: {}; raise ulimit -u and -n",
                             node, std::strerror(errno))};
  }
  if (engine.pid == 0) {
    die_with(guardian);
    ::setpgid(0, 0);
    life.value().ours.reset();
    const Fd bell(::fcntl(engine.bell.get(), F_DUPFD_CLOEXEC, 0));
    close_inherited();
    if (const auto& own = plan.binding.engines; !own.empty()) {
      bind_to(own[node - nodes_of(plan.options).of(plan.here().first)]);
    }
    run_engine(plan, node, life.value().theirs, bell.get());
  }
  ::setpgid(engine.pid, engine.pid);
  engine.life = std::move(life.value().ours);
  return engine;
}

}  // namespace fairlead::run
