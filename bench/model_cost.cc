// What modelling a message costs: all-to-all of 16-byte messages with full detail, fiber bodies.
// Prints one JSON object a run: {"bench":"model-cost","on":..,"lci":..,"nodes":..,"messages":..,
// "wall_us_per_message":..,"events_per_message":..,"events_per_s":..,"virtual_us":..,"digest":..}.
// Usage: model_cost [nodes [rounds [runs]]]
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fairlead/base/check.h"
#include "fairlead/run/launch/world.h"

namespace fairlead {
namespace {

constexpr lci::Chan kChan = 1;
constexpr std::size_t kBytes = 16;

int all_to_all(run::Context& context, std::uint64_t rounds) {
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
  const Rank size = port.size();
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (Rank distance = 1; distance < size; ++distance) {
      const lci::Dest to{(port.self() + distance) % size};
      const Post answer = port.send_small(to, kChan, lci::Lane::request, words, data, 0);
      FAIRLEAD_CHECK(answer == Post::done, "answer {}", static_cast<int>(answer));
      (void)port.poll();
    }
    while (received < (size - 1) * round) {
      (void)port.wait({.any_packet = true, .what = "a message of the round"});
    }
  }
  return 0;
}

int measure(const char* on, const char* lci, Rank nodes, std::uint64_t rounds) {
  run::WorldOptions options;
  options.on = on;
  options.lci = lci;
  options.ranks = nodes;
  const auto begin = std::chrono::steady_clock::now();
  const Result<run::RunReport> report = run::run_world(
      options, [rounds](run::Context& context) { return all_to_all(context, rounds); });
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!report.ok() || report.value().exit_code != 0) {
    fmt::print(stderr, "model_cost: {}\n",
               report.ok() ? report.value().failure : report.error().text);
    return 1;
  }
  const run::RunReport& r = report.value();
  const double messages =
      static_cast<double>(rounds) * static_cast<double>(nodes) * static_cast<double>(nodes - 1);
  const auto events = static_cast<double>(r.events);
  fmt::print(
      "{{\"bench\":\"model-cost\",\"on\":\"{}\",\"lci\":\"{}\",\"nodes\":{},\"messages\":{:.0f},"
      "\"wall_us_per_message\":{:.3f},\"events_per_message\":{:.1f},\"events_per_s\":{:.0f},"
      "\"virtual_us\":{:.3f},\"digest\":\"{:016x}\"}}\n",
      on, lci, nodes, messages, wall_s / messages * 1e6, events / messages, events / wall_s,
      to_us(r.virtual_time), r.digest);
  return 0;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  const auto number = [&](int index, long fallback) {
    return argc > index ? std::atol(argv[index]) : fallback;
  };
  const auto nodes = static_cast<fairlead::Rank>(number(1, 64));
  const auto rounds = static_cast<std::uint64_t>(number(2, 40));
  for (long run = number(3, 5); run > 0; --run) {
    for (const char* on : {"myrinet-ppro", "myrinet-p3"}) {
      for (const char* lci : {"sdma", "pio"}) {
        if (fairlead::measure(on, lci, nodes, rounds) != 0) return 1;
      }
    }
  }
  return 0;
}
