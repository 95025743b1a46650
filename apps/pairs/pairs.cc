// MPI ping-pongs of many pairs at once: rank r of the first half of the job and rank r of the
// second send each other messages, as in figures 5 and 6 and table 1 of the Sun MPI paper. One JSON
// line a size. Or messages one way: bursts to receivers that are late (section 3.4), and streams
// over time.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
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
    "  --burst N           instead: so many messages one way, to a receiver that is late\n"
    "  --late US           by so many microseconds (1000)\n"
    "  --stream MS         instead: messages one way for so many milliseconds\n"
    "  --variable N=VALUE  of the environment, before MPI starts; again for more\n"
    "  --json              print JSON lines (they are printed so in any case)\n"
    "\n"
    "latency_us is half of a round trip of the slowest pair. MBps is the sum over the pairs of "
    "what\n"
    "each moves in that time, ping and pong together.\n"
    "held_us of --burst is how long the sends of the slowest sender take, burst_us until all is\n"
    "received. --stream prints a line for each 2.5 ms: what all pairs received, and the longest\n"
    "time without a message that ended there.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 pairs --bytes 0 --bytes 65536\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 8 pairs --bytes 1000\n";

struct Options {
  std::vector<std::int64_t> bytes;
  std::int64_t count = 20;
  std::int64_t burst = 0;  // 0: ping-pongs
  std::int64_t late_us = 1000;
  std::int64_t stream_ms = 0;  // 0: ping-pongs
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
    } else if (std::strcmp(name, "--burst") == 0 && apps::parse_count(value, 1, 4096, number)) {
      options.burst = number;
    } else if (std::strcmp(name, "--late") == 0 && apps::parse_count(value, 0, 1 << 30, number)) {
      options.late_us = number;
    } else if (std::strcmp(name, "--stream") == 0 && apps::parse_count(value, 1, 10'000, number)) {
      options.stream_ms = number;
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

// This rank's part in the pairs.
struct Part {
  int rank = 0;
  int half = 0;  // pairs
  bool first() const { return rank < half; }
  int partner() const { return first() ? rank + half : rank - half; }
};

// The largest of all ranks' numbers, on rank 0.
double largest(double mine) {
  double all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

// Computes for so long: looks at no message.
void be_late(std::int64_t us) {
  const double until = MPI_Wtime() + static_cast<double>(us) * 1e-6;
  while (MPI_Wtime() < until) {
  }
}

// Sends that return before their receives have begun have found room at the receiver.
void bursts(const Options& options, const Part& part) {
  for (const std::int64_t bytes : options.bytes) {
    std::vector<char> buffer(static_cast<std::size_t>(bytes));
    const int length = static_cast<int>(bytes);
    play(buffer, bytes, 2, part.partner(), part.first());
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (!part.first()) be_late(options.late_us);
    for (std::int64_t i = 0; i < options.burst; ++i) {
      if (part.first()) {
        MPI_Send(buffer.data(), length, MPI_BYTE, part.partner(), 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(buffer.data(), length, MPI_BYTE, part.partner(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      }
    }
    const double spent = MPI_Wtime() - begin;
    const double held = largest(part.first() ? spent : 0);
    const double all = largest(spent);
    if (part.rank != 0) continue;
    std::printf("{\"bytes\":%lld,\"pairs\":%d,\"held_us\":%.6g,\"burst_us\":%.6g}\n",
                static_cast<long long>(bytes), part.half, held * 1e6, all * 1e6);
    std::fflush(stdout);
  }
}

// One way until the time is over. When this rank's messages came, seconds after `begin`; a message
// that is not the next one counts as wrong.
std::vector<double> stream_of(std::int64_t bytes, double seconds, double begin, const Part& part,
                              std::int64_t& wrong) {
  struct Mark {
    std::int64_t number;
    std::int64_t last;
  };
  const int length = static_cast<int>(bytes);
  std::vector<char> buffer(static_cast<std::size_t>(bytes));
  std::vector<double> came;
  Mark mark{-1, 0};
  for (std::int64_t number = 0; mark.last == 0; ++number) {
    char* const end = buffer.data() + bytes - sizeof mark;
    if (part.first()) {
      mark = {number, MPI_Wtime() - begin >= seconds ? 1 : 0};
      std::memcpy(buffer.data(), &mark, sizeof mark);
      std::memcpy(end, &mark, sizeof mark);
      MPI_Send(buffer.data(), length, MPI_BYTE, part.partner(), 0, MPI_COMM_WORLD);
      continue;
    }
    MPI_Recv(buffer.data(), length, MPI_BYTE, part.partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    came.push_back(MPI_Wtime() - begin);
    std::memcpy(&mark, buffer.data(), sizeof mark);
    const bool whole = std::memcmp(&mark, end, sizeof mark) == 0;
    wrong += whole && mark.number == number ? 0 : 1;
  }
  return came;
}

// All ranks' times, sorted, on rank 0.
std::vector<double> gathered(const std::vector<double>& mine, int ranks) {
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  std::vector<int> at(static_cast<std::size_t>(ranks));
  const int count = static_cast<int>(mine.size());
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (std::size_t i = 1; i < at.size(); ++i) at[i] = at[i - 1] + counts[i - 1];
  std::vector<double> all(static_cast<std::size_t>(at.back() + counts.back()));
  MPI_Gatherv(mine.data(), count, MPI_DOUBLE, all.data(), counts.data(), at.data(), MPI_DOUBLE, 0,
              MPI_COMM_WORLD);
  std::sort(all.begin(), all.end());
  return all;
}

void streams(const Options& options, const Part& part) {
  constexpr double kSlice = 0.0025;
  const std::int64_t bytes = std::max<std::int64_t>(options.bytes.front(), 32);
  std::vector<char> buffer(static_cast<std::size_t>(bytes));
  play(buffer, bytes, 2, part.partner(), part.first());
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = static_cast<double>(options.stream_ms) * 1e-3;
  std::int64_t wrong = 0;
  const std::vector<double> all =
      gathered(stream_of(bytes, seconds, MPI_Wtime(), part, wrong), 2 * part.half);
  std::int64_t wrong_of_all = 0;
  MPI_Reduce(&wrong, &wrong_of_all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (part.rank != 0) return;
  std::size_t next = 0;
  for (double from = 0; from < seconds; from += kSlice) {
    double gap = 0;
    const std::size_t before = next;
    for (; next < all.size() && all[next] < from + kSlice; ++next) {
      if (next > 0) gap = std::max(gap, all[next] - all[next - 1]);
    }
    std::printf("{\"at_ms\":%.6g,\"MBps\":%.6g,\"gap_ms\":%.6g,\"wrong\":%lld}\n", from * 1e3,
                static_cast<double>(next - before) * static_cast<double>(bytes) / kSlice / 1e6,
                gap * 1e3, static_cast<long long>(wrong_of_all));
  }
  std::fflush(stdout);
}

void ping_pongs(const Options& options, const Part& part) {
  for (const std::int64_t bytes : options.bytes) {
    std::vector<char> buffer(static_cast<std::size_t>(bytes), static_cast<char>(part.rank));
    // What is made on first use, buffers among it, is there afterwards.
    play(buffer, bytes, 2, part.partner(), part.first());
    const double mine = play(buffer, bytes, options.count, part.partner(), part.first());
    const double moved = mine > 0 ? 2.0 * static_cast<double>(bytes * options.count) / mine : 0;
    const double slowest = largest(mine);
    double all = 0;
    MPI_Reduce(&moved, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (part.rank != 0) continue;
    // Both ranks of a pair have told of the same bytes.
    std::printf("{\"bytes\":%lld,\"pairs\":%d,\"latency_us\":%.6g,\"MBps\":%.6g}\n",
                static_cast<long long>(bytes), part.half,
                slowest * 1e6 / static_cast<double>(2 * options.count), all / 2e6);
    std::fflush(stdout);
  }
}

int run(const Options& options) {
  Part part;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2 || size % 2 != 0) {
    std::fprintf(stderr, "pairs: %d ranks have no two halves\n", size);
    return 2;
  }
  part.half = size / 2;
  if (options.burst > 0) {
    bursts(options, part);
  } else if (options.stream_ms > 0) {
    streams(options, part);
  } else {
    ping_pongs(options, part);
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
