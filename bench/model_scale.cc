// What modelling a large machine costs: wall time and memory of one run, full detail, fiber bodies.
// Prints one JSON object: {"bench":"model-scale","pattern":..,"on":..,"lci":..,"topology":..,
// "nodes":..,"messages":..,"wall_s":..,"begin_s":..,"cpu_s":..,"us_per_message":..,
// "cpu_us_per_message":..,"peak_rss_MiB":..,"KiB_per_rank":..,"events_per_message":..,
// "virtual_us":..,"digest":..}.
//
// Patterns: "barrier": MPI_Init, MPI_Barrier (n log2 n messages), MPI_Finalize (as many below 256
// ranks, 2 n - 2 from there on); "some": every rank sends 16 bytes to each of 16 pseudo-random
// others, the same number from each rank, and waits for its own, `rounds` times. begin_s is the
// part of wall_s until the first rank runs: machine, ports and stacks are made. cpu_s is the
// processor time of it all, which other programs on the machine disturb less; a message's cost is
// that from begin_s on.
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/prng.h"
#include "fairlead/run/launch/world.h"
#include "fairlead/systems/mpi/mpi.h"

namespace fairlead {
namespace {

constexpr lci::Chan kChan = 1;
constexpr std::size_t kBytes = 16;
constexpr std::uint32_t kPeers = 16;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

int barrier() {
  MPI_Init(nullptr, nullptr);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

// Distances are the same for every rank, so that each receives as many as it sends.
std::vector<Rank> distances(Rank nodes, std::uint64_t round) {
  Prng draw(round);
  std::vector<Rank> made;
  for (std::uint32_t i = 0; i < kPeers; ++i) {
    made.push_back(static_cast<Rank>(1 + draw.below(nodes - 1)));
  }
  return made;
}

int send_to_some(run::Context& context, std::uint64_t rounds) {
  lci::Port& port = context.port();
  std::uint64_t received = 0;
  port.bind(kChan,
            {[](void* count, lci::Packet*, const lci::Arrival& arrival) {
               *static_cast<std::uint64_t*>(count) += arrival.data.size() == kBytes ? 1 : 0;
               return Keep::no;
             },
             &received},
            {});
  const lci::Words words = {1, 2, 3, 4};
  const std::byte data[kBytes] = {};
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (const Rank distance : distances(port.size(), round)) {
      const lci::Dest to{(port.self() + distance) % port.size()};
      const Post answer = port.send_small(to, kChan, lci::Lane::request, words, data, 0);
      FAIRLEAD_CHECK(answer == Post::done, "answer {}", static_cast<int>(answer));
      (void)port.poll();
    }
    while (received < kPeers * round) {
      (void)port.wait({.any_packet = true, .what = "a message of the round"});
    }
  }
  return 0;
}

struct Arguments {
  run::WorldOptions world;
  std::string pattern = "barrier";
  std::uint64_t rounds = 4;
};

double peak_rss_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

double processor_s() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int measure(const Arguments& arguments) {
  const double before = peak_rss_bytes();
  double begin_s = -1;
  double begin_cpu_s = 0;
  const Clock::time_point begin = Clock::now();
  const Result<run::RunReport> report = run::run_world(arguments.world, [&](run::Context& context) {
    if (begin_s < 0) {
      begin_s = seconds_since(begin);
      begin_cpu_s = processor_s();
    }
    return arguments.pattern == "barrier" ? barrier() : send_to_some(context, arguments.rounds);
  });
  const double wall_s = seconds_since(begin);
  const double cpu_s = processor_s();
  if (!report.ok() || report.value().exit_code != 0) {
    fmt::print(stderr, "model_scale: {}\n",
               report.ok() ? report.value().failure : report.error().text);
    return 1;
  }
  const run::RunReport& r = report.value();
  const run::WorldOptions& world = arguments.world;
  const auto messages = static_cast<double>(r.counters.packets_sent);
  const double rss = peak_rss_bytes();
  fmt::print(
      "{{\"bench\":\"model-scale\",\"pattern\":\"{}\",\"on\":\"{}\",\"lci\":\"{}\","
      "\"platform_changes\":\"{}\",\"nodes\":{},\"messages\":{:.0f},\"wall_s\":{:.3f},"
      "\"begin_s\":{:.3f},\"cpu_s\":{:.3f},\"us_per_message\":{:.3f},"
      "\"cpu_us_per_message\":{:.3f},\"peak_rss_MiB\":{:.1f},\"KiB_per_rank\":{:.2f},\"events_per_"
      "message\":{:.1f},\"virtual_us\":{:.3f},"
      "\"digest\":\"{:016x}\"}}\n",
      arguments.pattern, world.on, world.lci, r.platform_changes, world.ranks, messages, wall_s,
      begin_s, cpu_s, (wall_s - begin_s) / messages * 1e6, (cpu_s - begin_cpu_s) / messages * 1e6,
      rss / (1 << 20), (rss - before) / 1024 / world.ranks,
      static_cast<double>(r.events) / messages, to_us(r.virtual_time), r.digest);
  return 0;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  fairlead::Arguments arguments;
  fairlead::run::WorldOptions& world = arguments.world;
  world.on = "myrinet-p3";
  world.lci = "nirx";
  CLI::App app("Wall time and memory of one modelled run");
  app.add_option("pattern", arguments.pattern)->check(CLI::IsMember({"barrier", "some"}));
  app.add_option("-n", world.ranks);
  app.add_option("--on", world.on);
  app.add_option("--lci", world.lci);
  app.add_option("--topology", world.topology);
  app.add_option("--set", world.set)->allow_extra_args(false);
  app.add_option("--stack-kib", world.fiber_stack_kib);
  app.add_option("--rounds", arguments.rounds);
  CLI11_PARSE(app, argc, argv);
  return fairlead::measure(arguments);
}
