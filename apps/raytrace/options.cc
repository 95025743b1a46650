#include "apps/raytrace/options.h"

#include "apps/common/command_line.h"

namespace raytrace {
namespace {

const char kHelp[] =
    "Ray traces a teapot, in Split-C: ranks take tiles by a shared counter.\n"
    "\n"
    "usage: raytrace [options]\n"
    "  --width N        of the picture, in pixels (256)\n"
    "  --height N       (256)\n"
    "  --samples N      N * N rays of a pixel are averaged (1)\n"
    "  --png FILE       write the picture there\n"
    "  --verify         compare with a sequential run, pixel by pixel\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 4 raytrace --verify --png teapot.png\n"
    "  fairlead run -n 16 --on myrinet-p3 --splitc via raytrace\n";

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--width", 1, 8192, options.width)
      .count("--height", 1, 8192, options.height)
      .count("--samples", 1, 16, options.samples)
      .valued("--png",
              [&options](const char* text) {
                options.png = text;
                return !options.png.empty();
              })
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("raytrace", kHelp, argc, argv);
}

}  // namespace raytrace
