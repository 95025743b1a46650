// MPI's collective operations, one a run: what a rank moves in a second, as figure 7 and table 2 of
// the Sun MPI paper have it. One line a size.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "apps/common/command_line.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace collbench {
namespace {

const char kHelp[] =
    "Rates of an MPI collective operation on all ranks.\n"
    "\n"
    "usage: collbench [options]\n"
    "  --call NAME         bcast, gather, gatherv, scatter, scatterv, allgather, allgatherv,\n"
    "                      alltoall, alltoallv, reduce, reduce_scatter, allreduce or scan (bcast)\n"
    "  --bytes N           that a rank moves; again for more (1024)\n"
    "  --count N           calls, after one that is not measured (4)\n"
    "  --json              print JSON lines\n"
    "\n"
    "The bytes are those of the vector or message; of gather and scatter what the root has of all\n"
    "ranks, of allgather the result, of alltoall what a rank has for all: each is rounded to the\n"
    "ranks. Time is rank 0's, which is the root, from a barrier to the end of the last call.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 4 collbench --call allreduce --bytes 1048576\n"
    "  fairlead run -n 92 --on firelink --ranks-per-node 23 --mpi-device auto collbench\n";

struct Options {
  std::string_view call = "bcast";
  std::vector<std::int64_t> bytes;
  std::int64_t count = 4;
  bool json = false;
};

// What one rank's calls work on. Parts are of `part` bytes or doubles, a part for each rank.
struct Work {
  int ranks = 1;
  int part = 0;
  int all = 0;
  std::vector<char> out;
  std::vector<char> in;
  std::vector<double> values;
  std::vector<double> sums;
  std::vector<int> counts;
  std::vector<int> places;
};

using Run = void (*)(Work& work);

struct Call {
  std::string_view name;
  bool of_doubles;  // else of bytes
  bool in_parts;    // each rank has one of them
  Run run;
};

const MPI_Comm kAll = MPI_COMM_WORLD;

constexpr Call kCalls[] = {
    {"bcast", false, false, [](Work& w) { MPI_Bcast(w.out.data(), w.all, MPI_BYTE, 0, kAll); }},
    {"gather", false, true,
     [](Work& w) {
       MPI_Gather(w.out.data(), w.part, MPI_BYTE, w.in.data(), w.part, MPI_BYTE, 0, kAll);
     }},
    {"gatherv", false, true,
     [](Work& w) {
       MPI_Gatherv(w.out.data(), w.part, MPI_BYTE, w.in.data(), w.counts.data(), w.places.data(),
                   MPI_BYTE, 0, kAll);
     }},
    {"scatter", false, true,
     [](Work& w) {
       MPI_Scatter(w.out.data(), w.part, MPI_BYTE, w.in.data(), w.part, MPI_BYTE, 0, kAll);
     }},
    {"scatterv", false, true,
     [](Work& w) {
       MPI_Scatterv(w.out.data(), w.counts.data(), w.places.data(), MPI_BYTE, w.in.data(), w.part,
                    MPI_BYTE, 0, kAll);
     }},
    {"allgather", false, true,
     [](Work& w) {
       MPI_Allgather(w.out.data(), w.part, MPI_BYTE, w.in.data(), w.part, MPI_BYTE, kAll);
     }},
    {"allgatherv", false, true,
     [](Work& w) {
       MPI_Allgatherv(w.out.data(), w.part, MPI_BYTE, w.in.data(), w.counts.data(), w.places.data(),
                      MPI_BYTE, kAll);
     }},
    {"alltoall", false, true,
     [](Work& w) {
       MPI_Alltoall(w.out.data(), w.part, MPI_BYTE, w.in.data(), w.part, MPI_BYTE, kAll);
     }},
    {"alltoallv", false, true,
     [](Work& w) {
       MPI_Alltoallv(w.out.data(), w.counts.data(), w.places.data(), MPI_BYTE, w.in.data(),
                     w.counts.data(), w.places.data(), MPI_BYTE, kAll);
     }},
    {"reduce", true, false,
     [](Work& w) {
       MPI_Reduce(w.values.data(), w.sums.data(), w.all, MPI_DOUBLE, MPI_SUM, 0, kAll);
     }},
    {"reduce_scatter", true, true,
     [](Work& w) {
       MPI_Reduce_scatter(w.values.data(), w.sums.data(), w.counts.data(), MPI_DOUBLE, MPI_SUM,
                          kAll);
     }},
    {"allreduce", true, false,
     [](Work& w) {
       MPI_Allreduce(w.values.data(), w.sums.data(), w.all, MPI_DOUBLE, MPI_SUM, kAll);
     }},
    {"scan", true, false,
     [](Work& w) { MPI_Scan(w.values.data(), w.sums.data(), w.all, MPI_DOUBLE, MPI_SUM, kAll); }},
};

const Call* find(std::string_view name) {
  for (const Call& call : kCalls) {
    if (call.name == name) return &call;
  }
  return nullptr;
}

Work make(const Call& call, std::int64_t bytes, int ranks) {
  Work work;
  work.ranks = ranks;
  const std::int64_t unit = call.of_doubles ? static_cast<std::int64_t>(sizeof(double)) : 1;
  work.all = static_cast<int>(bytes / unit);
  if (call.in_parts) {
    work.part = work.all / ranks;
    work.all = work.part * ranks;
  }
  const auto size = static_cast<std::size_t>(work.all);
  if (call.of_doubles) {
    work.values.assign(size, 1);
    work.sums.assign(size, 0);
  } else {
    work.out.assign(size, 1);
    work.in.assign(size, 0);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    work.counts.push_back(work.part);
    work.places.push_back(rank * work.part);
  }
  return work;
}

// Seconds of a call, as this rank sees it.
double measure(const Call& call, Work& work, std::int64_t count) {
  // What is made on first use, connections among it, is there afterwards.
  call.run(work);
  MPI_Barrier(kAll);
  const double begin = MPI_Wtime();
  for (std::int64_t i = 0; i < count; ++i) call.run(work);
  const double seconds = MPI_Wtime() - begin;
  MPI_Barrier(kAll);
  return seconds / static_cast<double>(count);
}

void run(const Options& options) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(kAll, &rank);
  MPI_Comm_size(kAll, &ranks);
  const Call& call = *find(options.call);
  if (rank == 0 && !options.json) std::printf("%12s %12s %12s\n", "bytes", "us", "MB/s");
  for (const std::int64_t bytes : options.bytes) {
    Work work = make(call, bytes, ranks);
    const double seconds = measure(call, work, options.count);
    if (rank != 0) continue;
    const double moved = work.all * (call.of_doubles ? static_cast<double>(sizeof(double)) : 1.0);
    const double rate = seconds > 0 ? moved / seconds / 1e6 : 0;
    std::printf(
        options.json ? "{\"bytes\":%lld,\"us\":%.6g,\"MBps\":%.6g}\n" : "%12lld %12.6g %12.6g\n",
        static_cast<long long>(bytes), seconds * 1e6, rate);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace collbench

int main(int argc, char** argv) {
  collbench::Options options;
  apps::CommandLine line;
  line.valued("--call", [&](const char* text) {
    options.call = text;
    return collbench::find(text) != nullptr;
  });
  line.valued("--bytes", [&](const char* text) {
    return apps::parse_count(text, 1, 1 << 28, options.bytes.emplace_back());
  });
  line.count("--count", 1, 1'000'000, options.count).flag("--json", options.json);
  if (const auto code = line.read("collbench", collbench::kHelp, argc, argv)) return *code;
  if (options.bytes.empty()) options.bytes.push_back(1024);
  MPI_Init(&argc, &argv);
  collbench::run(options);
  MPI_Finalize();
  return 0;
}
