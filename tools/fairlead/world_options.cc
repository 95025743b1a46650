#include "tools/fairlead/world_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <set>

#include "fairlead/run/welcome.h"
#include "tools/fairlead/background_option.h"
#include "tools/fairlead/handler_option.h"
#include "tools/fairlead/number_options.h"

namespace fairlead::tools {
namespace {

// A hundred days is the longest that Ps holds, and nobody's job.
constexpr Range<double> kTimeoutSeconds{0.001, 8'640'000};

}  // namespace

void add_job_options(CLI::App& app, WorldChoice& choice) {
  add_whole_option(app, "-n,--ranks", choice.world.ranks, "Ranks of the job; -np is the same",
                   {1, 1U << 20})
      ->type_name("N")
      ->default_str(fmt::format("{}", choice.world.ranks));
  app.add_option(
         "--bind", choice.world.bind,
         "Processors of the ranks, and after them of NI engines, real world: auto, none, or a list "
         "such as 0,2-3")
      ->type_name("CPUS")
      ->capture_default_str();
  add_real_option(app, "--timeout", choice.timeout_s,
                  "End the job after so many seconds (exit code 124)", "a number of seconds",
                  kTimeoutSeconds)
      ->type_name("SECONDS");
  app.add_option(
         "--faults", choice.world.faults,
         "Drop, duplicate, reorder, delay or corrupt packets, of all links or of one, or take "
         "a link down: drop=0.01,dup=0.001 link=3-7:drop=0.1 down=5@10ms+2ms (commas "
         "between parts)")
      ->type_name("PLAN");
  add_whole_option(app, "--seed", choice.world.seed, "Of the fault plan and of the model")
      ->type_name("N")
      ->default_str(fmt::format("{}", choice.world.seed));
  app.add_option("--topology", choice.world.topology,
                 "Network of a modelled platform instead of its own: grid, clos, fat-tree, "
                 "single-switch, or a file (.toml) that lists switches and links")
      ->type_name("NAME|FILE");
  app.add_option("--set", choice.world.set,
                 "Another number than a modelled platform's file has, for example "
                 "ni.receive_buffers=2048; may be repeated, and is shown with the results")
      ->type_name("SECTION.KEY=NUMBER")
      ->allow_extra_args(false);
  add_whole_option(app, "--stack-kib", choice.world.fiber_stack_kib,
                   "Stack of a rank that runs as a fiber, in KiB", {16, 1U << 20})
      ->type_name("KIB")
      ->default_str(fmt::format("{}", choice.world.fiber_stack_kib));
  app.add_option("--auth", choice.world.auth,
                 "How datagrams are sealed on udp: header (tag over the headers), full (over the "
                 "data too), or encrypt")
      ->type_name("HOW")
      ->capture_default_str();
  app.add_option(
         "--address", choice.world.address,
         "Address of this host that udp and ofi use, or its network (10.1.0.0/24); two, with a "
         "comma, are two rails")
      ->type_name("IP")
      ->capture_default_str();
  add_whole_option(app, "--mtu", choice.world.mtu,
                   "Largest IP packet of udp, in bytes; without it the interface's", run::kMtuRange)
      ->type_name("BYTES");
  app.add_option("--provider", choice.world.provider,
                 "Provider of libfabric that ofi uses, for example tcp, shm, verbs or efa; without "
                 "it the best that is here (--show-paths says which, and why)")
      ->type_name("NAME");
  add_whole_option(
      app, "--ranks-per-node", choice.world.ranks_per_node,
      "Ranks that share a node of a modelled platform, or an NI engine with --on udp --lci nirx; "
      "without it each has one of its own, and on several hosts those of a host have one engine",
      {1, 1U << 20})
      ->type_name("N");
  app.add_option("--compute", choice.compute,
                 "Modelled computing time: declared (by the program), none, or measured (and "
                 "scaled to the platform)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"declared", "none", "measured"}))
      ->capture_default_str();
}

void add_place_options(CLI::App& app, WorldChoice& choice) {
  app.add_option("--on", choice.world.on,
                 "Where: shm (this machine), udp (its network interface), ofi (a network through "
                 "libfabric), loop (one thread, no time), or a modelled platform by name or file")
      ->type_name("PLACE")
      ->capture_default_str();
  app.add_option("--lci", choice.world.lci,
                 "Implementation of the low-level interface, for example sdma or pio; without it "
                 "the one that suits the place")
      ->type_name("NAME");
}

void add_model_options(CLI::App& app, WorldChoice& choice) {
  app.add_option("--faster", choice.world.faster,
                 "A modelled platform with resources so many times as fast, for example "
                 "ni=2,link=1.5: host, bus, dma, ni, link, visibility")
      ->type_name("RESOURCE=FACTOR,...");
  app.add_flag(fmt::format("--explain{{{}}}", kExplainAll), choice.explain,
               "Say which resource of a modelled platform bounds the run, and what it would take "
               "if that were twice as fast; --explain=path without the runs that takes")
      ->check(CLI::IsMember({kExplainAll, kExplainPath}))
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
  if (run::is_modelled(world.on) || (world.faster.empty() && !world.explain)) return {};
  return Error{fmt::format("{} is of modelled platforms, and {} is real; try --on myrinet-p3",
                           world.explain ? "--explain" : "--faster", world.on)};
}

run::WorldOptions WorldChoice::options() const {
  run::WorldOptions options = world;
  options.explain = !explain.empty();
  if (!background.empty()) {
    // What --set gives counts more.
    const std::vector<std::string> numbers = read_background(background).value();
    options.set.insert(options.set.begin(), numbers.begin(), numbers.end());
  }
  if (!handler.empty()) options.set.insert(options.set.begin(), handler_number(handler));
  if (timeout_s > 0) options.timeout = microseconds_rounded(timeout_s * 1e6);
  const double progress = progress_s >= 0              ? progress_s
                          : isatty(STDERR_FILENO) != 0 ? kProgressSeconds
                                                       : 0;
  if (progress > 0) options.progress = microseconds_rounded(progress * 1e6);
  if (compute == "none") options.compute = run::Compute::none;
  if (compute == "measured") options.compute = run::Compute::measured;
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
