// fairlead run: a program on every rank of a job, in either world.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "fairlead/run/launch/launcher.h"
#include "fairlead/run/machine/probes.h"
#include "fairlead/run/rank/path_report.h"
#include "fairlead/run/wire/welcome.h"
#include "fairlead/systems/mpi/copy_choice.h"
#include "tools/fairlead/am_options.h"
#include "tools/fairlead/background_option.h"
#include "tools/fairlead/child_run.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/computing_note.h"
#include "tools/fairlead/dsm_options.h"
#include "tools/fairlead/explanation.h"
#include "tools/fairlead/handler_option.h"
#include "tools/fairlead/host_options.h"
#include "tools/fairlead/mpi_options.h"
#include "tools/fairlead/number_options.h"
#include "tools/fairlead/programs.h"
#include "tools/fairlead/splitc_options.h"
#include "tools/fairlead/stats.h"
#include "tools/fairlead/subprocess.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead run -n 4 ./prog                         real: shared memory of this machine\n"
    "  fairlead run -n 64 --on myrinet-p3 --lci pio ./prog   modelled: 64 nodes in virtual time\n"
    "  fairlead run -n 2 --label ./prog arg             every line begins with its rank\n"
    "  fairlead run -n 2 --stats=run.json ./prog        counters of the run as JSON\n"
    "  fairlead run -n 4 --profile ./prog               where an MPI program's time goes\n"
    "  fairlead run -n 4 --dsm-profile ./prog           the same of page-based shared memory\n"
    "  fairlead run -n 2 --on myrinet-p3 --trace t.json ./prog   open t.json in ui.perfetto.dev\n"
    "  fairlead run -n 16 --on myrinet-p3 --explain ./prog      which resource bounds the run\n"
    "  fairlead run -n 2 ./ocean 10 : -n 4 ./air 20     two programs in one job\n"
    "  fairlead run --hosts a:4,b:4 ./prog              8 ranks on two hosts, by ssh and udp\n"
    "  fairlead run -n 2 --faults drop=0.01 --seed 7 ./prog      lose packets, repeatably\n"
    "\n"
    "The exit code is that of the first failing rank, 128 + signal for one that a signal ended,\n"
    "124 after --timeout.";

struct RunArguments {
  WorldChoice choice;
  run::LaunchOptions launch;
  std::string body = "auto";
  std::string stats;  // empty: none; "-": table on the standard error stream; else a file
  bool show_paths = false;
  std::string single_copy;  // empty: as the environment says
  double patience = -1;     // negative: the same
  MpiChoice mpi;
  MpiWatchChoice mpi_watch;
  std::string splitc;  // implementation; empty: as the environment says
  DsmChoice dsm;
  DsmWatchChoice dsm_watch;
  std::string am;  // implementation of Active Messages; empty: as the environment says
  HostChoice hosts;
};

// What ranks read from their environment.
Result<void> set_rank_options(const RunArguments& arguments, run::LaunchOptions& launch) {
  const std::string& on = launch.world.on;
  const bool real = on == "shm" || run::is_network(on);
  for (const auto& [name, given] : {std::pair("--show-paths", arguments.show_paths),
                                    std::pair("--single-copy", !arguments.single_copy.empty()),
                                    std::pair("--patience", arguments.patience >= 0)}) {
    if (given && !real) {
      return Error{fmt::format("{} is of real processes, and {} has none: try --on shm, udp or ofi",
                               name, on)};
    }
  }
  if (arguments.show_paths) {
    launch.environment.push_back(fmt::format("{}=1", run::kShowPathsVariable));
  }
  if (!arguments.single_copy.empty()) {
    if (auto checked = mpi::CopyChoice::of_text(arguments.single_copy); !checked.ok()) {
      return checked.error();
    }
    launch.environment.push_back(
        fmt::format("{}={}", mpi::CopyChoice::kVariable, arguments.single_copy));
  }
  const auto mpi_variables = set_mpi_options(arguments.mpi);
  if (!mpi_variables.ok()) return mpi_variables.error();
  const auto splitc_variables = set_splitc_option(arguments.splitc);
  if (!splitc_variables.ok()) return splitc_variables.error();
  const auto dsm_variables = set_dsm_options(arguments.dsm);
  if (!dsm_variables.ok()) return dsm_variables.error();
  const auto am_variables = set_am_option(arguments.am);
  if (!am_variables.ok()) return am_variables.error();
  MpiWatchChoice watch = arguments.mpi_watch;
  watch.explain =
      arguments.choice.explain == kExplainAll || arguments.choice.explain == kExplainCollectives;
  const std::vector<std::string> watch_variables = set_mpi_watch_options(watch);
  const std::vector<std::string> dsm_watch_variables = set_dsm_watch_options(arguments.dsm_watch);
  if (real) {
    for (const auto* const variables :
         {&mpi_variables.value(), &splitc_variables.value(), &dsm_variables.value(),
          &am_variables.value(), &watch_variables, &dsm_watch_variables}) {
      launch.environment.insert(launch.environment.end(), variables->begin(), variables->end());
    }
  }
  if (arguments.patience >= 0) {
    launch.environment.push_back(fmt::format("{}={}", run::kPatienceVariable, arguments.patience));
  }
  if (!arguments.stats.empty()) {
    // Modelled ranks look at this process's environment, or inherit it.
    setenv(mpi::CopyChoice::kReportVariable, "1", 1);
    if (real) launch.environment.push_back(fmt::format("{}=1", mpi::CopyChoice::kReportVariable));
  }
  return {};
}

// The program, or the programs, of a job. `ranks`: of the first, as -n says; then of the job.
Result<void> set_programs(const std::vector<std::string>& words, const std::string& body,
                          run::LaunchOptions& launch, std::uint32_t& ranks) {
  const Result<std::vector<Program>> programs = programs_of(words, ranks, launch.working_directory);
  if (!programs.ok()) return programs.error();
  Result<std::vector<std::string>> command = command_of(programs.value());
  if (!command.ok()) return command.error();
  launch.command = std::move(command.value());
  if (programs.value().size() == 1) return {};
  if (body == "fiber" || launch.world.on == "loop") {
    return Error{fmt::format("several programs need a process a rank, and {} has fibers",
                             body == "fiber" ? "--body fiber" : "--on loop")};
  }
  ranks = 0;
  for (const Program& program : programs.value()) ranks += program.ranks;
  launch.world.ranks = ranks;
  return {};
}

Result<void> write_stats(const std::string& path, const JobFacts& facts) {
  if (path == "-") {
    fmt::print(stderr, "{}", stats_text(facts));
    return {};
  }
  std::ofstream file(path);
  file << stats_json(facts).dump(2) << "\n";
  file.close();
  if (!file) return Error{fmt::format("cannot write the statistics to {}", path)};
  return {};
}

// The program's output was printed once; the re-runs' is dropped.
Result<Explanation> explain(const RunArguments& arguments, const run::LaunchOptions& launch,
                            const run::RunReport& report) {
  Explanation made = explanation_of(report);
  if (arguments.choice.explain == kExplainPath) return made;
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  const auto path = [&](std::size_t index, const char* what) {
    return fmt::format("{}/{}.{}", folder.value().path(), index, what);
  };
  std::map<pid_t, std::size_t> running;
  const auto finish_one = [&] {
    const ChildEnd end = wait_child();
    const auto found = running.find(end.pid);
    if (found == running.end()) return;
    Faster& one = made.twice[found->second];
    const Result<Json> stats = Json::parse(file_text(path(found->second, "stats")));
    const auto us = stats.ok() ? number_at(stats.value(), "virtual_time_us") : std::nullopt;
    if (end.exit_code == 0 && us) {
      one.time = microseconds_rounded(*us);
    } else {
      one.reason = reason_in(file_text(path(found->second, "errors")), end.exit_code);
    }
    running.erase(found);
  };
  const run::WorldOptions& world = launch.world;
  for (const std::string& resource : candidates(made)) {
    while (running.size() >= run::cpu_limits().usable) finish_one();
    const std::size_t index = made.twice.size();
    made.twice.push_back({resource, Ps{}, ""});
    const ChildRun again{arguments.choice,
                         world.on,
                         world.lci,
                         twice_as_fast(world.faster, resource),
                         "",
                         arguments.body,
                         launch.environment,
                         launch.working_directory,
                         launch.command};
    const Result<pid_t> child =
        start_child(child_command(again, path(index, "stats")), path(index, "errors"));
    if (!child.ok()) return child.error();
    running[child.value()] = index;
  }
  while (!running.empty()) finish_one();
  return made;
}

int run_job(const CLI::App& app, const RunArguments& arguments) {
  auto command = program_of(app);
  if (!command.ok()) {
    complain(command.error().text);
    return kUsageExitCode;
  }
  run::LaunchOptions launch = arguments.launch;
  launch.world = arguments.choice.options();
  launch.world.figures = !arguments.stats.empty();
  std::uint32_t ranks = app.count("--ranks") > 0 ? launch.world.ranks : 0;
  if (Result<void> set = set_programs(command.value(), arguments.body, launch, ranks); !set.ok()) {
    complain(set.error().text);
    return kUsageExitCode;
  }
  Result<run::HostOptions> hosts = arguments.hosts.options(ranks);
  if (!hosts.ok()) {
    complain(hosts.error().text);
    return kUsageExitCode;
  }
  launch.hosts = std::move(hosts.value());
  if (!launch.hosts.list.empty()) launch.world.ranks = ranks;
  const std::map<std::string, run::BodyKind> kinds = {{"auto", run::BodyKind::automatic},
                                                      {"process", run::BodyKind::process},
                                                      {"fiber", run::BodyKind::fiber}};
  launch.body = kinds.at(arguments.body);

  if (auto checked = check_model_options(launch.world); !checked.ok()) {
    complain(checked.error().text);
    return kUsageExitCode;
  }
  if (auto checked = check_background(arguments.choice, {launch.world.on}); !checked.ok()) {
    complain(checked.error().text);
    return kUsageExitCode;
  }
  if (auto checked = check_handler(arguments.choice, {launch.world.on}); !checked.ok()) {
    complain(checked.error().text);
    return kUsageExitCode;
  }
  if (Result<void> set = set_rank_options(arguments, launch); !set.ok()) {
    complain(set.error().text);
    return kUsageExitCode;
  }

  const auto begin = std::chrono::steady_clock::now();
  auto report = run::launch(launch);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  end_mpi_watch();
  end_dsm_watch();
  if (!report.ok()) {
    complain(report.error().text);
    return kUsageExitCode;
  }
  if (!report.value().failure.empty()) complain(report.value().failure);
  if (report.value().modelled) {
    const Computing computing = computing_of(launch.world, report.value());
    const int code = report.value().exit_code;
    fmt::print(stderr, "{}",
               code == 0                       ? computing_note(computing)
               : code == run::kTimeoutExitCode ? clock_note(computing)
                                               : "");
  }
  if (const std::string& changes = report.value().platform_changes; !changes.empty()) {
    fmt::print(stderr, "platform changed: {}\n", changes);
  }
  std::optional<Explanation> explanation;
  if (launch.world.explain && report.value().exit_code == 0) {
    Result<Explanation> explained = explain(arguments, launch, report.value());
    if (!explained.ok()) {
      complain(explained.error().text);
      return 1;
    }
    explanation = std::move(explained.value());
    fmt::print(stderr, "{}", explanation_text(*explanation));
  }
  if (!arguments.stats.empty()) {
    auto written =
        write_stats(arguments.stats, {launch.world, launch.hosts, report.value(), wall.count(),
                                      explanation ? &*explanation : nullptr});
    if (!written.ok()) {
      complain(written.error().text);
      if (report.value().exit_code == 0) return 1;
    }
  }
  return report.value().exit_code;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto* run = app.add_subcommand("run", "Run a program, for real or modelled");
  auto arguments = std::make_shared<RunArguments>();
  add_job_options(*run, arguments->choice);
  add_place_options(*run, arguments->choice);
  add_model_options(*run, arguments->choice);
  add_background_option(*run, arguments->choice);
  add_handler_option(*run, arguments->choice);
  run->add_flag("--label", arguments->launch.label, "Begin each line of output with [rank]");
  run->add_option("-x", arguments->launch.environment,
                  "Pass VAR on to the ranks, or set VAR=value; may be repeated")
      ->type_name("VAR[=VALUE]")
      ->allow_extra_args(false);
  run->add_option("--wdir", arguments->launch.working_directory, "Working directory of the ranks")
      ->type_name("DIR");
  run->add_option("--trace", arguments->choice.world.trace_path,
                  "Write a trace for ui.perfetto.dev or chrome://tracing")
      ->type_name("FILE");
  run->add_flag("--stats{-}", arguments->stats,
                "Print the counters at the end; --stats=FILE writes them as JSON");
  run->add_option(
         "--body", arguments->body,
         "A modelled rank is a process (any program), a fiber (one without mutable globals), "
         "or, auto, what the program says it can be")
      ->type_name("KIND")
      ->check(CLI::IsMember({"auto", "process", "fiber"}))
      ->capture_default_str();
  add_host_options(*run, arguments->hosts);
  run->add_flag("--show-paths", arguments->show_paths,
                "Say how the ranks reach each other, and why, when they start");
  add_real_option(
      *run, "--patience", arguments->patience,
      "Where packets can be lost (hrx): end the job when a rank has sent to another one "
      "for so long and never heard of it; 0: never",
      "a number of seconds", run::kPatienceRange)
      ->type_name("SECONDS")
      ->default_str(fmt::format("{}", run::kPatienceSeconds));
  add_mpi_options(*run, arguments->mpi);
  add_mpi_watch_options(*run, arguments->mpi_watch);
  add_splitc_option(*run, arguments->splitc);
  add_dsm_options(*run, arguments->dsm);
  add_dsm_watch_options(*run, arguments->dsm_watch);
  add_am_option(*run, arguments->am);
  run->add_option("--single-copy", arguments->single_copy,
                  "From how many bytes on an MPI message goes straight from the sender's memory to "
                  "the receiver's; auto: where that was measured to be faster than in pieces "
                  "through buffers (--stats says what was measured). Large reductions likewise")
      ->type_name("auto|never|BYTES");
  run->prefix_command();
  run->footer(kExamples);
  run->callback([run, arguments, &exit_code] { exit_code = run_job(*run, *arguments); });
}

}  // namespace fairlead::tools
