// fairlead bench: micro-benchmarks of the low-level interface, in either world.
#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "fairlead/run/model_world.h"
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/table.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

const std::vector<Bench>& benches() {
  static const std::vector<Bench> kBenches = {
      {"logp",
       "LogP parameters of 16-byte messages, and fetch-and-add",
       {{"os_us", "o_s us"},
        {"or_us", "o_r us"},
        {"l_us", "L us"},
        {"g_us", "g us"},
        {"end_to_end_us", "end-to-end us"},
        {"fetch_add_us", "fetch-and-add us"}},
       {},
       20'000,
       400,
       logp_body},
      {"latency",
       "One-way latency: half of a round trip",
       {{"bytes", "bytes", true}, {"one_way_us", "one-way us"}},
       {0, 4, 16, 64, 256, 1024, 2048, 4096, 16384, 65536},
       5'000,
       100,
       latency_body},
      {"rate",
       "Messages per second, in windows",
       {{"bytes", "bytes", true}, {"rate_per_s", "messages/s"}},
       {8},
       10'000,
       20,
       rate_body},
      {"throughput",
       "Bytes per second of messages back to back",
       {{"bytes", "bytes", true}, {"MBps", "10^6 B/s"}, {"MiBps", "2^20 B/s"}},
       {64, 256, 1024, 2048, 4096, 8192, 16384, 65536, 262144, 1048576},
       10'000,
       200,
       throughput_body},
      {"barrier",
       "Barrier of all ranks, by dissemination",
       {{"ranks", "ranks", true}, {"us", "us"}, {"p999_us", "99.9 % us"}},
       {},
       20'000,
       50,
       barrier_body},
  };
  return kBenches;
}

namespace {

struct BenchArguments {
  WorldChoice choice;
  BenchOptions options;
  bool json = false;
};

std::string show_figure(const Column& column, double value) {
  return column.whole ? fmt::format("{:.0f}", value) : show_number(value);
}

void print_json(const Bench& bench, const BenchArguments& arguments,
                const run::WorldOptions& options, const Rows& rows) {
  for (const Row& row : rows.all()) {
    nlohmann::ordered_json line = {{"bench", bench.name},
                                   {"on", options.on},
                                   {"lci", implementation_used(options.on, options.lci)}};
    for (std::size_t c = 0; c < bench.columns.size(); ++c) {
      const double value = row.figures[c];
      if (bench.columns[c].whole) {
        line[bench.columns[c].key] = std::llround(value);
      } else {
        line[bench.columns[c].key] = value;
      }
    }
    if (std::string(bench.name) == "throughput") {
      line["receiver_copy"] = arguments.options.copy;
    }
    line["job_ranks"] = options.ranks;
    line["seed"] = options.seed;
    line["commit"] = kCommit;
    fmt::print("{}\n", line.dump());
  }
}

void print_table(const Bench& bench, const Rows& rows) {
  std::vector<std::string> headings;
  for (const Column& column : bench.columns) headings.emplace_back(column.heading);
  Table table(headings);
  for (const Row& row : rows.all()) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < bench.columns.size(); ++c) {
      cells.push_back(show_figure(bench.columns[c], row.figures[c]));
    }
    table.add(cells);
  }
  fmt::print("{}", table.text());
}

// Fills in what depends on the world and checks what the options cannot.
Result<void> complete(const CLI::App& app, const Bench& bench, BenchArguments& arguments) {
  run::WorldOptions& world = arguments.choice.world;
  const bool modelled = is_modelled(world.on);
  if (world.on == "loop") {
    return Error{"bench measures time and loop has none; try --on shm or a modelled platform"};
  }
  if (app.count("--ranks") == 0) world.ranks = modelled ? 64 : 2;
  if (world.ranks < 2) return Error{"bench needs two ranks at least; try -n 2"};
  BenchOptions& options = arguments.options;
  if (app.get_option_no_throw("--partner") != nullptr) {
    if (app.count("--partner") == 0) options.partner = run::mean_partner(world.on, world.ranks);
    if (options.partner == 0 || options.partner >= world.ranks) {
      return Error{fmt::format("--partner {} is not one of the ranks 1..{}", options.partner,
                               world.ranks - 1)};
    }
  }
  if (options.sizes.size() > kRowsMax) {
    return Error{fmt::format("--sizes takes at most {} sizes", kRowsMax)};
  }
  if (options.repetitions == 0) {
    options.repetitions = modelled ? bench.repetitions_modelled : bench.repetitions_real;
  }
  return {};
}

int run_bench(const CLI::App& app, const Bench& bench, BenchArguments& arguments) {
  auto complete_options = complete(app, bench, arguments);
  if (!complete_options.ok()) {
    complain(complete_options.error().text);
    return kUsageExitCode;
  }
  const run::WorldOptions options = arguments.choice.options();
  Rows rows;
  const BenchOptions& bench_options = arguments.options;
  auto report = run::run_world(
      options, [&](run::Context& context) { return bench.body(context, bench_options, rows); });
  if (!report.ok()) {
    complain(report.error().text);
    return kUsageExitCode;
  }
  if (report.value().exit_code != 0 || !report.value().failure.empty()) {
    complain(report.value().failure);
    return report.value().exit_code == 0 ? 1 : report.value().exit_code;
  }
  if (arguments.json) {
    print_json(bench, arguments, options, rows);
  } else {
    print_table(bench, rows);
  }
  return 0;
}

void add_bench_options(CLI::App& app, const Bench& bench, BenchArguments& arguments) {
  const std::string name = bench.name;
  add_job_options(app, arguments.choice);
  app.get_option("--ranks")->description("Ranks of the job: 2, or 64 on a modelled platform");
  app.get_option("--ranks")->default_str("");
  add_place_options(app, arguments.choice);
  if (name != "barrier") {
    app.add_option("--partner", arguments.options.partner,
                   "The rank that rank 0 talks to, the others being idle; without it half the "
                   "ranks away")
        ->type_name("RANK");
  }
  if (!bench.default_sizes.empty()) {
    arguments.options.sizes = bench.default_sizes;
    app.add_option("--sizes", arguments.options.sizes, "Message sizes, for example 8,2K,1M")
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false))
        ->type_name("BYTES,...");
  }
  if (name == "rate") {
    app.add_option("--window", arguments.options.window, "Messages before an answer is awaited")
        ->check(CLI::Range(1U, 1U << 20))
        ->type_name("N")
        ->capture_default_str();
  }
  if (name == "throughput" || name == "latency") {
    app.add_flag("--copy", arguments.options.copy,
                 "The receiver copies each message into an array of its size");
  }
  app.add_option("--repetitions", arguments.options.repetitions,
                 fmt::format("How often; without it {}, or {} on a modelled platform",
                             bench.repetitions_real, bench.repetitions_modelled))
      ->check(CLI::Range(10U, 100'000'000U))
      ->type_name("N");
  app.add_flag("--json", arguments.json, "One JSON object a line");
}

std::string examples_of(const std::string& name) {
  std::string sizes;
  if (name == "latency" || name == "throughput") sizes = " --sizes 16,2K,64K";
  return fmt::format(
      "Examples:\n"
      "  fairlead bench {0}                                     two ranks on this machine\n"
      "  fairlead bench {0} --on myrinet-p3 --lci pio           on a modelled cluster\n"
      "  fairlead bench {0} --on myrinet-ppro --lci sdma{1} --json",
      name, sizes);
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("bench", "Measure the low-level interface, real or modelled");
  group->require_subcommand(1);
  group->footer(
      "Examples:\n"
      "  fairlead bench logp --on myrinet-p3 --lci pio\n"
      "  fairlead bench latency --sizes 8,64,4K\n"
      "  fairlead bench throughput --on myrinet-ppro --copy --json\n"
      "  fairlead bench barrier -n 8");
  for (const Bench& bench : benches()) {
    auto* sub = group->add_subcommand(bench.name, bench.about);
    auto arguments = std::make_shared<BenchArguments>();
    add_bench_options(*sub, bench, *arguments);
    sub->footer(examples_of(bench.name));
    sub->callback(
        [sub, &bench, arguments, &exit_code] { exit_code = run_bench(*sub, bench, *arguments); });
  }
}

}  // namespace fairlead::tools
