// fairlead info: what this binary is, what this machine allows, and what is degraded here and why.
#include <sys/utsname.h>

#include <fmt/format.h>

#include <memory>

#include "fairlead/run/machine/probes.h"
#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/json.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead info            what works here, what does not and what that costs\n"
    "  fairlead info --json     the same as one JSON object, for bug reports";

std::string kernel_text() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

void print_json(const run::CpuLimits& cpus, const std::vector<run::Probe>& probes) {
  Json json = {{"version", kVersion},       {"commit", kCommit},
               {"build", kBuildType},       {"compiler", kCompiler},
               {"kernel", kernel_text()},   {"allowed_cpus", cpus.allowed},
               {"usable_cpus", cpus.usable}};
  if (cpus.cgroup_cpus > 0) json["cgroup_cpus"] = cpus.cgroup_cpus;
  json["probes"] = Json::array();
  for (const run::Probe& probe : probes) {
    json["probes"].push_back(
        {{"name", probe.name}, {"works", probe.works}, {"detail", probe.detail}});
  }
  fmt::print("{}\n", json.dump());
}

void print_text(const run::CpuLimits& cpus, const std::vector<run::Probe>& probes) {
  fmt::print("fairlead {} ({}), {} build, {}\n", kVersion, kCommit, kBuildType, kCompiler);
  fmt::print("kernel     {}\n", kernel_text());
  fmt::print("processors {} allowed ({}), {} usable", cpus.allowed.size(),
             fmt::join(cpus.allowed, ","), cpus.usable);
  if (cpus.cgroup_cpus > 0) fmt::print(", control group quota {:g}", cpus.cgroup_cpus);
  fmt::print("\n\n");
  Table table({"facility", "here", "detail"});
  for (const run::Probe& probe : probes) {
    table.add({probe.name, probe.works ? "works" : "missing", probe.detail});
  }
  fmt::print("{}", table.text(kPageWidth));
}

}  // namespace

void add_info(CLI::App& app, int& exit_code) {
  auto* info = app.add_subcommand("info", "Show version, kernel facilities and what is degraded");
  auto json = std::make_shared<bool>(false);
  info->add_flag("--json", *json, "One JSON object");
  info->footer(kExamples);
  info->callback([json, &exit_code] {
    const auto cpus = run::cpu_limits();
    const auto probes = run::probe_kernel();
    if (*json) {
      print_json(cpus, probes);
    } else {
      print_text(cpus, probes);
    }
    exit_code = 0;
  });
}

}  // namespace fairlead::tools
