// fairlead platforms: the places a job can run on.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "fairlead/hw/platform.h"
#include "fairlead/run/platform_files.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead platforms                       names for --on\n"
    "  fairlead platforms --json                one object a line, with the files\n"
    "  FAIRLEAD_PLATFORMS=$HOME/clusters fairlead platforms    your own ones as well\n"
    "\n"
    "A platform file holds every number of a modelled machine with its source; --on takes the\n"
    "path of one as well as a name.";

struct Place {
  std::string name;
  std::string kind;  // real, modelled
  std::string description;
  std::string file;
};

std::vector<Place> places() {
  std::vector<Place> found = {
      {"shm", "real", "this machine: processes on shared memory", ""},
      {"loop", "real", "this process: fibers of one thread, for tests; has no time", ""}};
  for (const run::PlatformFile& one : run::list_platforms()) {
    const auto platform = hw::load_platform(one.path);
    found.push_back({one.name, "modelled",
                     platform.ok() ? platform.value().description : platform.error().text,
                     one.path});
  }
  return found;
}

void print_json(const std::vector<Place>& found) {
  for (const Place& one : found) {
    nlohmann::ordered_json line = {{"name", one.name},
                                   {"kind", one.kind},
                                   {"description", one.description},
                                   {"lci", implementations_on(one.name)}};
    if (!one.file.empty()) line["file"] = one.file;
    fmt::print("{}\n", line.dump());
  }
}

void print_table(const std::vector<Place>& found) {
  Table table({"--on", "world", "--lci", "what"});
  for (const Place& one : found) {
    table.add({one.name, one.kind, fmt::format("{}", fmt::join(implementations_on(one.name), ", ")),
               one.description});
  }
  fmt::print("{}", table.text());
}

}  // namespace

void add_platforms(CLI::App& app, int& exit_code) {
  auto* platforms = app.add_subcommand("platforms", "List the places a job can run on");
  auto json = std::make_shared<bool>(false);
  platforms->add_flag("--json", *json, "One JSON object a line");
  platforms->footer(kExamples);
  platforms->callback([json, &exit_code] {
    if (*json) {
      print_json(places());
    } else {
      print_table(places());
    }
    exit_code = 0;
  });
}

}  // namespace fairlead::tools
