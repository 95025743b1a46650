#include "tools/fairlead/bench_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "fairlead/base/check.h"
#include "fairlead/run/option_table.h"
#include "tools/fairlead/am_options.h"
#include "tools/fairlead/background_option.h"
#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/busy_warning.h"
#include "tools/fairlead/child_run.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/handler_option.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/json.h"
#include "tools/fairlead/number_options.h"
#include "tools/fairlead/splitc_options.h"
#include "tools/fairlead/subprocess.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

struct ProgramColumn {
  const char* key;
  const char* heading;
};

// Where the job runs, as the first members of its lines say it.
Json place_of(const std::string& bench, const WorldChoice& choice) {
  const run::WorldOptions& world = choice.world;
  return {{"bench", bench}, {"on", world.on}, {"lci", implementation_used(world.on, world.lci)}};
}

// Error: an option that this place has not.
Result<void> check_choice(const WorldChoice& choice) {
  const run::WorldOptions world = choice.options();
  if (auto checked = check_model_options(world); !checked.ok()) return checked;
  if (auto checked = check_background(choice, {world.on}); !checked.ok()) return checked;
  if (auto checked = check_handler(choice, {world.on}); !checked.ok()) return checked;
  if (world.on == "loop") {
    return Error{"bench measures time and loop has none; try --on shm or a modelled platform"};
  }
  if (world.ranks < 2) return Error{"bench needs two ranks at least; try -n 2"};
  return {};
}

// Runs a program of this command's folder; the objects that it printed, one a line. Error: why it
// failed; `exit_code` is what the command answers then, for wrong use what its own checks answer.
Result<std::vector<Json>> lines_of(const std::vector<std::string>& program,
                                   const WorldChoice& choice, std::string& explanation,
                                   int& exit_code) {
  exit_code = 1;
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  const std::string& path = folder.value().path();
  std::vector<std::string> command = program;
  command[0] = (std::filesystem::path(own_path()).parent_path() / program[0]).string();
  const run::WorldOptions& world = choice.world;
  const ChildRun run{choice, world.on, world.lci, world.faster, choice.explain,
                     "auto", {},       "",        command};
  const Result<pid_t> child =
      start_child(child_command(run, path + "/stats"), path + "/errors", path + "/output");
  if (!child.ok()) return child.error();
  ChildEnd end;
  do end = wait_child();
  while (end.pid != child.value());
  const std::string errors = file_text(path + "/errors");
  if (end.exit_code == kUsageExitCode) exit_code = kUsageExitCode;
  if (end.exit_code != 0) return Error{reason_in(errors, end.exit_code)};
  if (!choice.explain.empty()) explanation += errors;
  std::vector<Json> lines;
  const std::string output = file_text(path + "/output");
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t newline = std::min(output.find('\n', at), output.size());
    Result<Json> line = Json::parse(std::string_view(output).substr(at, newline - at));
    if (!line.ok()) return Error{fmt::format("{}: {}", program[0], line.error().text)};
    lines.push_back(std::move(line.value()));
    at = newline + 1;
  }
  return lines;
}

void print_lines(const std::vector<Json>& lines, const std::vector<ProgramColumn>& columns,
                 const Json& place, const WorldChoice& choice, bool json) {
  std::vector<std::string> headings;
  for (const ProgramColumn& column : columns) headings.emplace_back(column.heading);
  Table table(headings);
  for (const Json& line : lines) {
    Json whole = place;
    std::vector<std::string> cells;
    for (const ProgramColumn& column : columns) {
      const Json& value = line.at(column.key);
      whole[column.key] = value;
      cells.push_back(value.is_text()       ? value.text()
                      : value.is_unsigned() ? fmt::format("{}", value.whole())
                                            : show_number(value.number()));
    }
    table.add(cells);
    whole["job_ranks"] = choice.world.ranks;
    whole["seed"] = choice.world.seed;
    whole["commit"] = kCommit;
    if (json) fmt::print("{}\n", whole.dump());
  }
  if (!json) fmt::print("{}", table.text());
}

int complain_of(const Error& error, int exit_code) {
  complain(error.text);
  return exit_code;
}

std::vector<ProgramColumn> columns_of(const std::string& what) {
  if (what == "logp") {
    return {{"os_us", "o_s us"},
            {"or_us", "o_r us"},
            {"l_us", "L us"},
            {"g_us", "g us"},
            {"one_way_us", "one-way us"}};
  }
  if (what == "stream") return {{"bytes", "bytes"}, {"MBps", "10^6 B/s"}};
  return {{"bytes", "bytes"}, {"one_way_us", "one-way us"}};
}

struct SplitcArguments {
  WorldChoice choice;
  std::string splitc;  // implementation; empty: as the environment says
  std::string op = "all";
  std::string ways = "both";
  bool bulk = false;
  bool json = false;
  std::uint32_t repetitions = 10'000;
};

// The lines of both runs as one, with how much longer both ways take.
std::vector<Json> joined(const std::vector<Json>& one_way, const std::vector<Json>& two_way) {
  std::vector<Json> lines;
  const std::size_t count = std::max(one_way.size(), two_way.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Json& any = one_way.empty() ? two_way[i] : one_way[i];
    Json line = {{"op", any.at("op")}, {"bytes", any.at("bytes")}};
    if (!one_way.empty()) line["one_way_us"] = one_way[i].at("us");
    if (!two_way.empty()) line["two_way_us"] = two_way[i].at("us");
    if (!one_way.empty() && !two_way.empty()) {
      line["ratio"] = two_way[i].at("us").number() / one_way[i].at("us").number();
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

int run_splitc_bench(SplitcArguments& arguments) {
  const WorldChoice& choice = arguments.choice;
  if (auto checked = check_choice(choice); !checked.ok()) {
    return complain_of(checked.error(), kUsageExitCode);
  }
  if (auto set = set_splitc_option(arguments.splitc); !set.ok()) {
    return complain_of(set.error(), kUsageExitCode);
  }
  if (!run::is_modelled(choice.world.on)) warn_if_busy();
  std::vector<std::string> program = {"splitcbench", "--json",
                                      "--op",        arguments.op,
                                      "--rounds",    fmt::format("{}", arguments.repetitions)};
  if (arguments.bulk) program.emplace_back("--bulk");
  std::vector<ProgramColumn> columns = {{"op", "operation"}, {"bytes", "bytes"}};
  std::vector<Json> measured[2];
  std::string explanation;
  for (const bool two_way : {false, true}) {
    if (arguments.ways == (two_way ? "one" : "two")) continue;
    if (two_way) program.emplace_back("--two-way");
    int failed = 1;
    auto lines = lines_of(program, choice, explanation, failed);
    if (!lines.ok()) return complain_of(lines.error(), failed);
    measured[two_way ? 1 : 0] = std::move(lines.value());
    columns.push_back(two_way ? ProgramColumn{"two_way_us", "two-way us"}
                              : ProgramColumn{"one_way_us", "one-way us"});
  }
  if (arguments.ways == "both") columns.push_back({"ratio", "two/one"});
  print_lines(joined(measured[0], measured[1]), columns, place_of("splitc", choice), choice,
              arguments.json);
  fmt::print(stderr, "{}", explanation);
  return 0;
}

}  // namespace

int run_vibench(const VibenchOptions& options, const WorldChoice& choice) {
  if (auto checked = check_choice(choice); !checked.ok()) {
    return complain_of(checked.error(), kUsageExitCode);
  }
  if (auto set = set_am_option(options.am); !set.ok()) {
    return complain_of(set.error(), kUsageExitCode);
  }
  if (!run::is_modelled(choice.world.on)) warn_if_busy();
  std::vector<std::string> program = {
      "vibench", "--json",     "--api",    options.api,
      "--what",  options.what, "--rounds", fmt::format("{}", options.repetitions)};
  if (!options.sizes.empty()) {
    program.insert(program.end(), {"--sizes", fmt::format("{}", fmt::join(options.sizes, ","))});
  }
  std::string explanation;
  int failed = 1;
  const auto lines = lines_of(program, choice, explanation, failed);
  if (!lines.ok()) return complain_of(lines.error(), failed);
  Json place = place_of(options.bench, choice);
  place["api"] = options.api;
  print_lines(lines.value(), columns_of(options.what), place, choice, options.json);
  fmt::print(stderr, "{}", explanation);
  return 0;
}

void add_splitc_bench(CLI::App& group, int& exit_code) {
  auto* const sub = group.add_subcommand(
      "splitc", "Split-C's primitives between two ranks, by the program splitcbench");
  auto arguments = std::make_shared<SplitcArguments>();
  add_job_options(*sub, arguments->choice);
  arguments->choice.world.ranks = 2;
  sub->get_option("--ranks")->description("Ranks of the job; two are active, the others serve");
  sub->get_option("--ranks")->default_str("2");
  add_place_options(*sub, arguments->choice);
  add_model_options(*sub, arguments->choice);
  add_background_option(*sub, arguments->choice);
  add_handler_option(*sub, arguments->choice);
  add_splitc_option(*sub, arguments->splitc);
  sub->add_option("--op", arguments->op, "read, write, get, put, store, or all of them")
      ->type_name("NAME")
      ->check(CLI::IsMember({"read", "write", "get", "put", "store", "all"}))
      ->capture_default_str();
  sub->add_option("--ways", arguments->ways,
                  "one: rank 0 accesses rank 1; two: each the other at once; or both, one after "
                  "the other")
      ->type_name("WAYS")
      ->check(CLI::IsMember({"one", "two", "both"}))
      ->capture_default_str();
  sub->add_flag("--bulk", arguments->bulk, "Bulk operations of 4 bytes to 4 KiB; else of one int");
  add_whole_option(*sub, "--repetitions", arguments->repetitions, "Operations of each kind",
                   {10, 10'000'000})
      ->type_name("N")
      ->default_str(fmt::format("{}", arguments->repetitions));
  sub->add_flag("--json", arguments->json, "One JSON object a line");
  sub->footer(
      "Examples:\n"
      "  fairlead bench splitc                                  two ranks on this machine\n"
      "  fairlead bench splitc --on millennium --lci via --splitc amvia\n"
      "  fairlead bench splitc --on millennium --lci via --splitc via --bulk --op get --json");
  sub->callback([arguments, &exit_code] { exit_code = run_splitc_bench(*arguments); });
}

}  // namespace fairlead::tools
