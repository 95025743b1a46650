#include "fairlead/run/job/engine_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/fabric/faulty/faulty.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/udp/udp_nic.h"
#include "fairlead/lci/ni/ni_engine.h"
#include "fairlead/lci/paths/rails_nic.h"
#include "fairlead/run/job/binding.h"
#include "fairlead/run/machine/host_address.h"
#include "fairlead/run/node/process_end.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/wire/bootstrap.h"
#include "fairlead/run/wire/bootstrap_messages.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

// Engines tell each other where they are, on each rail, on the cards of their first ranks.
struct Rail {
  const fabric::ShmJob* job = nullptr;
  NodeMap nodes;
  std::size_t index = 0;
};
bool find_engine(void* rail, Peer node, fabric::UdpAddress* address) {
  const auto& [job, nodes, index] = *static_cast<const Rail*>(rail);
  RankCard card;
  if (!job->read_card(nodes.leader_of(node), std::as_writable_bytes(std::span(&card, 1))))
    return false;
  *address = card.rails[index];
  return address->known();
}

// All windows of the others together fit what the kernel holds for this engine.
std::uint32_t window_for(std::size_t socket_bytes, Peer engines) {
  const std::size_t packets = socket_bytes / 2 / fabric::engine::kSlotBytes;
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(packets / std::max<Peer>(engines - 1, 1), 4, 64));
}

// With several nodes, the guardian passes it on to the others.
void tell_address(const EnginePlan& plan, Rank first, const RankCard& own, const Fd& life) {
  static_assert(sizeof own <= AddressNote::kCardBytes);
  if (plan.ground.here.count == 0) return;
  auto note = make_message<AddressNote>(first);
  note.size = sizeof own;
  std::memcpy(note.card, &own, sizeof own);
  (void)::send(life.get(), &note, sizeof note, MSG_NOSIGNAL);
}

// The engine's way to the others.
struct Wire {
  std::array<Rail, RankCard::kRailsMax> rails;
  RankCard where;
  std::size_t socket_bytes = SIZE_MAX;  // the smallest
  std::unique_ptr<fabric::Nic> nic;
  std::unique_ptr<fabric::Nic> faulty;

  fabric::Nic& top() { return faulty != nullptr ? *faulty : *nic; }
};

Result<std::unique_ptr<Wire>> open_wire(const EnginePlan& plan, fabric::ShmJob& job, int bell) {
  const NodeMap nodes = nodes_of(plan.options);
  auto wire = std::make_unique<Wire>();
  fabric::UdpOptions udp;
  udp.self = plan.node;
  udp.peers = nodes.count();
  udp.key = plan.ground.key;
  udp.job = fabric::job_number(udp.key);
  udp.auth = fabric::parse_auth(plan.options.auth).value();
  udp.mtu = plan.options.mtu;
  udp.find = find_engine;
  udp.bell = bell;
  udp.counters = &fabric::engine::queue_area(job, nodes.leader_of(plan.node)).status().counters;
  std::vector<std::unique_ptr<fabric::Nic>> rails;
  for (const std::string& address : address_list(plan.options.address)) {
    FAIRLEAD_CHECK(rails.size() < RankCard::kRailsMax, "rails were not checked");
    const std::size_t index = rails.size();
    wire->rails[index] = {&job, nodes, index};
    udp.rail = static_cast<std::uint32_t>(index);
    udp.address = address;
    udp.find_context = &wire->rails[index];
    Result<std::unique_ptr<fabric::UdpNic>> nic = fabric::open_udp(udp);
    if (!nic.ok()) return nic.error();
    wire->where.rails[index] = nic.value()->address();
    wire->socket_bytes = std::min(wire->socket_bytes, nic.value()->socket_bytes());
    rails.push_back(std::move(nic.value()));
  }
  wire->nic = rails.size() == 1 ? std::move(rails.front()) : lci::make_rails_nic(std::move(rails));
  if (const auto faults = fault_plan_of(plan.options.faults, plan.options.seed)) {
    wire->faulty = fabric::make_faulty(*wire->nic, *faults, {.epoch = plan.ground.epoch});
  }
  return wire;
}

// `at_work` is called once the ranks may come; returns after `stop`.
Result<void> serve(const EnginePlan& plan, int bell, const std::atomic<bool>& stop,
                   const std::function<void(const std::string&)>& fatal,
                   const std::function<void(const RankCard&)>& at_work) {
  Result<std::unique_ptr<fabric::ShmJob>> job =
      fabric::ShmJob::open(plan.ground.fd, plan.ground.nonce);
  if (!job.ok()) return job.error();
  Result<std::unique_ptr<Wire>> wire = open_wire(plan, *job.value(), bell);
  if (!wire.ok()) return wire.error();
  lci::NiEngineOptions options;
  options.nodes = nodes_of(plan.options);
  options.self = plan.node;
  options.epoch = plan.ground.epoch;
  options.wait = plan.wait;
  options.window = window_for(wire.value()->socket_bytes, options.nodes.count());
  options.fatal = fatal;
  lci::NiEngine engine(*job.value(), wire.value()->top(), options);
  const RankCard& where = wire.value()->where;
  job.value()->publish_card(options.nodes.leader_of(plan.node),
                            std::as_bytes(std::span(&where, 1)));
  engine.ready();
  at_work(where);
  engine.run(stop);
  return {};
}

[[noreturn]] void run_engine(const EnginePlan& plan, const Fd& life, int bell) {
  ::prctl(PR_SET_NAME, fmt::format("fairlead-ni-{}", plan.node).c_str());
  const auto fatal = [&life](const std::string& reason) {
    auto note = make_message<AbortNote>(0);
    note.code = 1;
    set_text(note.reason, reason);
    (void)::send(life.get(), &note, sizeof note, MSG_NOSIGNAL);
    ::_exit(1);
  };
  const std::atomic<bool> never{false};
  const Result<void> served = serve(plan, bell, never, fatal, [&](const RankCard& where) {
    tell_address(plan, nodes_of(plan.options).leader_of(plan.node), where, life);
  });
  fatal(fmt::format("the NI engine of node {}: {}", plan.node,
                    served.ok() ? "it stopped" : served.error().text));
  ::_exit(1);
}

// --- Without a guardian

// To who starts it, when it is at work or cannot be.
struct LoneStart {
  std::uint32_t pid = 0;
  RankCard where;
  char reason[fabric::engine::EngineStatus::kReasonBytes] = {};  // empty: it is at work
};
constexpr int kLoneStartMs = 30'000;

void close_range(int first, int last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  // Kernels before 5.9.
  for (int fd = first; fd <= std::min<long>(last, ::sysconf(_SC_OPEN_MAX)); ++fd) ::close(fd);
}
// Everything that the rank has open but these and the error stream.
void leave_rank_behind(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  int from = STDERR_FILENO + 1;
  for (const int fd : keep) {
    close_range(from, fd - 1);
    from = fd + 1;
  }
  close_range(from, INT_MAX);
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(null.get(), STDOUT_FILENO);
  for (int signal = 1; signal < NSIG; ++signal) (void)::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // The launcher's binding was the rank's.
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  (void)::sched_setaffinity(0, sizeof all, &all);
}

// Returns when none of them runs any more.
void await_ends(const std::vector<ProcessEnd>& ranks) {
  for (const ProcessEnd& rank : ranks) {
    while (!rank.ended()) {
      std::vector<pollfd> polls;
      const int wait_ms = rank.append_poll(polls);
      (void)::poll(polls.data(), polls.size(), wait_ms);
    }
  }
}

[[noreturn]] void run_lone_engine(const EnginePlan& plan, std::span<const std::uint32_t> ranks,
                                  int bell, int starter) {
  ::prctl(PR_SET_NAME, fmt::format("fairlead-ni-{}", plan.node).c_str());
  leave_rank_behind({plan.ground.fd, bell, starter});
  std::vector<ProcessEnd> ends;
  for (const std::uint32_t pid : ranks) ends.emplace_back(pid);
  std::atomic<bool> stop{false};
  LoneStart start;
  start.pid = static_cast<std::uint32_t>(::getpid());
  bool told = false;
  const auto tell = [&] {
    if (!std::exchange(told, true)) (void)!::write(starter, &start, sizeof start);
    ::close(starter);
  };
  const auto fatal = [&](const std::string& reason) {
    if (!told) {
      set_text(start.reason, reason);
      tell();
    } else if (auto job = fabric::ShmJob::open(plan.ground.fd, plan.ground.nonce); job.ok()) {
      const NodeMap nodes = nodes_of(plan.options);
      set_text(fabric::engine::queue_area(*job.value(), nodes.leader_of(plan.node)).status().reason,
               reason);
      fabric::engine::mark_engine_gone(*job.value(), nodes, plan.node);
    }
    ::_exit(1);
  };
  std::thread watch([&] {
    await_ends(ends);
    stop.store(true);
    const std::uint64_t one = 1;
    (void)!::write(bell, &one, sizeof one);
  });
  const Result<void> served = serve(plan, bell, stop, fatal, [&](const RankCard& where) {
    start.where = where;
    tell();
  });
  if (!served.ok()) fatal(served.error().text);
  watch.join();
  ::_exit(0);
}

// Child of a child: init's, or whoever's takes orphans.
bool fork_orphan(const std::function<void()>& body) {
  const pid_t between = ::fork();
  if (between == 0) {
    ::setsid();
    const pid_t engine = ::fork();
    if (engine == 0) body();
    ::_exit(engine < 0 ? errno : 0);
  }
  int status = 0;
  while (between > 0 && ::waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  if (between > 0 && status != 0) errno = WEXITSTATUS(status);
  return between > 0 && status == 0;
}

}  // namespace

Result<LoneEngine> start_lone_engine(const EnginePlan& plan, std::span<const std::uint32_t> ranks) {
  const auto refused = [&](const std::string& why) {
    return Error{fmt::format("the NI engine of node {}: {}", plan.node, why)};
  };
  LoneEngine engine;
  engine.bell = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  int ends[2];
  if (!engine.bell.valid() || ::pipe2(ends, O_CLOEXEC) != 0) {
    return refused(fmt::format("{}; raise ulimit -n", std::strerror(errno)));
  }
  Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const bool forked =
      fork_orphan([&] { run_lone_engine(plan, ranks, engine.bell.get(), write_end.get()); });
  if (!forked) {
    return refused(fmt::format("cannot be started: {}; raise ulimit -u", std::strerror(errno)));
  }
  write_end.reset();
  LoneStart start;
  pollfd answer{read_end.get(), POLLIN, 0};
  while (::poll(&answer, 1, kLoneStartMs) < 0 && errno == EINTR) {
  }
  if (::read(read_end.get(), &start, sizeof start) != sizeof start) return refused("did not start");
  if (start.reason[0] != '\0') return refused(start.reason);
  engine.pid = start.pid;
  engine.where = start.where;
  return engine;
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
      bind_to(own[node - nodes_of(plan.options).node_of(plan.here().first)]);
    }
    run_engine({plan.options, plan.ground, plan.binding.wait, node}, life.value().theirs,
               bell.get());
  }
  ::setpgid(engine.pid, engine.pid);
  engine.life = std::move(life.value().ours);
  return engine;
}

}  // namespace fairlead::run
