// Requests to a rank that computes (Port::wake), as who asks sees them: rank 1 computes in
// stretches of 20 ms on processor 1 and polls once after each; rank 0 asks from processor 0. For
// each network and policy: the time from request to answer. Prints a table and JSON lines; --ops N
// requests of each kind (default 500), --on shm,udp,nirx.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/launch/world.h"

namespace {

using namespace fairlead;       // NOLINT: a program
using namespace fairlead::lci;  // NOLINT: the same

constexpr Chan kAsk = 1;
constexpr Chan kAnswer = 2;
constexpr Chan kEnd = 3;
constexpr Ps kStretch = milliseconds(20);

struct Seen {
  Port* port = nullptr;
  std::uint64_t answers = 0;
  std::atomic<bool> ended{false};
};

Keep on_ask(void* self, Packet*, const Arrival& arrival) {
  Port& port = *static_cast<Seen*>(self)->port;
  (void)port.send_small({arrival.source}, kAnswer, Lane::reply, Words{}, {}, kNoFlags);
  return Keep::no;
}
Keep on_answer(void* self, Packet*, const Arrival&) {
  ++static_cast<Seen*>(self)->answers;
  return Keep::no;
}
Keep on_end(void* self, Packet*, const Arrival&) {
  static_cast<Seen*>(self)->ended = true;
  return Keep::no;
}

void compute(Port& port, Seen& seen, Wake policy) {
  port.wake(policy, Ps{0});
  while (!seen.ended) {
    for (const Ps end = port.now() + kStretch; port.now() < end;) cpu_pause();
    (void)port.poll();
  }
  port.wake(Wake::poll_only, Ps{0});
}

void ask(Port& port, Seen& seen, const std::string& on, const char* policy, int ops) {
  std::vector<double> us;
  for (int i = 0; i < ops; ++i) {
    const Ps begin = port.now();
    (void)port.send_small({1}, kAsk, Lane::request, Words{}, {}, kNoFlags);
    while (seen.answers == us.size()) (void)port.wait({.any_packet = true});
    us.push_back(static_cast<double>((port.now() - begin).count) / 1e6);
    // At another moment of the stretch, and not in a row.
    const Ps next = port.now() + microseconds(3000 + i * 137 % 1900);
    while (port.now() < next) (void)port.wait({.deadline = next});
  }
  (void)port.send_small({1}, kEnd, Lane::request, Words{}, {}, kNoFlags);
  std::sort(us.begin(), us.end());
  const double p50 = us[us.size() / 2];
  const double p99 = us[us.size() * 99 / 100];
  fmt::print("{:6} {:10} {:10.1f} {:10.1f} {:10.1f}\n", on, policy, p50, p99, us.back());
  fmt::print(
      "{{\"figure\":\"request to a rank that computes\",\"on\":\"{}\",\"wake\":\"{}\",\"ops\":{},"
      "\"p50_us\":{:.2f},\"p99_us\":{:.2f}}}\n",
      on, policy, us.size(), p50, p99);
  std::fflush(stdout);
}

int body(run::Context& context, const std::string& on, Wake policy, const char* name, int ops) {
  Port& port = context.port();
  Seen seen;
  seen.port = &port;
  port.bind(kAsk, {on_ask, &seen}, {});
  port.bind(kAnswer, {on_answer, &seen}, {});
  port.bind(kEnd, {on_end, &seen}, {});
  const Ps begin = port.now() + milliseconds(100);
  while (port.now() < begin) (void)port.poll();
  if (port.self() == 1) {
    compute(port, seen, policy);
  } else {
    ask(port, seen, on, name, ops);
  }
  const Ps end = port.now() + milliseconds(100);
  while (port.now() < end) (void)port.poll();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int ops = 500;
  std::string networks = "shm,udp,nirx";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--ops") == 0) ops = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--on") == 0) networks = argv[i + 1];
  }
  struct Policy {
    Wake wake;
    const char* name;
    int share;  // of the requests
  };
  constexpr Policy kPolicies[] = {{Wake::poll_only, "poll_only", 10},
                                  {Wake::watchdog, "watchdog", 1},
                                  {Wake::immediate, "immediate", 1}};
  fmt::print("{:6} {:10} {:>10} {:>10} {:>10}\n", "on", "wake", "p50 us", "p99 us", "most us");
  for (const std::string on : {"shm", "udp", "nirx"}) {
    if (networks.find(on) == std::string::npos) continue;
    for (const Policy& policy : kPolicies) {
      run::WorldOptions options;
      options.ranks = 2;
      options.on = on == "shm" ? "shm" : "udp";
      if (on == "nirx") options.lci = "nirx";
      options.bind = on == "nirx" ? "0,1,0,0" : "0,1";  // the ranks, then the engines
      std::fflush(stdout);
      const auto report = run::run_world(options, [&](run::Context& context) {
        return body(context, on, policy.wake, policy.name, std::max(ops / policy.share, 1));
      });
      const std::string wrong = report.ok() ? report.value().failure : report.error().text;
      if (wrong.empty()) continue;
      fmt::print(stderr, "wake: {}\n", wrong);
      return 1;
    }
  }
  return 0;
}
