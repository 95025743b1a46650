// MPI ping-pongs of many pairs at once: rank r of the first half of the job and rank r of the
// second send each other messages, as in figures 5 and 6 and table 1 of the Sun MPI paper. One JSON
// line a size.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "apps/common/command_line.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace pairs {
namespace {

const char kHelp[] =
    "MPI ping-pongs between the two halves of a job, every pair at once.\n"
    "\n"
    "usage: pairs [options]\n"
    "  --bytes N           size of a message; again for more (0)\n"
    "  --count N           round trips (20)\n"
    "  --variable N=VALUE  of the environment, before MPI starts; again for more\n"
    "  --json              print JSON lines (they are printed so in any case)\n"
    "\n"
    "latency_us is half of a round trip of the slowest pair. MBps is the sum over the pairs of "
    "what\n"
    "each moves in that time, ping and pong together.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 pairs --bytes 0 --bytes 65536\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 8 pairs --bytes 1000\n";

struct Options {
  std::vector<std::int64_t> bytes;
  std::int64_t count = 20;
  std::vector<std::string> variables;
  bool help = false;
};

// nullptr, or the word that cannot be used.
const char* parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    std::int64_t number = 0;
    if (std::strcmp(name, "--help") == 0) {
      options.help = true;
      continue;
    }
    if (std::strcmp(name, "--json") == 0) continue;
    if (value == nullptr) return name;
    if (std::strcmp(name, "--bytes") == 0 && apps::parse_count(value, 0, 1 << 30, number)) {
      options.bytes.push_back(number);
    } else if (std::strcmp(name, "--variable") == 0 && std::strchr(value, '=') != nullptr) {
      options.variables.emplace_back(value);
    } else if (std::strcmp(name, "--count") != 0 ||
               !apps::parse_count(value, 1, 1'000'000, options.count)) {
      return name;
    }
    ++i;
  }
  if (options.bytes.empty()) options.bytes.push_back(0);
  return nullptr;
}

// What this rank's pair needs for `count` round trips, in seconds.
double play(std::vector<char>& buffer, std::int64_t bytes, std::int64_t count, int partner,
            bool first) {
  const int length = static_cast<int>(bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (std::int64_t i = 0; i < count; ++i) {
    if (first) MPI_Send(buffer.data(), length, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer.data(), length, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!first) MPI_Send(buffer.data(), length, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
  }
  return MPI_Wtime() - begin;
}

int run(const Options& options) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2 || size % 2 != 0) {
    std::fprintf(stderr, "pairs: %d ranks have no two halves\n", size);
    return 2;
  }
  const int half = size / 2;
  const bool first = rank < half;
  const int partner = first ? rank + half : rank - half;
  for (const std::int64_t bytes : options.bytes) {
    std::vector<char> buffer(static_cast<std::size_t>(bytes), static_cast<char>(rank));
    // What is made on first use, buffers among it, is there afterwards.
    play(buffer, bytes, 2, partner, first);
    const double mine = play(buffer, bytes, options.count, partner, first);
    const double moved = mine > 0 ? 2.0 * static_cast<double>(bytes * options.count) / mine : 0;
    double slowest = 0;
    double all = 0;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&moved, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0) continue;
    // Both ranks of a pair have told of the same bytes.
    std::printf("{\"bytes\":%lld,\"pairs\":%d,\"latency_us\":%.6g,\"MBps\":%.6g}\n",
                static_cast<long long>(bytes), half,
                slowest * 1e6 / static_cast<double>(2 * options.count), all / 2e6);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace pairs

int main(int argc, char** argv) {
  pairs::Options options;
  const char* const wrong = pairs::parse(argc, argv, options);
  if (wrong != nullptr || options.help) {
    if (wrong != nullptr) std::fprintf(stderr, "pairs: cannot use \"%s\"\n\n", wrong);
    std::fputs(pairs::kHelp, wrong != nullptr ? stderr : stdout);
    return wrong != nullptr ? 2 : 0;
  }
  for (const std::string& variable : options.variables) {
    const std::size_t end = variable.find('=');
    setenv(variable.substr(0, end).c_str(), variable.c_str() + end + 1, 1);
  }
  MPI_Init(&argc, &argv);
  const int code = pairs::run(options);
  MPI_Finalize();
  return code;
}
