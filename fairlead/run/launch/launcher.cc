#include "fairlead/run/launch/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include "fairlead/run/hosts/host_job.h"
#include "fairlead/run/job/job.h"
#include "fairlead/run/job/program_path.h"
#include "fairlead/run/launch/world.h"
#include "fairlead/run/model/model_world.h"
#include "fairlead/run/platform_files.h"
#include "fairlead/run/rank/program.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

Result<RunReport> launch_on_shm(const LaunchOptions& options, const ExecPlan& exec) {
  const Result<void> checked = check_shm_options(options.world);
  if (!checked.ok()) return checked.error();
  if (options.body == BodyKind::fiber) {
    return Error{fmt::format(
        "--body fiber is for loop and modelled platforms; on {} every rank is a process",
        options.world.on)};
  }
  JobPlan plan;
  plan.options = options.world;
  plan.exec = &exec;
  plan.label = options.label;
  plan.forward_signals = options.forward_signals;
  return run_job(std::move(plan));
}

Result<RunReport> launch_on_hosts(const LaunchOptions& options, const ExecPlan& exec) {
  if (options.world.on != "shm" && !is_network(options.world.on)) {
    return Error{
        fmt::format("--on {} has no hosts: leave out --hosts, --hostfile and --nodes, or "
                    "leave out --on",
                    options.world.on)};
  }
  if (options.body == BodyKind::fiber) {
    return Error{"--body fiber is for loop and modelled platforms; on hosts a rank is a process"};
  }
  if (slots_of(options.hosts.list) != options.world.ranks) {
    return Error{fmt::format("{} ranks on hosts that were given {}", options.world.ranks,
                             slots_of(options.hosts.list))};
  }
  const Result<void> checked = check_shm_options(options.world);
  if (!checked.ok()) return checked.error();
  return run_on_hosts(options, exec);
}

std::vector<std::uint32_t> nodes_of_ranks(const HostOptions& hosts) {
  std::vector<std::uint32_t> counts;
  for (const HostSlots& host : hosts.list) counts.push_back(host.ranks);
  return NodeMap::of_counts(counts).table();
}

// Each host is a node, may have one NI engine, and may map the job's memory.
Result<void> plan_nodes(const HostOptions& hosts, WorldOptions& world) {
  world.node_of = nodes_of_ranks(hosts);
  if (!world.memory.empty() && world.ranks_per_node != 0) {
    return Error{
        fmt::format("--ranks-per-node: the ranks of a {} are its own; leave it out", hosts.noun)};
  }
  if (world.lci != "nirx") return {};
  // Also what ranks of one node send each other goes by their engine.
  if (world.on == "shm") world.on = "udp";
  if (world.on != "udp") return {};
  if (world.ranks_per_node != 0) {
    return Error{
        fmt::format("--ranks-per-node: every {} has one NI engine; leave it out", hosts.noun)};
  }
  return {};
}

// What a process has once and fibers would share.
Result<void> check_fiber_options(const LaunchOptions& options) {
  const char* refused = options.label                        ? "--label"
                        : !options.environment.empty()       ? "-x"
                        : !options.working_directory.empty() ? "--wdir"
                                                             : nullptr;
  if (refused == nullptr) return {};
  return Error{fmt::format("{} needs a process per rank; leave it out, or run with --body process",
                           refused)};
}

Result<RunReport> launch_fibers(const LaunchOptions& options, const ExecPlan& exec) {
  const Result<void> checked = check_fiber_options(options);
  if (!checked.ok()) return checked.error();
  const Result<LoadedProgram> program = load_program(exec.program);
  if (!program.ok()) return program.error();
  const LoadedProgram::Main entry = program.value().main();
  return run_world(options.world, [&](Context&) {
    // A main may change its arguments: each rank has its own.
    std::vector<std::string> arguments = exec.arguments;
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    return entry(static_cast<int>(arguments.size()), argv.data(), environ);
  });
}

Result<BodyKind> choose_body(const LaunchOptions& options, const ExecPlan& exec) {
  if (options.body != BodyKind::automatic) return options.body;
  const Result<bool> fiber = is_fiber_program(exec.program);
  if (!fiber.ok()) return fiber.error();
  return fiber.value() ? BodyKind::fiber : BodyKind::process;
}

}  // namespace

Result<RunReport> launch(const LaunchOptions& given) {
  LaunchOptions options = given;
  options.world.several_nodes = !options.hosts.list.empty();
  if (options.world.several_nodes) {
    if (Result<void> r = plan_nodes(options.hosts, options.world); !r.ok()) return r.error();
  }
  if (Result<void> r = check_placed_options(options.world); !r.ok()) return r.error();
  const Result<ExecPlan> exec =
      plan_exec(options.command, options.environment, options.working_directory);
  if (!exec.ok()) return exec.error();
  if (options.world.several_nodes) return launch_on_hosts(options, exec.value());
  if (options.world.on == "shm" || is_network(options.world.on))
    return launch_on_shm(options, exec.value());
  LaunchOptions found = options;
  const bool loop = options.world.on == "loop";
  if (!loop) {
    Result<std::string> file = find_platform(options.world.on);
    if (!file.ok()) return file.error();
    found.world.on = std::move(file.value());
  }
  const Result<BodyKind> body = choose_body(found, exec.value());
  if (!body.ok()) return body.error();
  if (body.value() == BodyKind::fiber) return launch_fibers(found, exec.value());
  if (!loop) return run_model_processes(found);
  return Error{
      fmt::format("--on loop runs every rank as a fiber of one process; {} does not say "
                  "that it may (FAIRLEAD_FIBER_PROGRAM). Try --body fiber, or --on shm",
                  options.command.front())};
}

}  // namespace fairlead::run
