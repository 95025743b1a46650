// fairlead bench: micro-benchmarks of the low-level interface, in either world.
#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "fairlead/lci/ni/implementations.h"
#include "fairlead/run/model/model_world.h"
#include "fairlead/run/option_table.h"
#include "tools/fairlead/am_options.h"
#include "tools/fairlead/background_option.h"
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/logp_accounts.h"
#include "tools/fairlead/bench_explanation.h"
#include "tools/fairlead/bench_program.h"
#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/busy_warning.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/handler_option.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/json.h"
#include "tools/fairlead/number_options.h"
#include "tools/fairlead/packet_counts.h"
#include "tools/fairlead/table.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

namespace {

// The largest message: each rank has memory for some.
constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 30;

struct BenchArguments {
  WorldChoice choice;
  BenchOptions options;
  std::string fill = "auto";
  std::string tree;
  std::string api = "lci";  // else a programming system, whose program measures
  std::string am;           // implementation of Active Messages; empty: as the environment says
  bool packets = false;
  bool accounts = false;
  bool json = false;
};

// The forwarding tree of a place's implementation. Direct ports have the library's own.
std::string tree_of(const run::WorldOptions& options) {
  if (!run::is_modelled(options.on)) return "binomial";
  const auto implementation = lci::parse_implementation(options.lci);
  const bool binomial =
      implementation.ok() && implementation.value().tree == proto::TreeShape::binomial;
  return binomial ? "binomial" : "binary";
}

std::string show_figure(const Column& column, double value) {
  return column.whole ? fmt::format("{:.0f}", value) : show_number(value);
}

Json begin_line(const Bench& bench, const run::WorldOptions& options) {
  return {{"bench", bench.name},
          {"on", options.on},
          {"lci", implementation_used(options.on, options.lci)}};
}

void end_line(Json& line, const run::WorldOptions& options, const std::string& changes) {
  line["job_ranks"] = options.ranks;
  line["seed"] = options.seed;
  if (!changes.empty()) line["platform_changes"] = changes;
  line["commit"] = kCommit;
  fmt::print("{}\n", line.dump());
}

void print_json(const Bench& bench, const BenchArguments& arguments,
                const run::WorldOptions& options, const std::string& changes, const Rows& rows) {
  for (const Row& row : rows.all()) {
    Json line = begin_line(bench, options);
    for (std::size_t c = 0; c < bench.columns.size(); ++c) {
      const double value = row.figures[c];
      if (bench.columns[c].whole) {
        line[bench.columns[c].key] = std::llround(value);
      } else {
        line[bench.columns[c].key] = value;
      }
    }
    if (row.spreads) {
      const std::string key = bench.columns.back().key;
      line[key + "_min"] = row.spread.least;
      line[key + "_median"] = row.spread.median;
      line[key + "_p99"] = row.spread.p99;
    }
    if (bench.takes.tree) line["tree"] = tree_of(options);
    if (bench.takes.copy) line["receiver_copy"] = arguments.options.copy;
    if (bench.takes.fill) line["sender_copy"] = arguments.options.fill;
    if (bench.takes.put) line["put"] = arguments.options.put;
    end_line(line, options, changes);
  }
}

void print_packets(const Bench& bench, const BenchArguments& arguments,
                   const run::WorldOptions& options, const run::RunReport& report) {
  if (arguments.json) {
    Json line = begin_line(bench, options);
    line["packets"] = packets_json(report.counters);
    if (report.modelled) line["virtual_time_us"] = to_us(report.virtual_time);
    end_line(line, options, report.platform_changes);
  } else {
    fmt::print("\n{}", packets_text(report.counters));
  }
}

void print_table(const Bench& bench, const Rows& rows) {
  std::vector<std::string> headings;
  for (const Column& column : bench.columns) headings.emplace_back(column.heading);
  const auto all = rows.all();
  const bool spreads =
      std::any_of(all.begin(), all.end(), [](const Row& row) { return row.spreads; });
  if (spreads) headings.insert(headings.end(), {"min", "median", "p99"});
  Table table(headings);
  for (const Row& row : rows.all()) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < bench.columns.size(); ++c) {
      cells.push_back(show_figure(bench.columns[c], row.figures[c]));
    }
    if (spreads) {
      for (const double figure : {row.spread.least, row.spread.median, row.spread.p99}) {
        cells.push_back(show_number(figure));
      }
    }
    table.add(cells);
  }
  fmt::print("{}", table.text());
}

Result<void> print_accounts(const Bench& bench, const BenchArguments& arguments,
                            const run::WorldOptions& options, const std::string& changes,
                            const Rows& rows) {
  const auto accounts = logp_accounts(options, arguments.options, rows.all()[0]);
  if (!accounts.ok()) return accounts.error();
  Table table({"account", "measured us", "accounted us", "difference us"});
  for (const Account& one : accounts.value()) {
    const double difference = one.measured_us - one.accounted_us;
    if (arguments.json) {
      Json line = begin_line(bench, options);
      line["account"] = one.key;
      line["measured_us"] = one.measured_us;
      line["accounted_us"] = one.accounted_us;
      line["difference_us"] = difference;
      end_line(line, options, changes);
    } else {
      table.add({one.heading, show_number(one.measured_us), show_number(one.accounted_us),
                 fmt::format("{:.3f}", difference)});
    }
  }
  if (!arguments.json) fmt::print("\n{}", table.text());
  return {};
}

// --tree as a part of the implementation's name, which says if it has another one already.
Result<void> choose_tree(const std::string& tree, run::WorldOptions& world) {
  if (tree.empty() || tree == tree_of(world)) return {};
  if (!run::is_modelled(world.on)) {
    return Error{fmt::format("--tree {}: {} has a {} tree", tree, world.on, tree_of(world))};
  }
  world.lci = implementation_used(world.on, world.lci) + "-" + tree;
  return {};
}

// Fills in what depends on the world and checks what the options cannot.
Result<void> complete(const CLI::App& app, const Bench& bench, BenchArguments& arguments) {
  run::WorldOptions& world = arguments.choice.world;
  const bool modelled = run::is_modelled(world.on);
  if (Result<void> checked = check_model_options(arguments.choice.options()); !checked.ok())
    return checked;
  if (Result<void> checked = check_background(arguments.choice, {world.on}); !checked.ok())
    return checked;
  if (Result<void> checked = check_handler(arguments.choice, {world.on}); !checked.ok())
    return checked;
  if (world.on == "loop") {
    return Error{"bench measures time and loop has none; try --on shm or a modelled platform"};
  }
  if (app.count("--ranks") == 0) world.ranks = modelled ? 64 : 2;
  if (world.ranks < 2) return Error{"bench needs two ranks at least; try -n 2"};
  BenchOptions& options = arguments.options;
  if (bench.takes.partner) {
    if (app.count("--partner") == 0) options.partner = run::mean_partner(world);
    if (options.partner == 0 || options.partner >= world.ranks) {
      return Error{fmt::format("--partner {} is not one of the ranks 1..{}", options.partner,
                               world.ranks - 1)};
    }
  }
  if (options.sizes.size() > kRowsMax) {
    return Error{fmt::format("--sizes takes at most {} sizes", kRowsMax)};
  }
  options.modelled = modelled;
  // On a machine of its own the data is where a DMA or programmed writes take it from; a broadcast
  // goes through packets (LCI paper, section 5.4).
  options.fill =
      arguments.fill == "yes" || (arguments.fill == "auto" && (!modelled || bench.takes.tree));
  if (options.put && options.copy) return Error{"--put leaves nothing to copy; drop --copy"};
  if (arguments.accounts && !modelled) {
    return run::not_modelled("--accounts", world.on);
  }
  if (auto tree = choose_tree(arguments.tree, world); !tree.ok()) return tree;
  if (options.repetitions == 0) {
    options.repetitions = modelled ? bench.repetitions_modelled : bench.repetitions_real;
  }
  return {};
}

// --api: by a program of that interface.
int run_by_program(const CLI::App& app, const Bench& bench, BenchArguments& arguments) {
  const run::WorldOptions& world = arguments.choice.world;
  for (const char* const name : {"--partner", "--copy", "--fill", "--put", "--tree", "--accounts",
                                 "--packets", "--window"}) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option == nullptr || option->count() == 0) continue;
    complain(fmt::format("{} is of --api lci; --api {} does without", name, arguments.api));
    return kUsageExitCode;
  }
  if (!arguments.am.empty() && arguments.api != "am") {
    complain(fmt::format("--am is of --api am; --api {} sends none", arguments.api));
    return kUsageExitCode;
  }
  if (app.count("--ranks") == 0) arguments.choice.world.ranks = 2;
  for (const std::uint64_t bytes : arguments.options.sizes) {
    if (app.get_option_no_throw("--sizes") == nullptr || app.count("--sizes") == 0) break;
    if (bytes >= 1 && bytes <= kVibenchMost) continue;
    complain(fmt::format("--sizes {}: --api {} has messages of 1 to {} bytes", bytes, arguments.api,
                         kVibenchMost));
    return kUsageExitCode;
  }
  BenchOptions& options = arguments.options;
  if (app.get_option_no_throw("--sizes") != nullptr && app.count("--sizes") == 0) {
    options.sizes = {4, 16, 64, 256, 1024, 4016};
  }
  if (options.repetitions == 0) options.repetitions = run::is_modelled(world.on) ? 200 : 5000;
  return run_vibench({bench.name, bench.program, arguments.api, arguments.am, options.sizes,
                      options.repetitions, arguments.json},
                     arguments.choice);
}

int run_bench(const CLI::App& app, const Bench& bench, BenchArguments& arguments) {
  if (arguments.api != "lci") return run_by_program(app, bench, arguments);
  auto complete_options = complete(app, bench, arguments);
  if (!complete_options.ok()) {
    complain(complete_options.error().text);
    return kUsageExitCode;
  }
  const run::WorldOptions options = arguments.choice.options();
  if (!run::is_modelled(options.on)) warn_if_busy();
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
    print_json(bench, arguments, options, report.value().platform_changes, rows);
  } else {
    print_table(bench, rows);
    if (const std::string& changes = report.value().platform_changes; !changes.empty()) {
      fmt::print("platform changed: {}\n", changes);
    }
  }
  if (arguments.packets) print_packets(bench, arguments, options, report.value());
  Result<void> more;
  if (arguments.accounts) {
    more = print_accounts(bench, arguments, options, report.value().platform_changes, rows);
  }
  if (more.ok() && options.explain) {
    more = explain_bench(bench, bench_options, options, report.value(), rows, arguments.json);
  }
  if (more.ok()) return 0;
  complain(more.error().text);
  return 1;
}

void add_bench_options(CLI::App& app, const Bench& bench, BenchArguments& arguments) {
  BenchOptions& options = arguments.options;
  add_job_options(app, arguments.choice);
  app.get_option("--ranks")->description("Ranks of the job: 2, or 64 on a modelled platform");
  app.get_option("--ranks")->default_str("");
  add_place_options(app, arguments.choice);
  add_model_options(app, arguments.choice);
  add_background_option(app, arguments.choice);
  add_handler_option(app, arguments.choice);
  if (bench.takes.partner) {
    add_whole_option(app, "--partner", options.partner,
                     "The rank that rank 0 talks to, the others being idle; without it half the "
                     "ranks away")
        ->type_name("RANK");
  }
  if (!bench.default_sizes.empty()) {
    options.sizes = bench.default_sizes;
    add_sizes_option(app, "--sizes", options.sizes, "Message sizes, for example 8,2K,1M",
                     {0, kSizeMax})
        ->type_name("BYTES,...");
  }
  if (bench.takes.window) {
    add_whole_option(app, "--window", options.window, "Messages before an answer is awaited",
                     {1, 1U << 20})
        ->type_name("N")
        ->default_str(fmt::format("{}", options.window));
  }
  if (bench.takes.copy) {
    app.add_flag("--copy", options.copy,
                 "The receiver copies each message into an array of its size");
  }
  if (bench.takes.fill) {
    app.add_option("--fill", arguments.fill,
                   "Whether the sender copies each message into packets: yes, no (it is there), or "
                   "auto: as the LCI paper's benchmarks on a modelled platform, else yes")
        ->type_name("HOW")
        ->check(CLI::IsMember({"auto", "yes", "no"}))
        ->capture_default_str();
  }
  if (bench.takes.put) {
    app.add_flag("--put", options.put,
                 "Messages are remote-memory copies instead of packets with an upcall");
  }
  if (bench.takes.tree) {
    app.add_option("--tree", arguments.tree,
                   "Forwarding tree, binary or binomial; without it the implementation's")
        ->type_name("SHAPE")
        ->check(CLI::IsMember({"binary", "binomial"}));
  }
  if (bench.program != nullptr) {
    app.add_option("--api", arguments.api,
                   "Whose messages: lci, the low-level interface's, via, a virtual interface's "
                   "(VIPL), or am, Active Messages; the last two by the program vibench, for 1 to "
                   "4016 bytes")
        ->type_name("NAME")
        ->check(CLI::IsMember({"lci", "via", "am"}))
        ->capture_default_str();
    add_am_option(app, arguments.am);
  }
  add_whole_option(app, "--repetitions", options.repetitions,
                   fmt::format("How often; without it {}, or {} on a modelled platform",
                               bench.repetitions_real, bench.repetitions_modelled),
                   {10, 100'000'000})
      ->type_name("N");
  if (bench.takes.accounts) {
    app.add_flag("--accounts", arguments.accounts,
                 "Also what the model's hosts, buses and interfaces were busy with per message");
  }
  app.add_flag("--packets", arguments.packets,
               "Also the job's packets by type: data, acknowledgments, drops");
  app.add_flag("--json", arguments.json, "One JSON object a line");
}

std::string examples_of(const Bench& bench) {
  const std::string name = bench.name;
  std::string sizes;
  if (name == "latency" || name == "throughput" || name == "multicast")
    sizes = " --sizes 16,2K,64K";
  const std::string alias =
      bench.alias == nullptr
          ? ""
          : fmt::format("\n  fairlead bench {} --api am                          its other name",
                        bench.alias);
  return fmt::format(
      "Examples:\n"
      "  fairlead bench {0}                                     two ranks on this machine\n"
      "  fairlead bench {0} --on myrinet-p3 --lci pio           on a modelled cluster\n"
      "  fairlead bench {0} --on myrinet-ppro --lci sdma{1} --json{2}",
      name, sizes, alias);
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
      "  fairlead bench multicast --on myrinet-ppro --lci pio --tree binary\n"
      "  fairlead bench latency --on myrinet-p3 --sizes 16 --explain\n"
      "  fairlead bench pingpong --on millennium --lci via --api am --am amvia\n"
      "  fairlead bench splitc --on millennium --lci via --splitc via\n"
      "  fairlead bench barrier -n 8");
  for (const Bench& bench : benches()) {
    auto* sub = group->add_subcommand(bench.name, bench.about);
    auto arguments = std::make_shared<BenchArguments>();
    if (bench.alias != nullptr) sub->alias(bench.alias);
    add_bench_options(*sub, bench, *arguments);
    sub->footer(examples_of(bench));
    sub->callback(
        [sub, &bench, arguments, &exit_code] { exit_code = run_bench(*sub, bench, *arguments); });
  }
  add_splitc_bench(*group, exit_code);
}

}  // namespace fairlead::tools
