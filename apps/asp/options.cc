#include "apps/asp/options.h"

#include "apps/common/command_line.h"

namespace asp {

namespace {

const char kHelp[] =
    "All-pairs shortest paths (Floyd-Warshall), the rows of the matrix shared out in blocks.\n"
    "\n"
    "usage: asp [options]\n"
    "  --vertices N     vertices of the graph (256)\n"
    "  --paper          the problem of the LCI paper: 1024 vertices\n"
    "  --poll           look for messages after each row (MPI_Iprobe)\n"
    "  --verify         compare with the sequential algorithm\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 asp --verify\n"
    "  fairlead run -n 64 --on myrinet-ppro --lci sdma-hmc asp --paper --poll\n";

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--vertices", 1, 100'000, options.vertices)
      .preset("--paper", [&options] { options.vertices = kPaperVertices; })
      .flag("--poll", options.poll)
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("asp", kHelp, argc, argv);
}

}  // namespace asp
