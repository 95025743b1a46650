#include "apps/em3d/options.h"

#include <cstring>

#include "apps/common/command_line.h"

namespace em3d {
namespace {

constexpr Variant kVariants[] = {Variant::get, Variant::bulk, Variant::store};

const char kHelp[] =
    "Electromagnetic waves on an irregular graph of E and H nodes, in Split-C.\n"
    "\n"
    "usage: em3d [options]\n"
    "  --nodes N        of a rank, half of them E, half of them H (500)\n"
    "  --degree N       edges of a node (10)\n"
    "  --remote N       percent of the edges that lead to another rank (30)\n"
    "  --iterations N   (10)\n"
    "  --variant NAME   how values of other ranks come: get, bulk or store (bulk)\n"
    "  --verify         compare with a sequential run, bit by bit\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 em3d --verify\n"
    "  fairlead run -n 16 --on myrinet-p3 em3d --variant store\n";

}  // namespace

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

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--nodes", 2, 1'000'000, options.nodes)
      .count("--degree", 1, 1000, options.degree)
      .count("--remote", 0, 100, options.remote_percent)
      .count("--iterations", 0, 1'000'000, options.iterations)
      .valued("--variant",
              [&options](const char* text) {
                for (const Variant each : kVariants) {
                  if (std::strcmp(text, name_of(each)) != 0) continue;
                  options.variant = each;
                  return true;
                }
                return false;
              })
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("em3d", kHelp, argc, argv);
}

}  // namespace em3d
