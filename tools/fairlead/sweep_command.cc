// fairlead sweep: one program on a modelled platform while one or two numbers change.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>

#include "fairlead/fabric/fault_plan.h"
#include "fairlead/hw/platform.h"
#include "fairlead/run/machine/probes.h"
#include "fairlead/run/option_table.h"
#include "fairlead/run/platform_files.h"
#include "tools/fairlead/child_pool.h"
#include "tools/fairlead/child_run.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/kept_files.h"
#include "tools/fairlead/mpi_options.h"
#include "tools/fairlead/number_options.h"
#include "tools/fairlead/splitc_options.h"
#include "tools/fairlead/sweep/page.h"
#include "tools/fairlead/sweep/results.h"

namespace fairlead::tools {

namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead sweep -n 16 --on myrinet-p3 --lci pio,sdma --set ni.clock_MHz=33..266:8 ./prog\n"
    "  fairlead sweep -n 2..64:6log --on myrinet-p3 --lci all ./prog\n"
    "  fairlead sweep -n 16 --on myrinet-p3 --lci hrx,nirx --faults drop=0..0.02:5 ./prog\n"
    "  fairlead sweep -n 16 --on myrinet-p3 --lci all --faster ni=1..4:4,link=2 ./prog\n"
    "  fairlead sweep -n 4,16,64 --on myrinet-p3 --lci sdma,pio --faster ni=1..4:4 ./prog\n"
    "\n"
    "One or two numbers are written as a range: A..B:N is N values evenly apart, A..B:Nlog in\n"
    "equal ratios, A,B,C these (-n and --set). Another packet size is another implementation:\n"
    "--lci pio-1k,pio-2k,pio-4k. Runs go side by side on the processors of this machine, and each\n"
    "result is kept under $XDG_CACHE_HOME/fairlead (~/.cache/fairlead) until the build, the\n"
    "program or the platform's file changes: a sweep that was ended goes on where it stopped.";

constexpr double kTellSeconds = 2;
constexpr double kTellLogSeconds = 15;
constexpr std::uint32_t kRunsMost = 2000;

struct SweepArguments {
  WorldChoice choice;
  SweptOptions swept;
  std::vector<std::string> on;
  std::vector<std::string> lci;
  std::string body = "auto";
  std::string html;
  bool json = false;
  bool fresh = false;
  std::uint32_t runs_most = kRunsMost;
  MpiChoice mpi;
  std::string splitc;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// What is wrong with the parts that all runs share, and with the ends of each range, before the
// first one starts.
Result<void> check(const Sweep& sweep, const std::vector<std::string>& places) {
  for (const std::string& on : places) {
    if (!run::is_modelled(on)) return run::not_modelled("sweep", on);
    const Result<std::string> file = run::find_platform(on);
    if (!file.ok()) return file.error();
    for (const std::size_t point : {std::size_t{0}, sweep.points() - 1}) {
      WorldChoice choice = sweep.choice;
      std::string faster = sweep.faster;
      const std::vector<double> values = sweep.values_at(point);
      for (std::size_t i = 0; i < values.size(); ++i) {
        sweep.parameters[i].apply(values[i], choice, faster);
      }
      const auto platform =
          hw::load_platform(file.value(), {choice.world.topology, choice.world.set, faster});
      if (!platform.ok()) return platform.error();
      const auto faults = fabric::parse_fault_plan(choice.world.faults, choice.world.seed);
      if (!faults.ok()) return faults.error();
    }
  }
  return {};
}

std::vector<SweepSeries> series_of(const SweepArguments& arguments, std::size_t points) {
  std::vector<SweepSeries> series;
  for (const std::string& on : arguments.on) {
    std::vector<std::string> names = arguments.lci;
    if (names.empty()) names = {implementations_on(on).front()};
    if (names == std::vector<std::string>{"all"}) names = implementations_on(on);
    for (const std::string& lci : names) {
      SweepSeries one;
      one.name = arguments.on.size() == 1 ? lci : on + " " + lci;
      one.combination = {on, lci};
      one.outcomes.resize(points);
      series.push_back(std::move(one));
    }
  }
  return series;
}

// The file that a program's name stands for; the name itself where there is none.
std::string file_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string file = rest.substr(0, colon) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return file;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return program;
}

// What runs depend on beside their command line.
std::string surroundings(const std::string& program) {
  std::string text = fmt::format("{:016x} {:016x}", build_hash(), program_hash(file_of(program)));
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one) {
    if (std::string_view(*one).starts_with("FAIRLEAD_")) variables.emplace_back(*one);
  }
  std::sort(variables.begin(), variables.end());
  return fmt::format("{} {}", text, fmt::join(variables, " "));
}

// Makes the runs of a sweep that are not kept.
class Sweeping {
 public:
  Sweeping(const SweepArguments& arguments, SweepResults& results, const KeptFiles* kept)
      : arguments_(arguments),
        results_(results),
        kept_(kept),
        surroundings_(surroundings(results.program.front())) {
    for (SweepSeries& series : results_.series) {
      const Result<std::string> file = run::find_platform(series.combination.on);
      platforms_.push_back(file.ok() ? platform_hash(file.value()) : 0);
      for (std::size_t point = 0; point < series.outcomes.size(); ++point) {
        series.outcomes[point].combination = series.combination;
        if (!find(series, point)) open_.push_back({&series, point});
      }
    }
  }

  std::size_t open() const { return open_.size(); }

  // False: a signal asked for the end.
  bool run(ChildPool& pool, std::size_t most) {
    const std::size_t until = std::min(next_ + most, open_.size());
    begin_ = told_ = std::chrono::steady_clock::now();
    first_ = done_;
    while (next_ < until || !pool.idle()) {
      if (next_ < until && !pool.full()) {
        start(next_++, pool);
      } else if (!finish_one(pool)) {
        return false;
      }
    }
    return true;
  }
  // Mean of the runs so far, in seconds of one processor.
  double seconds_a_run() const {
    return done_ == 0 ? 0 : busy_seconds_ / static_cast<double>(done_);
  }

 private:
  struct Run {
    SweepSeries* series;
    std::size_t point;
  };

  std::vector<std::string> command(const SweepSeries& series, std::size_t point,
                                   const std::string& stats) const {
    WorldChoice choice = results_.sweep.choice;
    std::string faster = results_.sweep.faster;
    const std::vector<double> values = results_.sweep.values_at(point);
    for (std::size_t i = 0; i < values.size(); ++i) {
      results_.sweep.parameters[i].apply(values[i], choice, faster);
    }
    return child_command({choice,
                          series.combination.on,
                          series.combination.lci,
                          faster,
                          "",
                          arguments_.body,
                          {},
                          "",
                          results_.program},
                         stats);
  }

  std::string key(const SweepSeries& series, std::size_t point) const {
    const auto index = static_cast<std::size_t>(&series - results_.series.data());
    return fmt::format("{} {:016x} {}", surroundings_, platforms_[index],
                       fmt::join(command(series, point, ""), " "));
  }
  // Measured computing differs from run to run.
  bool keeps() const {
    return kept_ != nullptr && arguments_.choice.world.compute != run::Compute::measured;
  }

  bool find(SweepSeries& series, std::size_t point) {
    if (!keeps() || arguments_.fresh) return false;
    const std::string text = kept_->find(key(series, point));
    if (text.empty()) return false;
    Outcome outcome;
    outcome.combination = series.combination;
    read_statistics(text, outcome);
    if (!outcome.reason.empty()) return false;
    series.outcomes[point] = std::move(outcome);
    return true;
  }

  void start(std::size_t index, ChildPool& pool) {
    const Run& one = open_[index];
    const Result<void> started =
        pool.start(index, command(*one.series, one.point, pool.path(index, "stats")));
    if (started.ok()) return;
    one.series->outcomes[one.point].reason = started.error().text;
    ++done_;
  }

  bool finish_one(ChildPool& pool) {
    const std::optional<ChildPool::Ended> end = pool.next();
    if (!end) return false;
    const Run& one = open_[end->index];
    Outcome& outcome = one.series->outcomes[one.point];
    if (end->exit_code == 0) {
      const std::string text = file_text(pool.path(end->index, "stats"));
      read_statistics(text, outcome);
      if (keeps() && outcome.reason.empty()) kept_->keep(key(*one.series, one.point), text);
    } else {
      outcome.reason = pool.reason(*end);
    }
    ++done_;
    busy_seconds_ += end->seconds;
    tell();
    return true;
  }

  void tell() {
    const double often = isatty(STDERR_FILENO) != 0 ? kTellSeconds : kTellLogSeconds;
    if (seconds_since(told_) < often || done_ == open_.size()) return;
    told_ = std::chrono::steady_clock::now();
    const double a_run = seconds_since(begin_) / static_cast<double>(done_ - first_);
    fmt::print(stderr, "sweep: {} of {} runs done, about {:.0f} s left\n", done_, open_.size(),
               a_run * static_cast<double>(open_.size() - done_));
  }

  const SweepArguments& arguments_;
  SweepResults& results_;
  const KeptFiles* kept_;
  std::string surroundings_;
  std::vector<std::uint64_t> platforms_;
  std::vector<Run> open_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  std::size_t first_ = 0;
  double busy_seconds_ = 0;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point told_;
};

// What runs beyond the limit would cost, from the first of them.
std::string too_many(const SweepResults& results, const Sweeping& sweeping, std::size_t slots,
                     std::uint32_t most) {
  const double seconds =
      sweeping.seconds_a_run() * static_cast<double>(sweeping.open()) / static_cast<double>(slots);
  return fmt::format(
      "{} points of {} implementation{} are {} runs to make, more than {}; the first ones took "
      "{:.2g} s each, so all would take about {:.0f} min on {} processors: --most-runs {} allows "
      "that",
      results.sweep.points(), results.series.size(), results.series.size() == 1 ? "" : "s",
      sweeping.open(), most, sweeping.seconds_a_run(), std::ceil(seconds / 60), slots,
      sweeping.open());
}

int print(const SweepArguments& arguments, const SweepResults& results) {
  fmt::print("{}", arguments.json ? sweep_json(results) : sweep_text(results));
  int exit_code = 0;
  for (const SweepSeries& series : results.series) {
    for (const Outcome& outcome : series.outcomes) {
      if (!outcome.reason.empty()) exit_code = 1;
    }
  }
  if (arguments.html.empty()) return exit_code;
  const Result<std::string> made = sweep_page(results);
  if (!made.ok()) {
    complain(made.error().text);
    return 1;
  }
  std::ofstream file(arguments.html);
  file << made.value();
  file.close();
  if (file) return exit_code;
  complain(fmt::format("cannot write the page to {}", arguments.html));
  return 1;
}

int make_runs(const SweepArguments& arguments, SweepResults& results) {
  const Result<KeptFiles> kept = KeptFiles::open("sweeps");
  if (!kept.ok()) {
    fmt::print(stderr, "sweep: results are not kept: {}\n", kept.error().text);
  }
  const std::size_t slots = run::cpu_limits().usable;
  Result<ChildPool> pool = ChildPool::make(slots);
  if (!pool.ok()) {
    complain(pool.error().text);
    return 1;
  }
  Sweeping sweeping(arguments, results, kept.ok() ? &kept.value() : nullptr);
  const bool many = sweeping.open() > arguments.runs_most;
  if (!sweeping.run(pool.value(), many ? slots : sweeping.open())) {
    complain("interrupted; what is done is kept, and the same command goes on from there");
    return kInterruptedExitCode;
  }
  if (!many) return 0;
  complain(too_many(results, sweeping, slots, arguments.runs_most));
  return kUsageExitCode;
}

int run_sweep(const CLI::App& app, const SweepArguments& arguments) {
  const auto fail = [](const Error& error) {
    complain(error.text);
    return kUsageExitCode;
  };
  auto program = program_of(app);
  if (!program.ok()) return fail(program.error());
  SweptOptions swept = arguments.swept;
  swept.set = arguments.choice.world.set;
  swept.faults = arguments.choice.world.faults;
  const Result<Sweep> sweep = sweep_of(swept, arguments.choice);
  if (!sweep.ok()) return fail(sweep.error());
  if (const auto r = check(sweep.value(), arguments.on); !r.ok()) return fail(r.error());
  if (const auto set = set_mpi_options(arguments.mpi); !set.ok()) return fail(set.error());
  if (const auto set = set_splitc_option(arguments.splitc); !set.ok()) return fail(set.error());
  SweepResults results{sweep.value(), program.value(),
                       series_of(arguments, sweep.value().points())};
  const int exit_code = make_runs(arguments, results);
  return exit_code != 0 ? exit_code : print(arguments, results);
}

}  // namespace

void add_sweep(CLI::App& app, int& exit_code) {
  auto* sweep = app.add_subcommand("sweep", "Run a program while a number of the machine changes");
  auto arguments = std::make_shared<SweepArguments>();
  add_job_options(*sweep, arguments->choice);
  sweep->remove_option(sweep->get_option("--ranks"));
  arguments->swept.ranks = std::to_string(arguments->choice.world.ranks);
  sweep
      ->add_option("-n,--ranks", arguments->swept.ranks,
                   "Ranks of the job, or a range or list of them")
      ->type_name("N|RANGE")
      ->capture_default_str();
  sweep
      ->add_option("--faster", arguments->swept.faster,
                   "The platform with resources so many times as fast, one of which may be a "
                   "range: ni=1..4:4")
      ->type_name("RESOURCE=FACTOR,...");
  sweep->add_option("--on", arguments->on, "Modelled platforms, comma separated")
      ->delimiter(',')
      ->required()
      ->allow_extra_args(false)
      ->type_name("PLATFORM,...");
  sweep
      ->add_option("--lci", arguments->lci,
                   "Implementations, comma separated; all: every one that the platform has; "
                   "without it the platform's default")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  sweep->add_option("--body", arguments->body, "As in fairlead run: auto, process or fiber")
      ->type_name("KIND")
      ->check(CLI::IsMember({"auto", "process", "fiber"}))
      ->capture_default_str();
  add_mpi_options(*sweep, arguments->mpi);
  add_splitc_option(*sweep, arguments->splitc);
  sweep->add_flag("--json", arguments->json, "One JSON object a line: runs, then crossings");
  sweep
      ->add_option("--html", arguments->html,
                   "Also write a page: curves, or with two numbers a map of who is fastest")
      ->type_name("FILE");
  sweep->add_flag("--fresh", arguments->fresh, "Make again what is kept");
  add_whole_option(*sweep, "--most-runs", arguments->runs_most,
                   "Runs beyond which sweep says what they would cost, and makes none",
                   {1, 10'000'000})
      ->type_name("N")
      ->default_str(fmt::format("{}", kRunsMost));
  sweep->prefix_command();
  sweep->footer(kExamples);
  sweep->callback([sweep, arguments, &exit_code] { exit_code = run_sweep(*sweep, *arguments); });
}

}  // namespace fairlead::tools
