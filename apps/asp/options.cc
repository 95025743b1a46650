#include "apps/asp/options.h"

#include <cstring>

#include "apps/common/command_line.h"

namespace asp {

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

const char* parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    if (std::strcmp(name, "--paper") == 0) {
      options.vertices = kPaperVertices;
    } else if (std::strcmp(name, "--poll") == 0) {
      options.poll = true;
    } else if (std::strcmp(name, "--verify") == 0) {
      options.verify = true;
    } else if (std::strcmp(name, "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(name, "--help") == 0) {
      options.help = true;
    } else if (i + 1 < argc && std::strcmp(name, "--vertices") == 0 &&
               apps::parse_count(argv[i + 1], 1, 100'000, options.vertices)) {
      ++i;
    } else {
      return name;
    }
  }
  return nullptr;
}

}  // namespace asp
