// What the Sun Fire Link paper measures by MPI (section 4): pairs, collective operations, the NAS
// Parallel Benchmarks. Messages of one node go by the direct device, others by stores
// (--mpi-device auto), as its library chose.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/fairlead/reproduce/firelink_studies.h"

namespace fairlead::tools {

namespace {

constexpr std::uint64_t kLargeMessage = 1048576;

using Words = std::vector<std::string>;

std::string section(const char* number) {
  return fmt::format("Sun Fire Link paper, section {}", number);
}

struct Place {
  const char* name;
  std::uint32_t ranks_per_node;  // of a job of two
};
constexpr Place kPlaces[] = {{"on-node", 2}, {"off-node", 1}};

Study table1() {
  Study study{"table1", "MPI ping-pong of a single pair", false, {}, {}, {}};
  const auto pair = [](const Place& place) {
    return firelink_pairs(1, place.ranks_per_node, {0, kLargeMessage});
  };
  for (const Place& place : kPlaces) {
    add_cell(study, "latency", place.name, "us",
             figure_at(place.name, pair(place), "latency_us", 0));
    add_cell(study, "bandwidth", place.name, "MB/s",
             figure_at(place.name, pair(place), "MBps", kLargeMessage));
  }
  const Quantity on = figure_at("on-node", pair(kPlaces[0]), "MBps", kLargeMessage);
  const Quantity off = figure_at("off-node", pair(kPlaces[1]), "MBps", kLargeMessage);
  add_cell(study, "latency", "off-node / on-node", "x",
           ratio_of("", figure_at("", pair(kPlaces[1]), "latency_us", 0),
                    figure_at("", pair(kPlaces[0]), "latency_us", 0)));
  study.statements = {{"The on-node and off-node bandwidths are comparable (within 1.25)",
                       section("4.3"),
                       {{on, off, 1.25}, {off, on, 1.25}}}};
  return study;
}

// A message is short up to so many bytes.
Measurement split_at(std::uint64_t bytes, const std::vector<std::uint64_t>& sizes) {
  return firelink_pairs(1, 1, sizes, {fmt::format("MPI_RSM_SHORTMSGSIZE={}", bytes)});
}

// Where the protocol of blocks is as fast as the one of postboxes: the paper sees the change at
// 2000 bytes. And what it says of pipelining.
void add_protocols(Study& study) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = 1000; bytes <= 4000; bytes += 250) sizes.push_back(bytes);
  const Quantity crossing = crossover_of(split_at(0, sizes), split_at(32768, sizes), "MBps");
  add_cell(study, "short and long protocol as fast as each other", "size", "bytes", crossing);
  // A message of one list of blocks is not pipelined where the list is told of at once.
  constexpr std::uint64_t kList = 65536;
  const Quantity pipelined =
      figure_at("1 MiB", firelink_pairs(1, 1, {kLargeMessage}), "MBps", kLargeMessage);
  const Quantity whole = figure_at(
      "64 KiB at once", firelink_pairs(1, 1, {kList}, {fmt::format("MPI_RSM_PIPESIZE={}", kList)}),
      "MBps", kList);
  const Quantity gain = ratio_of("pipelined, of not", pipelined, whole);
  add_cell(study, "1 MiB, pipelined", "rate", "MB/s", pipelined);
  add_cell(study, "64 KiB at once, not pipelined", "rate", "MB/s", whole);
  add_cell(study, "pipelined, of not", "rate", "x", gain);
  Quantity named = crossing;
  named.label = "the crossing";
  study.statements.push_back(
      {"The transition between the short and the long protocol is at 2000 bytes (within 25 %)",
       section("4.2"),
       {{named, constant("2000 bytes", 2000), 1.25}, {constant("2000 bytes", 2000), named, 1.25}}});
  study.statements.push_back({"Pipelining doubles the transfer rate (1.8 to 2.2 times)",
                              section("3.2"),
                              {{constant("1.8", 1.8), gain, 1}, {gain, constant("2.2", 2.2), 1}}});
}

Study figure5(bool quick) {
  Study study{"figure5", "Aggregate bandwidth of MPI ping-pongs", true, {}, {}, {}};
  std::vector<std::uint32_t> pairs = {1, 8};
  std::vector<std::uint64_t> sizes = {64, 2000, 2001, 65536};
  if (!quick) {
    pairs = {1, 2, 4, 8, 16, 24};
    sizes = {64, 256, 1024, 2000, 2001, 4096, 16384, 65536, 262144, kLargeMessage};
  }
  PanelPlan panel{"figure5-rate",
                  "ping-pongs of pairs on two nodes",
                  {"message size", "bytes", true},
                  {"sum of the pairs' rates", "MB/s", false},
                  {}};
  const auto most = [&](std::uint32_t count) {
    return peak_of(fmt::format("{} pairs", count), firelink_pairs(count, count, sizes), "MBps");
  };
  for (const std::uint32_t count : pairs) {
    panel.series.push_back(
        {fmt::format("np={}", 2 * count), firelink_pairs(count, count, sizes), "MBps"});
    add_cell(study, fmt::format("np={}", 2 * count), "most", "MB/s", most(count));
  }
  study.panels.push_back(panel);
  study.statements.push_back({"A host's peak is 4.8 GB/s",
                              section("4.1"),
                              {{most(pairs.back()), constant("4.8 GB/s", 4800), 1}}});
  add_protocols(study);
  return study;
}

// Latency of small messages while more and more pairs send.
Study figure6(bool quick) {
  Study study{"figure6", "MPI latency under load", true, {}, {}, {}};
  std::vector<std::uint32_t> pairs = {1, 4, 23};
  if (!quick) pairs = {1, 2, 4, 8, 12, 16, 20, 23};
  const std::vector<std::uint64_t> sizes = {0, 64, 256};
  std::vector<Order> flat;
  const auto latency = [&](std::uint32_t count, std::uint64_t bytes) {
    return figure_at(fmt::format("{} pairs of {} bytes", count, bytes),
                     firelink_pairs(count, count, sizes), "latency_us", bytes);
  };
  for (const std::uint64_t bytes : sizes) {
    for (const std::uint32_t count : pairs) {
      add_cell(study, fmt::format("{} bytes", bytes), fmt::format("{} pairs", count), "us",
               latency(count, bytes));
    }
    flat.push_back({latency(23, bytes), latency(1, bytes), 1.2});
  }
  study.statements = {
      {"Latency is not sensitive to load: it remains low when many pairs use the interconnect "
       "(23 pairs within 1.2 of one)",
       section("4.2"), flat}};
  return study;
}

// --- Collective operations.

Measurement collective(const char* call, std::uint32_t ranks, std::uint32_t per_node,
                       const std::vector<std::uint64_t>& sizes) {
  Words words = {"--call", call, "--count", "2"};
  double bytes_of_all = 0;
  for (const std::uint64_t bytes : sizes) {
    words.insert(words.end(), {"--bytes", fmt::format("{}", bytes)});
    bytes_of_all += static_cast<double>(bytes) * ranks;
  }
  return firelink_program("collbench", ranks, per_node, words,
                          0.02 * ranks * static_cast<double>(sizes.size()) + bytes_of_all / 2e7);
}

Study table2(bool quick) {
  Study study{"table2", "MPI collective bandwidth of 16 processes", false, {}, {}, {}};
  struct Row {
    const char* name;
    const char* call;
  };
  constexpr Row kRows[] = {{"MPI_Gather", "gather"},
                           {"MPI_Gatherv", "gatherv"},
                           {"MPI_Scatter", "scatter"},
                           {"MPI_Scatterv", "scatterv"},
                           {"MPI_Bcast", "bcast"},
                           {"MPI_Allgather", "allgather"},
                           {"MPI_Allgatherv", "allgatherv"},
                           {"MPI_Alltoall", "alltoall"},
                           {"MPI_Alltoallv", "alltoallv"},
                           {"MPI_Reduce", "reduce"},
                           {"MPI_Reduce_scatter", "reduce_scatter"},
                           {"MPI_Allreduce", "allreduce"},
                           {"MPI_Scan", "scan"}};
  constexpr std::uint32_t kRanks = 16;
  const std::uint64_t bytes = quick ? 65536 : 4 * kLargeMessage;
  for (const Row& row : kRows) {
    const std::string_view call = row.call;
    if (quick && call != "gather" && call != "bcast" && call != "alltoall") continue;
    const auto rate = [&](std::uint32_t per_node) {
      return figure_at("", collective(row.call, kRanks, per_node, {bytes}), "MBps", bytes);
    };
    add_cell(study, row.name, "on-node", "MB/s", rate(kRanks));
    add_cell(study, row.name, "off-node", "MB/s", rate(kRanks / 2));
    add_cell(study, row.name, "ratio", "x", ratio_of("", rate(kRanks / 2), rate(kRanks)));
  }
  return study;
}

Study figure7(bool quick) {
  Study study{"figure7", "MPI collective operations of 92 processes on 4 nodes", true, {}, {}, {}};
  constexpr std::uint32_t kRanks = 92;
  constexpr std::uint32_t kPerNode = 23;
  std::vector<const char*> calls = {"bcast", "gather"};
  std::vector<std::uint64_t> sizes = {1024, 16384};
  if (!quick) {
    calls = {"bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall"};
    sizes = {1024, 4096, 16384, 65536, 262144, kLargeMessage};
  }
  PanelPlan panel{"figure7-rate",
                  "92 ranks, 23 on each of 4 nodes",
                  {"bytes that a rank moves", "bytes", true},
                  {"rate", "MB/s", false},
                  {}};
  for (const char* call : calls) {
    const Measurement measured = collective(call, kRanks, kPerNode, sizes);
    panel.series.push_back({call, measured, "MBps"});
    add_cell(study, call, "most", "MB/s", peak_of("", measured, "MBps"));
  }
  study.panels.push_back(panel);
  return study;
}

// --- The NAS Parallel Benchmarks, computing declared.

struct Benchmark {
  const char* name;
  const char* title;
  bool square;               // numbers of ranks, not powers of two
  std::uint32_t some_steps;  // that say what all do, as each takes the same time; 0: there are none
  bool needs_memory = false;  // of this machine for its messages: 6.5 GB in class C, whatever ranks
};
constexpr Benchmark kBenchmarks[] = {{"bt", "BT", true, 4},  {"cg", "CG", false, 2},
                                     {"ep", "EP", false, 0}, {"ft", "FT", false, 2, true},
                                     {"is", "IS", false, 2}, {"lu", "LU", false, 4},
                                     {"mg", "MG", false, 2}, {"sp", "SP", true, 4}};

// Those whose steps take the least time to model.
bool is_quick(const Benchmark& one) {
  return std::string_view(one.name) == "mg" || std::string_view(one.name) == "bt";
}

Quantity npb_seconds(const Benchmark& one, const char* of, std::uint32_t ranks,
                     std::uint32_t per_node, std::uint32_t steps) {
  Words words = {of, "--declared"};
  if (steps > 0) words.insert(words.end(), {"--steps", fmt::format("{}", steps)});
  Measurement made = firelink_program("", ranks, per_node, words, 0.2 * ranks);
  made.bench = fmt::format("npb_{}", one.name);
  return figure_of(fmt::format("{} of class {} on {} ranks", one.title, of, ranks), made,
                   "seconds");
}

Study table3(bool quick) {
  Study study{
      "table3", "NPB class A of 16 processes, time on one node of that on two", false, {}, {}, {}};
  constexpr std::uint32_t kRanks = 16;
  const char* const of = quick ? "W" : "A";
  for (const Benchmark& one : kBenchmarks) {
    if (quick && !is_quick(one)) continue;
    const std::uint32_t steps = quick ? one.some_steps / 2 : one.some_steps;
    const auto seconds = [&](std::uint32_t per_node) {
      return npb_seconds(one, of, kRanks, per_node, steps);
    };
    add_cell(study, one.title, "time ratio", "x", ratio_of("", seconds(kRanks), seconds(8)));
  }
  return study;
}

struct Nodes {
  std::uint32_t count;
  std::uint32_t ranks;         // a power of two
  std::uint32_t square_ranks;  // about as many
};
constexpr Nodes kNodes[] = {{1, 16, 16}, {2, 32, 36}, {4, 64, 64}, {8, 128, 144}};

// Figure 8: what its two statements are about.
struct Scaling {
  std::vector<Order> ideal;
  std::vector<Order> alike;
};

// How many times as fast on more nodes as on one, of as many times as there are processors. What is
// before the steps (FT's first transform, MG's first norms) is little of a whole run's time, and
// much of a few steps': only what more steps add is looked at.
void add_scaling(const Benchmark& one, const char* of, bool quick, Study* study, Scaling* scaling) {
  const auto seconds = [&](const Nodes& on, std::uint32_t steps) {
    const std::uint32_t ranks = one.square ? on.square_ranks : on.ranks;
    return npb_seconds(one, of, ranks, ranks / on.count, steps);
  };
  const std::uint32_t few = one.some_steps / 2;
  const auto steps_seconds = [&](const Nodes& on) {
    return few == 0 ? seconds(on, 0) : difference_of("", seconds(on, 2 * few), seconds(on, few));
  };
  const std::string title = fmt::format("{}, class {}", one.title, of);
  for (const Nodes& on : kNodes) {
    if (on.count == 1 || (quick && on.count != 2)) continue;
    const std::uint32_t ranks = one.square ? on.square_ranks : on.ranks;
    const double times = static_cast<double>(ranks) / kNodes[0].ranks;
    const Quantity gain = ratio_of("", steps_seconds(kNodes[0]), steps_seconds(on));
    const Quantity share =
        ratio_of(fmt::format("{} on {} nodes", title, on.count), gain, constant("", times));
    add_cell(*study, title, fmt::format("{} nodes, of ideal", on.count), "x", share);
    scaling->ideal.push_back({constant("0.8 of ideal", 0.8), share, 1});
  }
  if (few == 0 || quick) return;
  const Quantity more = difference_of("", seconds(kNodes[1], 3 * few), seconds(kNodes[1], 2 * few));
  const Quantity same =
      ratio_of(fmt::format("{}: a step of many, of few", title), more, steps_seconds(kNodes[1]));
  scaling->alike.push_back({same, constant("1.01", 1.01), 1});
  scaling->alike.push_back({constant("0.99", 0.99), same, 1});
}

Study figure8(bool quick) {
  Study study{"figure8", "NPB classes B and C on more nodes of 16 to 18 processors", true, {}, {},
              {}};
  Scaling scaling;
  const std::vector<const char*> classes =
      quick ? std::vector<const char*>{"A"} : std::vector<const char*>{"B", "C"};
  for (const char* const of : classes) {
    for (const Benchmark& one : kBenchmarks) {
      if (of[0] == 'C' && one.needs_memory) continue;
      if (!quick || is_quick(one)) add_scaling(one, of, quick, &study, &scaling);
    }
  }
  study.statements = {{"Speedups are close to the ideal or exceed it in all cases (0.8 of it)",
                       section("4.3"), scaling.ideal}};
  if (!quick) {
    study.statements.push_back(
        {"Runs of few steps stand for long ones: more steps take as much each within 1 %", "ours",
         scaling.alike});
  }
  return study;
}

}  // namespace

std::vector<Study> firelink_mpi_studies(bool quick) {
  return {table1(),       table2(quick),  table3(quick), figure5(quick),
          figure6(quick), figure7(quick), figure8(quick)};
}

}  // namespace fairlead::tools
