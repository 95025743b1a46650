#include "apps/em3d/options.h"

#include <cstring>
#include <string>

#include "apps/common/command_line.h"

namespace em3d {
namespace {

constexpr Variant kVariants[] = {Variant::get, Variant::bulk, Variant::store};

const char kSizes[] =
    "  --nodes N        of a rank, half of them E, half of them H (500)\n"
    "  --degree N       edges of a node (10)\n"
    "  --remote N       percent of the edges that lead to another rank (30)\n"
    "  --iterations N   (10)\n";
const char kVariant[] =
    "  --variant NAME   how values of other ranks come: get, bulk or store (bulk)\n";
const char kRest[] =
    "  --no-verify      do not compare with a sequential run, bit by bit\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n";

std::string help_of(Front front) {
  std::string text = "Electromagnetic waves on an irregular graph of E and H nodes, ";
  if (front == Front::mpi) {
    return text + "by MPI.\n\nusage: em3d_mpi [options]\n" + kSizes + kRest +
           "  fairlead run -n 2 em3d_mpi\n"
           "  fairlead run -n 16 --on myrinet-p3 em3d_mpi --nodes 2000\n";
  }
  return text + "in Split-C.\n\nusage: em3d [options]\n" + kSizes + kVariant + kRest +
         "  fairlead run -n 2 em3d\n"
         "  fairlead run -n 16 --on myrinet-p3 em3d --variant store\n";
}

}  // namespace

const char* name_of(Front front) { return front == Front::mpi ? "em3d_mpi" : "em3d"; }

const char* name_of(Variant variant) {
  switch (variant) {
    case Variant::get:
      return "get";
    case Variant::bulk:
      return "bulk";
    default:
      return "store";
  }
}

std::optional<int> read(Front front, int argc, char** argv, Options& options) {
  apps::CommandLine line;
  line.count("--nodes", 2, 1'000'000, options.nodes)
      .count("--degree", 1, 1000, options.degree)
      .count("--remote", 0, 100, options.remote_percent)
      .count("--iterations", 0, 1'000'000, options.iterations)
      .verification(options.verify)
      .flag("--json", options.json);
  if (front == Front::splitc) {
    line.valued("--variant", [&options](const char* text) {
      for (const Variant each : kVariants) {
        if (std::strcmp(text, name_of(each)) != 0) continue;
        options.variant = each;
        return true;
      }
      return false;
    });
  }
  return line.read(name_of(front), help_of(front).c_str(), argc, argv);
}

}  // namespace em3d
