// fairlead compare: one program on several places and implementations, one table.
#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>

#include "fairlead/run/machine/probes.h"
#include "tools/fairlead/am_options.h"
#include "tools/fairlead/background_option.h"
#include "tools/fairlead/child_pool.h"
#include "tools/fairlead/child_run.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/comparison.h"
#include "tools/fairlead/comparison_page.h"
#include "tools/fairlead/dsm_options.h"
#include "tools/fairlead/handler_option.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/mpi_options.h"
#include "tools/fairlead/number_options.h"
#include "tools/fairlead/splitc_options.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead compare -n 64 --on myrinet-ppro,myrinet-p3 --lci sdma,pio ./prog\n"
    "  fairlead compare -n 64 --on myrinet-p3 --lci all ./prog arg\n"
    "  fairlead compare -n 2 --on shm,myrinet-p3 --json ./prog\n"
    "\n"
    "Modelled runs go side by side on the processors of this machine, real ones alone. Their time\n"
    "is virtual, a real run's is wall time from start-up to end. The program's output is dropped.\n"
    "Each modelled run is explained by its critical path, and run again with each resource that\n"
    "matters twice as fast.";

// Progress is told from here on; what is faster needs none.
constexpr double kLongRunSeconds = 2.0;

struct CompareArguments {
  WorldChoice choice;
  std::vector<std::string> on;
  std::vector<std::string> lci;
  std::string body = "auto";
  bool json = false;
  std::string html;
  bool no_what_if = false;
  std::uint32_t repeat = 1;
  MpiChoice mpi;
  std::string splitc;
  DsmChoices dsm;
  std::string am;
};

std::vector<Combination> combinations_of(const CompareArguments& arguments,
                                         const std::vector<std::string>& protocols) {
  std::vector<Combination> combinations;
  for (const std::string& on : arguments.on) {
    std::vector<std::string> implementations = arguments.lci;
    const std::vector<std::string> there = implementations_on(on);
    if (implementations.empty()) implementations = {""};
    if (implementations == std::vector<std::string>{"all"}) implementations = there;
    for (const std::string& lci : implementations) {
      // Where there is only one, it need not be said.
      const bool is_default = there.size() > 1 && (lci.empty() || lci == there.front());
      for (const std::string& protocol : protocols) {
        combinations.push_back({on, lci, protocol, is_default});
      }
    }
  }
  return combinations;
}

class Comparison {
 public:
  Comparison(const CompareArguments& arguments, const std::vector<std::string>& protocols,
             std::vector<std::string> program, ChildPool& pool)
      : arguments_(arguments), program_(std::move(program)), pool_(pool) {
    for (const Combination& one : combinations_of(arguments_, protocols)) {
      outcomes_.emplace_back();
      outcomes_.back().combination = one;
      outcomes_.back().modelled = run::is_modelled(one.on);
    }
  }

  // False: a signal asked for the end.
  bool run() {
    for (std::size_t next = 0; next < runs(); ++next) {
      const bool alone = !run::is_modelled(outcome_of(next).combination.on);
      while (alone ? !pool_.idle() : pool_.full()) {
        if (!finish_one()) return false;
      }
      start(next);
      if (alone && !finish_all()) return false;
    }
    return finish_all();
  }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }

  // What an MPI program's ranks send each other, from one more run of the first combination that
  // has figures; it says nothing where there is none, or another program. Nothing: a signal asked
  // for the end.
  std::optional<Json> profile() {
    const auto first = std::find_if(outcomes_.begin(), outcomes_.end(),
                                    [](const Outcome& one) { return one.reason.empty(); });
    if (first == outcomes_.end()) return Json();
    const std::size_t index = runs();
    const std::string file = pool_.path(index, "profile");
    const Combination& one = first->combination;
    std::vector<std::string> environment = {"FAIRLEAD_MPI_PROFILE=" + file};
    if (!one.dsm_protocol.empty()) environment.push_back(dsm_variable(one.dsm_protocol));
    // Only a process has an environment of its own.
    const std::string body = run::is_modelled(one.on) ? "process" : arguments_.body;
    const Result<void> started = pool_.start(
        index,
        child_command({arguments_.choice, one.on, one.lci, "", "", body, environment, "", program_},
                      pool_.path(index, "stats")));
    if (!started.ok()) return Json();
    if (!pool_.next()) return std::nullopt;
    const Result<Json> read = Json::parse(file_text(file));
    return read.ok() ? read.value() : Json();
  }

 private:
  // A run's index: all combinations with the first seed, then all with the next one.
  std::size_t runs() const { return outcomes_.size() * arguments_.repeat; }
  Outcome& outcome_of(std::size_t index) { return outcomes_[index % outcomes_.size()]; }

  void start(std::size_t index) {
    const Combination& one = outcome_of(index).combination;
    const std::size_t repeat = index / outcomes_.size();
    const std::string explain = !run::is_modelled(one.on) || repeat > 0 ? ""
                                : arguments_.no_what_if                 ? kExplainPath
                                                                        : kExplainAll;
    WorldChoice choice = arguments_.choice;
    choice.world.seed += repeat;
    std::vector<std::string> environment;
    if (!one.dsm_protocol.empty()) environment.push_back(dsm_variable(one.dsm_protocol));
    const Result<void> started =
        pool_.start(index, child_command({choice, one.on, one.lci, "", explain, arguments_.body,
                                          environment, "", program_},
                                         pool_.path(index, "stats")));
    if (started.ok()) return;
    outcome_of(index).reason = started.error().text;
    ++finished_;
  }

  bool finish_one() {
    const std::optional<ChildPool::Ended> end = pool_.next();
    if (!end) return false;
    Outcome& outcome = outcome_of(end->index);
    Outcome one;
    one.combination = outcome.combination;
    one.modelled = outcome.modelled;
    if (end->exit_code == 0) {
      read_statistics(file_text(pool_.path(end->index, "stats")), one);
    } else {
      one.reason = pool_.reason(*end);
    }
    if (end->index < outcomes_.size()) {
      // Further runs may have come first.
      one.repeats = std::move(outcome.repeats);
      if (one.reason.empty()) one.reason = outcome.reason;
      outcome = std::move(one);
    } else if (one.reason.empty()) {
      outcome.repeats.push_back(one.seconds);
    } else {
      outcome.reason =
          fmt::format("with --seed {}: {}",
                      arguments_.choice.world.seed + end->index / outcomes_.size(), one.reason);
    }
    ++finished_;
    tell_progress(outcome);
    return true;
  }

  bool finish_all() {
    while (!pool_.idle()) {
      if (!finish_one()) return false;
    }
    return true;
  }

  void tell_progress(const Outcome& outcome) const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    if (elapsed.count() < kLongRunSeconds) return;
    fmt::print(stderr, "compare: {} of {} done after {:.0f} s ({} {})\n", finished_, runs(),
               elapsed.count(), outcome.combination.on, outcome.name());
  }

  const CompareArguments& arguments_;
  std::vector<std::string> program_;
  ChildPool& pool_;
  std::vector<Outcome> outcomes_;
  std::size_t finished_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

int run_compare(const CLI::App& app, const CompareArguments& arguments) {
  auto program = program_of(app);
  if (!program.ok()) {
    complain(program.error().text);
    return kUsageExitCode;
  }
  if (const auto set = set_mpi_options(arguments.mpi); !set.ok()) {
    complain(set.error().text);
    return kUsageExitCode;
  }
  if (const auto set = set_splitc_option(arguments.splitc); !set.ok()) {
    complain(set.error().text);
    return kUsageExitCode;
  }
  if (const auto set = set_am_option(arguments.am); !set.ok()) {
    complain(set.error().text);
    return kUsageExitCode;
  }
  if (const auto fits = check_background(arguments.choice, arguments.on); !fits.ok()) {
    complain(fits.error().text);
    return kUsageExitCode;
  }
  if (const auto fits = check_handler(arguments.choice, arguments.on); !fits.ok()) {
    complain(fits.error().text);
    return kUsageExitCode;
  }
  const auto protocols = dsm_protocols(arguments.dsm);
  const auto dsm = protocols.ok()
                       ? set_dsm_options({"", arguments.dsm.faithful, arguments.dsm.migrate})
                       : protocols;
  if (!dsm.ok()) {
    complain(dsm.error().text);
    return kUsageExitCode;
  }
  Result<ChildPool> pool = ChildPool::make(run::cpu_limits().usable);
  if (!pool.ok()) {
    complain(pool.error().text);
    return 1;
  }
  Comparison comparison(arguments, protocols.value(), program.value(), pool.value());
  if (!comparison.run()) {
    complain("interrupted");
    return kInterruptedExitCode;
  }
  const std::vector<Outcome>& outcomes = comparison.outcomes();
  if (arguments.json) {
    fmt::print("{}", comparison_json(outcomes, arguments.choice.world.ranks));
  } else {
    fmt::print("{}", comparison_text(outcomes));
  }
  if (!arguments.html.empty()) {
    const std::optional<Json> profile = comparison.profile();
    if (!profile) {
      complain("interrupted");
      return kInterruptedExitCode;
    }
    std::ofstream file(arguments.html);
    file << comparison_page(outcomes, program.value(), arguments.choice.world.ranks, *profile);
    file.close();
    if (!file) {
      complain(fmt::format("cannot write the page to {}", arguments.html));
      return 1;
    }
  }
  const bool failed = std::any_of(outcomes.begin(), outcomes.end(),
                                  [](const Outcome& one) { return !one.reason.empty(); });
  return failed ? 1 : 0;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto* compare =
      app.add_subcommand("compare", "Run a program on several places and implementations");
  auto arguments = std::make_shared<CompareArguments>();
  add_job_options(*compare, arguments->choice);
  add_background_option(*compare, arguments->choice);
  add_handler_option(*compare, arguments->choice);
  compare->add_option("--on", arguments->on, "Places, comma separated: shm, loop, platforms")
      ->delimiter(',')
      ->required()
      ->allow_extra_args(false)
      ->type_name("PLACE,...");
  compare
      ->add_option("--lci", arguments->lci,
                   "Implementations, comma separated; all: every one that a place has; without "
                   "it the place's default")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  compare->add_option("--body", arguments->body, "As in fairlead run: auto, process or fiber")
      ->type_name("KIND")
      ->check(CLI::IsMember({"auto", "process", "fiber"}))
      ->capture_default_str();
  add_mpi_options(*compare, arguments->mpi);
  compare->add_flag("--no-what-if", arguments->no_what_if,
                    "Leave out the runs with a resource of the machine twice as fast, which take "
                    "several times as long as the rest");
  add_whole_option(*compare, "--repeat", arguments->repeat,
                   "Run each so often, with seeds from --seed on, and show how far its times lie "
                   "apart",
                   {1, 1000})
      ->type_name("N");
  add_splitc_option(*compare, arguments->splitc);
  add_dsm_options(*compare, arguments->dsm);
  add_am_option(*compare, arguments->am);
  compare->add_flag("--json", arguments->json, "One JSON object a line");
  compare
      ->add_option("--html", arguments->html,
                   "Also write a page: a bar a run, divided by where its time goes; of an MPI "
                   "program who sends to whom, from one more run")
      ->type_name("FILE");
  compare->prefix_command();
  compare->footer(kExamples);
  compare->callback(
      [compare, arguments, &exit_code] { exit_code = run_compare(*compare, *arguments); });
}

}  // namespace fairlead::tools
