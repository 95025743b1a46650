#include "apps/awari/options.h"

#include "apps/awari/board.h"
#include "apps/common/command_line.h"

namespace awari {

namespace {

const char kHelp[] =
    "Endgame databases of Awari by retrograde analysis, on Orca objects.\n"
    "\n"
    "usage: awari [options]\n"
    "  --stones N       every position with at most N stones, 1 to 15 (5)\n"
    "  --updates N      updates of positions that are sent at a time to a rank (32)\n"
    "  --paper          the problem of the LCI paper: 13 stones\n"
    "  --verify         compare with a sequential analysis\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 awari --verify\n"
    "  fairlead run -n 64 --on myrinet-ppro --lci sdma awari --paper\n";

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--stones", 1, kStonesMax, options.stones)
      .count("--updates", 1, 1'000'000, options.updates)
      .preset("--paper", [&options] { options.stones = kPaperStones; })
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("awari", kHelp, argc, argv);
}

}  // namespace awari
