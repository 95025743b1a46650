#include "tools/fairlead/world_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <variant>

#include "fairlead/run/option_table.h"
#include "tools/fairlead/background_option.h"
#include "tools/fairlead/handler_option.h"
#include "tools/fairlead/number_options.h"

namespace fairlead::tools {
namespace {

constexpr std::string_view kPlaceOptions[] = {"on", "lci"};
constexpr std::string_view kModelOptions[] = {"faster"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void read(const run::JobOption& option, const std::string& text, run::WorldOptions& world) {
  const std::string written = fmt::format("--{}", option.name());
  const Result<void> done = run::read_option(option, written, text, world);
  if (!done.ok()) throw CLI::ValidationError(done.error().text);
}

void add_option(CLI::App& app, run::WorldOptions& world, const run::JobOption& option) {
  const auto once = [&world, &option](const std::string& text) { read(option, text, world); };
  const auto repeated = [&world, &option](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) read(option, text, world);
  };
  using Texts = std::vector<std::string> run::WorldOptions::*;
  CLI::Option* const made =
      std::holds_alternative<Texts>(option.field)
          ? app.add_option_function<std::vector<std::string>>(option.flags, repeated, option.help)
                ->allow_extra_args(false)
          : app.add_option_function<std::string>(option.flags, once, option.help);
  made->type_name(option.type)->default_str(run::default_text(option));
}

}  // namespace

void add_job_options(CLI::App& app, WorldChoice& choice) {
  for (const run::JobOption& option : run::job_options()) {
    if (is_one_of(kPlaceOptions, option.name()) || is_one_of(kModelOptions, option.name()))
      continue;
    add_option(app, choice.world, option);
  }
}

void add_place_options(CLI::App& app, WorldChoice& choice) {
  for (const std::string_view name : kPlaceOptions) {
    add_option(app, choice.world, run::job_option(name));
  }
}

void add_model_options(CLI::App& app, WorldChoice& choice) {
  for (const std::string_view name : kModelOptions) {
    add_option(app, choice.world, run::job_option(name));
  }
  app.add_flag(
         fmt::format("--explain{{{}}}", kExplainAll), choice.explain,
         "Say which resource of a modelled platform bounds the run, and what it would take "
         "if that were twice as fast, and which algorithms an MPI program's collectives have; "
         "--explain=path the first without the runs that takes; --explain=collectives the "
         "last alone, for real runs too")
      ->check(CLI::IsMember({kExplainAll, kExplainPath, kExplainCollectives}))
      ->type_name("");
  add_real_option(app, "--progress", choice.progress_s,
                  fmt::format("Tell every so many seconds how far a modelled run is: virtual time, "
                              "events a second, ranks done; 0: never. Without it every {:g} s on a "
                              "terminal",
                              kProgressSeconds),
                  "a number of seconds", {0, 86'400})
      ->type_name("SECONDS");
}

Result<void> check_model_options(const run::WorldOptions& world) {
  if (run::is_modelled(world.on) || !world.explain) return {};
  return run::not_modelled("--explain", world.on);
}

run::WorldOptions WorldChoice::options() const {
  run::WorldOptions options = world;
  options.explain = !explain.empty() && explain != kExplainCollectives;
  if (!background.empty()) {
    // What --set gives counts more.
    const std::vector<std::string> numbers = read_background(background).value();
    options.set.insert(options.set.begin(), numbers.begin(), numbers.end());
  }
  if (!handler.empty()) options.set.insert(options.set.begin(), handler_number(handler));
  const double progress = progress_s >= 0              ? progress_s
                          : isatty(STDERR_FILENO) != 0 ? kProgressSeconds
                                                       : 0;
  if (progress > 0) options.progress = microseconds_rounded(progress * 1e6);
  return options;
}

std::string option_names(const CLI::App& app) {
  std::set<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.insert("--" + name);
    if (option->get_lnames().empty()) {
      for (const std::string& name : option->get_snames()) names.insert("-" + name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<std::vector<std::string>> program_of(const CLI::App& app) {
  const std::vector<std::string> command = app.remaining();
  if (command.empty()) {
    return Error{
        fmt::format("{0} needs a program; for example: fairlead {0} -n 2 ./prog", app.get_name())};
  }
  if (command[0][0] == '-') {
    return Error{fmt::format("{} has no option {}; it has {}", app.get_name(), command[0],
                             option_names(app))};
  }
  return command;
}

}  // namespace fairlead::tools
