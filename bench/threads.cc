// What threads of a rank (run/rank/threads.h) cost: a switch, a spawn with its join, a signal that
// wakes a thread, and an 8-byte round trip between two ranks by plain waits of the Port and by
// threads. Prints JSON lines; --on WORLD (default shm), two ranks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/run/launch/world.h"
#include "fairlead/run/names.h"
#include "fairlead/run/rank/threads.h"

namespace {

using namespace fairlead;  // NOLINT: a program

constexpr lci::Chan kChan = run::kProgramNames.channels[0];
// Short, so that most of them run undisturbed.
constexpr int kChunks = 201;

// The median chunk's time per iteration, in the world's own time.
template <class Step>
double median_ns(lci::Port& port, int each, Step&& step) {
  std::array<double, kChunks> chunks;
  for (double& chunk : chunks) {
    const Ps from = port.now();
    for (int i = 0; i < each; ++i) step();
    chunk = to_seconds(port.now() - from) * 1e9 / each;
  }
  std::sort(chunks.begin(), chunks.end());
  return chunks[kChunks / 2];
}

void print(const std::string& on, const char* figure, double ns) {
  fmt::print(R"({{"bench": "threads", "on": "{}", "figure": "{}", "ns": {:.1f}}})"
             "\n",
             on, figure, ns);
}

struct Bench {
  lci::Port& port;
  run::Threads& threads;
  run::Condition ping;
  run::Condition pong;
  bool over = false;
  Counter came;
  std::uint64_t sent = 0;

  Bench(lci::Port& its, run::Threads& among) : port(its), threads(among), ping(among), pong(among) {
    port.bind(kChan,
              {[](void* self, lci::Packet*, const lci::Arrival&) {
                 ++static_cast<Bench*>(self)->came.ok;
                 return Keep::no;
               },
               this},
              {});
  }

  // To a fiber and back: two of them.
  double switch_ns() {
    run::Thread* const other = spawn([](Bench& bench) {
      while (!bench.over) {
        (void)bench.ping.wait(nullptr, "ping");
        bench.pong.signal();
      }
    });
    threads.yield();
    const double both = median_ns(port, 1'000, [this] {
      ping.signal();
      (void)pong.wait(nullptr, "pong");
    });
    over = true;
    ping.signal();
    (void)threads.join(other);
    return both / 2;
  }
  double spawn_ns() {
    return median_ns(port, 500, [this] { (void)threads.join(spawn([](Bench&) {})); });
  }
  template <class Wait>
  double round_trip_ns(int each, Wait&& wait) {
    const Rank other = 1 - port.self();
    const auto step = [&] {
      const bool first = port.self() == 0;
      if (first) (void)port.send_small({other}, kChan, lci::Lane::request, {}, {}, 0);
      wait(++sent);
      if (!first) (void)port.send_small({other}, kChan, lci::Lane::request, {}, {}, 0);
    };
    return median_ns(port, each, step);
  }
  template <class Run>
  run::Thread* spawn(Run) {
    return threads
        .spawn(
            "bench", [](void* self) { Run{}(*static_cast<Bench*>(self)); }, this)
        .value();
  }
};

int run_rank(run::Context& rank, const std::string& on) {
  lci::Port& port = rank.port();
  const auto threads = std::move(run::Threads::create(port, {}).value());
  Bench bench(port, *threads);
  constexpr int kTrips = 500;
  const auto until = [&bench](std::uint64_t at) {
    return lci::Until{.counter = &bench.came, .at = at, .what = "the other rank"};
  };
  const auto by_port = [&](std::uint64_t at) { (void)port.wait(until(at)); };
  const auto by_threads = [&](std::uint64_t at) { (void)threads->wait(until(at)); };
  (void)bench.round_trip_ns(500, by_port);
  const double plain = bench.round_trip_ns(kTrips, by_port);
  const double alone = bench.round_trip_ns(kTrips, by_threads);
  run::Condition never(*threads);
  const auto sleep = [](void* condition) {
    (void)static_cast<run::Condition*>(condition)->wait(nullptr, "nothing");
  };
  for (int i = 0; i < 4; ++i) (void)threads->spawn("sleeper", sleep, &never).value();
  threads->yield();
  const double beside = bench.round_trip_ns(kTrips, by_threads);
  never.broadcast();
  while (threads->live() > 0) threads->yield();
  if (port.self() == 0) {
    print(on, "round trip, Port::wait", plain);
    print(on, "round trip, Threads::wait, no other thread", alone);
    print(on, "round trip, Threads::wait beside four that sleep", beside);
    print(on, "signal, switch", bench.switch_ns());
    print(on, "spawn and join", bench.spawn_ns());
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::string on = "shm";
  if (count == 3 && std::string_view(arguments[1]) == "--on") {
    on = arguments[2];
  } else if (count != 1) {
    fmt::print(stderr, "usage: threads [--on WORLD]\n");
    return 2;
  }
  run::WorldOptions options;
  options.ranks = 2;
  options.on = on;
  const Result<run::RunReport> report =
      run::run_world(options, [&on](run::Context& rank) { return run_rank(rank, on); });
  if (!report.ok() || report.value().exit_code != 0) {
    fmt::print(stderr, "{}\n", report.ok() ? report.value().failure : report.error().text);
    return 1;
  }
  return 0;
}
