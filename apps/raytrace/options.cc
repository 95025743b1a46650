#include "apps/raytrace/options.h"

#include "apps/common/command_line.h"

namespace raytrace {
namespace {

const char kHelp[] =
    "  --width N        of the picture, in pixels (256)\n"
    "  --height N       (256)\n"
    "  --samples N      N * N rays of a pixel are averaged (1)\n"
    "  --png FILE       write the picture there\n"
    "  --no-verify      do not compare with a sequential run, pixel by pixel\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n";

}  // namespace

std::optional<int> read(const Front& front, int argc, char** argv, Options& options) {
  const std::string program = front.program;
  const std::string help = "Ray traces a teapot, " + std::string(front.how) +
                           ": ranks take tiles by a shared counter.\n\nusage: " + program +
                           " [options]\n" + kHelp + "  fairlead run -n 4 " + program +
                           " --png teapot.png\n  fairlead run -n 16 --on myrinet-p3 " + program +
                           " --no-verify\n";
  return apps::CommandLine()
      .count("--width", 1, 8192, options.width)
      .count("--height", 1, 8192, options.height)
      .count("--samples", 1, 16, options.samples)
      .valued("--png",
              [&options](const char* text) {
                options.png = text;
                return !options.png.empty();
              })
      .verification(options.verify)
      .flag("--json", options.json)
      .read(front.program, help.c_str(), argc, argv);
}

}  // namespace raytrace
