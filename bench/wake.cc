// Requests to a rank that computes (Port::wake), as who asks sees them: rank 1 computes in
// stretches of 20 ms on processor 1 and polls once after each; rank 0 asks from processor 0, by the
// Port itself, by a read miss of CRL and by an operation of Orca. For each system, network and
// policy: the time from request to answer. Prints a table and JSON lines; --ops N requests of each
// kind (default 500), --on shm,udp,nirx, --systems port,crl,orca.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/port.h"
#include "fairlead/run/launch/world.h"
#include "fairlead/run/names.h"
#include "fairlead/systems/crl/crl.h"
#include "fairlead/systems/orca/orca.h"
#include "fairlead/systems/panda/panda.h"

namespace {

using namespace fairlead;       // NOLINT: a program
using namespace fairlead::lci;  // NOLINT: the same

constexpr Chan kAsk = run::kProgramNames.channels[0];
constexpr Chan kAnswer = run::kProgramNames.channels[1];
constexpr Chan kEnd = run::kProgramNames.channels[2];
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

// What rank 1 does until it is told to end.
void compute(Port& port, Seen& seen, Wake policy) {
  port.wake(policy, Ps{0});
  while (!seen.ended) {
    for (const Ps end = port.now() + kStretch; port.now() < end;) cpu_pause();
    (void)port.poll();
  }
  port.wake(Wake::poll_only, Ps{0});
}

// One series: of which system the requests are, over which network, by which policy, how many.
struct Series {
  const char* system;
  std::string on;
  Wake wake;
  const char* policy;
  int ops;
};

// Rank 0: `request` returns once its answer is there, `prepare` goes before it untimed, `rest`
// waits until a time.
template <class Request, class Prepare, class Rest>
void ask(Port& port, const Series& series, Request request, Prepare prepare, Rest rest) {
  std::vector<double> us;
  for (int i = 0; i < series.ops; ++i) {
    prepare();
    // At another moment of the stretch, and not in a row.
    rest(port.now() + microseconds(3000 + i * 137 % 1900));
    const Ps begin = port.now();
    request();
    us.push_back(static_cast<double>((port.now() - begin).count) / 1e6);
  }
  (void)port.send_small({1}, kEnd, Lane::request, Words{}, {}, kNoFlags);
  std::sort(us.begin(), us.end());
  const double p50 = us[us.size() / 2];
  const double p99 = us[us.size() * 99 / 100];
  fmt::print("{:6} {:6} {:10} {:10.1f} {:10.1f} {:10.1f}\n", series.system, series.on,
             series.policy, p50, p99, us.back());
  fmt::print(
      "{{\"figure\":\"request to a rank that computes\",\"system\":\"{}\",\"on\":\"{}\","
      "\"wake\":\"{}\",\"ops\":{},\"p50_us\":{:.2f},\"p99_us\":{:.2f}}}\n",
      series.system, series.on, series.policy, us.size(), p50, p99);
  std::fflush(stdout);
}

void poll_until(Port& port, Ps end) {
  while (port.now() < end) (void)port.poll();
}
void wait_until(Port& port, Ps end) {
  while (port.now() < end) (void)port.wait({.deadline = end});
}
void nothing() {}

// --- The Port: a message, answered by the upcall.

void with_port(Port& port, Seen& seen, const Series& series) {
  if (port.self() == 1) {
    compute(port, seen, series.wake);
    return;
  }
  std::uint64_t asked = 0;
  const auto request = [&] {
    (void)port.send_small({1}, kAsk, Lane::request, Words{}, {}, kNoFlags);
    ++asked;
    while (seen.answers < asked) (void)port.wait({.any_packet = true});
  };
  ask(port, series, request, nothing, [&](Ps end) { wait_until(port, end); });
}

// --- CRL: a read miss on a region whose home computes.

void with_crl(Port& port, Seen& seen, const Series& series) {
  constexpr std::size_t kBytes = 88;  // a body of Barnes
  crl_init(nullptr);
  crl_rid_t id = 0;
  if (port.self() == 1) {
    id = rgn_create(kBytes);
    rgn_bcast_send(sizeof id, &id);
    compute(port, seen, series.wake);
  } else {
    rgn_bcast_recv(sizeof id, &id);
    void* const region = rgn_map(id);
    const auto request = [&] {
      rgn_start_read(region);
      rgn_end_read(region);
    };
    ask(
        port, series, request, [&] { rgn_flush(region); }, [&](Ps end) { wait_until(port, end); });
    rgn_unmap(region);
  }
  crl_finalize();
}

// --- Orca: an operation on a single copy whose owner computes.

struct Sum {
  std::uint32_t value = 0;
  auto fields() { return std::tie(value); }
  void add() { ++value; }
};
struct Place {  // at rank 0: where rank 1 says which object it made
  orca::Object<Sum> sum;
  bool there = false;
  auto fields() { return std::tie(sum, there); }
  void tell(orca::Object<Sum> made) {
    sum = made;
    there = true;
  }
  orca::Object<Sum> get() const { return sum; }
  bool told() const { return there; }
};

// The process on rank 1 is handed values alone.
struct Computing {
  Seen* seen = nullptr;
  Wake wake = Wake::poll_only;
};
Computing computing;

void owner(orca::Orca& me, orca::Object<Place> place) {
  me.invoke<&Place::tell>(place, me.create<Sum>(orca::Placement::single));
  compute(me.panda().port(), *computing.seen, computing.wake);
}

void with_orca(run::Context& context, Seen& seen, const Series& series) {
  computing = {&seen, series.wake};
  orca::Program program;
  program.type<Sum>("sum").operation<&Sum::add>("add");
  program.type<Place>("place").operation<&Place::tell>("tell").operation<&Place::get, &Place::told>(
      "get");
  program.process<&owner>("owner");
  const auto done = orca::run(context, program, {}, [&](orca::Orca& me) {
    const auto place = me.create<Place>(orca::Placement::single);
    me.fork<&owner>(1, place);
    const auto sum = me.invoke<&Place::get>(place);
    Port& port = me.panda().port();
    const auto rest = [&](Ps end) {
      Counter never;
      port.hold();
      (void)me.panda().threads().wait(
          {.counter = &never, .at = 1, .deadline = end, .what = "the next request"});
      port.allow();
    };
    ask(
        port, series, [&] { me.invoke<&Sum::add>(sum); }, nothing, rest);
  });
  if (!done.ok()) fmt::print(stderr, "wake: {}\n", done.error().text);
}

int body(run::Context& context, const Series& series) {
  Port& port = context.port();
  Seen seen;
  seen.port = &port;
  port.bind(kAsk, {on_ask, &seen}, {});
  port.bind(kAnswer, {on_answer, &seen}, {});
  port.bind(kEnd, {on_end, &seen}, {});
  poll_until(port, port.now() + milliseconds(100));
  const std::string_view system = series.system;
  if (system == "port") with_port(port, seen, series);
  if (system == "crl") with_crl(port, seen, series);
  if (system == "orca") with_orca(context, seen, series);
  poll_until(port, port.now() + milliseconds(100));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int ops = 500;
  std::string networks = "shm,udp,nirx";
  std::string systems = "port,crl,orca";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--ops") == 0) ops = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--on") == 0) networks = argv[i + 1];
    if (std::strcmp(argv[i], "--systems") == 0) systems = argv[i + 1];
  }
  struct Policy {
    Wake wake;
    const char* name;
    int share;  // of the requests
  };
  constexpr Policy kPolicies[] = {{Wake::poll_only, "poll_only", 10},
                                  {Wake::watchdog, "watchdog", 1},
                                  {Wake::immediate, "immediate", 1}};
  fmt::print("{:6} {:6} {:10} {:>10} {:>10} {:>10}\n", "system", "on", "wake", "p50 us", "p99 us",
             "most us");
  for (const char* system : {"port", "crl", "orca"}) {
    if (systems.find(system) == std::string::npos) continue;
    for (const std::string on : {"shm", "udp", "nirx"}) {
      if (networks.find(on) == std::string::npos) continue;
      for (const Policy& policy : kPolicies) {
        run::WorldOptions options;
        options.ranks = 2;
        options.on = on == "shm" ? "shm" : "udp";
        if (on == "nirx") options.lci = "nirx";
        options.bind = on == "nirx" ? "0,1,0,0" : "0,1";  // the ranks, then the engines
        std::fflush(stdout);
        const Series series{system, on, policy.wake, policy.name, std::max(ops / policy.share, 1)};
        const auto report =
            run::run_world(options, [&](run::Context& context) { return body(context, series); });
        const std::string wrong = report.ok() ? report.value().failure : report.error().text;
        if (wrong.empty()) continue;
        fmt::print(stderr, "wake: {}\n", wrong);
        return 1;
      }
    }
  }
  return 0;
}
