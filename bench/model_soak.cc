// Very many packets over wires that lose, corrupt and reorder: does everything come once, whole and
// in order where the NIs (nirx) or the hosts (hrx) send again? Prints one JSON object an
// implementation: {"bench":"model-soak","on":..,"lci":..,"ranks":..,"faults":..,"seed":..,
// "packets":..,"received":..,"lost":..,"duplicated":..,"out_of_order":..,"damaged":..,
// "retransmissions":..,"events":..,"virtual_s":..,"wall_s":..,"failure":..}. Exit code 1: something
// of that is wrong.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fairlead/run/launch/world.h"

namespace fairlead {
namespace {

constexpr lci::Chan kChan = 1;
using Clock = std::chrono::steady_clock;

// What one rank found in the packets for it, which carry their number per source.
struct Check {
  std::vector<std::uint64_t> expected;  // next number, per source
  Counter received;
  std::uint64_t duplicated = 0;    // numbers that were taken before
  std::uint64_t out_of_order = 0;  // numbers that came too early
  std::uint64_t damaged = 0;

  static Keep take(void* self, lci::Packet*, const lci::Arrival& arrival) {
    auto& check = *static_cast<Check*>(self);
    ++check.received.ok;
    std::uint64_t number = 0;
    if (arrival.data.size() != sizeof number) {
      ++check.damaged;
      return Keep::no;
    }
    std::memcpy(&number, arrival.data.data(), sizeof number);
    std::uint64_t& next = check.expected[arrival.source];
    if (static_cast<std::uint32_t>(number) != arrival.words[0]) {
      ++check.damaged;
    } else if (number < next) {
      ++check.duplicated;
    } else {
      check.out_of_order += number > next;
      next = number + 1;
    }
    return Keep::no;
  }
};

struct Totals {
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t damaged = 0;

  void add(const Check& check, Rank self, std::uint64_t each) {
    received += check.received.ok;
    duplicated += check.duplicated;
    out_of_order += check.out_of_order;
    damaged += check.damaged;
    for (Rank source = 0; source < check.expected.size(); ++source) {
      if (source != self) lost += each - check.expected[source];
    }
  }
};

// Every rank sends `each` packets to every other.
int send_to_all(run::Context& context, std::uint64_t each, Totals& totals) {
  lci::Port& port = context.port();
  Check check;
  check.expected.resize(port.size());
  port.bind(kChan, {Check::take, &check}, {});
  for (std::uint64_t number = 0; number < each; ++number) {
    const lci::Words words = {static_cast<std::uint32_t>(number), 0, 0, 0};
    for (Rank step = 1; step < port.size(); ++step) {
      const Post sent =
          port.send_small({(port.self() + step) % port.size()}, kChan, lci::Lane::request, words,
                          std::as_bytes(std::span(&number, 1)), 0);
      if (sent != Post::done && sent != Post::pending) return 2;
    }
  }
  const std::uint64_t all = each * (port.size() - 1);
  (void)port.wait({.counter = &check.received, .at = all, .what = "everybody's packets"});
  totals.add(check, port.self(), each);
  return 0;
}

struct Options {
  run::WorldOptions world;
  std::vector<std::string> lci = {"nirx", "hrx"};
  std::uint64_t packets = 1'000'000;
};

// True: all is well.
bool soak(const Options& options, const std::string& lci) {
  run::WorldOptions world = options.world;
  world.lci = lci;
  const std::uint64_t pairs = std::uint64_t{world.ranks} * (world.ranks - 1);
  const std::uint64_t each = (options.packets + pairs - 1) / pairs;
  Totals totals;
  const Clock::time_point begin = Clock::now();
  const Result<run::RunReport> ran = run::run_world(
      world, [&](run::Context& context) { return send_to_all(context, each, totals); });
  const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
  if (!ran.ok()) {
    fmt::print(stderr, "model_soak: {}\n", ran.error().text);
    return false;
  }
  const run::RunReport& report = ran.value();
  std::string failure;
  for (const char c : report.failure) failure += c == '"' || c == '\\' || c < ' ' ? ' ' : c;
  fmt::print(
      "{{\"bench\":\"model-soak\",\"on\":\"{}\",\"lci\":\"{}\",\"ranks\":{},\"faults\":\"{}\","
      "\"seed\":{},\"packets\":{},\"received\":{},\"lost\":{},\"duplicated\":{},"
      "\"out_of_order\":{},\"damaged\":{},\"retransmissions\":{},\"events\":{},"
      "\"virtual_s\":{:.6f},\"wall_s\":{:.1f},\"failure\":\"{}\"}}\n",
      world.on, lci, world.ranks, world.faults, world.seed, each * pairs, totals.received,
      totals.lost, totals.duplicated, totals.out_of_order, totals.damaged,
      report.counters.retransmissions, report.events, to_us(report.virtual_time) / 1e6, wall,
      failure);
  std::fflush(stdout);
  return report.failure.empty() && totals.received == each * pairs && totals.lost == 0 &&
         totals.duplicated == 0 && totals.out_of_order == 0 && totals.damaged == 0;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  fairlead::Options options;
  options.world.on = "myrinet-p3";
  options.world.ranks = 4;
  options.world.faults = "drop=0.01,corrupt=0.001,reorder=0.01";
  options.world.seed = 1;
  CLI::App app("Packets over bad wires: is everything received once and in order?");
  app.add_option("--packets", options.packets, "in all")->capture_default_str();
  app.add_option("--lci", options.lci, "implementations")->delimiter(',')->capture_default_str();
  app.add_option("--on", options.world.on, "platform")->capture_default_str();
  app.add_option("-n,--ranks", options.world.ranks, "ranks, 2 or more")
      ->check(CLI::Range(2, 4096))
      ->capture_default_str();
  app.add_option("--faults", options.world.faults, "fault plan")->capture_default_str();
  app.add_option("--seed", options.world.seed, "of the fault plan")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  bool well = true;
  for (const std::string& lci : options.lci) well = fairlead::soak(options, lci) && well;
  return well ? 0 : 1;
}
