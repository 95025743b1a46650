// What goes on while its rank computes: fetch-and-add, put, a put to all, a query of all and a
// forwarded broadcast towards rank 1, which computes in stretches of 20 ms on processor 1, as rank
// 0 sees them; all else shares processor 0. By NI engines (nirx) and by the hosts (hrx), side by
// side over UDP. Prints a table and JSON lines; --ops N operations of each kind (default 500),
// --faults PLAN on the wire.
#include <fmt/format.h>

#include <algorithm>
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

constexpr Rank kRanks = 4;  // rank 3 gets the root's broadcast by way of node 1
constexpr Rank kComputes = 1;
constexpr Rank kLeaf = 3;
constexpr Chan kBroadcast = 1;
constexpr Chan kBack = 2;
constexpr Chan kEnd = 3;
constexpr Ps kStretch = milliseconds(20);

struct Counts {
  std::uint64_t back = 0;
  bool ended = false;
  Port* port = nullptr;
};

Keep on_broadcast(void* self, Packet*, const Arrival& arrival) {
  Port& port = *static_cast<Counts*>(self)->port;
  if (port.self() == kLeaf) {
    (void)port.send_small({0}, kBack, Lane::reply, {arrival.words[0], 0, 0, 0}, {}, kNoFlags);
  }
  return Keep::no;
}
Keep on_back(void* self, Packet*, const Arrival&) {
  ++static_cast<Counts*>(self)->back;
  return Keep::no;
}
Keep on_end(void* self, Packet*, const Arrival&) {
  static_cast<Counts*>(self)->ended = true;
  return Keep::no;
}

void serve(Port& port, Counts& counts) {
  while (!counts.ended) {
    if (port.self() == kComputes) {
      for (const Ps end = port.now() + kStretch; port.now() < end;) cpu_pause();
      (void)port.poll();
    } else {
      (void)port.wait({.any_packet = true, .deadline = port.now() + milliseconds(100)});
    }
  }
}

void print(const std::string& lci, const char* what, std::vector<double> us) {
  std::sort(us.begin(), us.end());
  const double p50 = us[us.size() / 2];
  const double p99 = us[us.size() * 99 / 100];
  fmt::print("{:6} {:24} {:10.1f} {:10.1f}\n", lci, what, p50, p99);
  fmt::print(
      "{{\"figure\":\"{} while its rank computes\",\"lci\":\"{}\",\"ops\":{},"
      "\"p50_us\":{:.2f},\"p99_us\":{:.2f}}}\n",
      what, lci, us.size(), p50, p99);
  std::fflush(stdout);
}

template <class Operation>
std::vector<double> measure(Port& port, int ops, Operation&& operation) {
  std::vector<double> us;
  for (int i = 0; i < ops; ++i) {
    const Ps begin = port.now();
    operation(static_cast<std::uint64_t>(i));
    us.push_back(static_cast<double>((port.now() - begin).count) / 1e6);
    // At another moment of the stretch, and not in a row.
    const Ps next = port.now() + microseconds(500 + i * 137 % 700);
    while (port.now() < next) (void)port.poll();
  }
  return us;
}

void ask(Port& port, Counts& counts, const std::string& lci, int ops) {
  Counter done;
  std::uint64_t old = 0;
  print(lci, "fetch-and-add", measure(port, ops, [&](std::uint64_t i) {
          (void)port.atomic({kComputes, 8, 0}, Atomic::add, 1, 0, &old, &done);
          (void)port.wait({.counter = &done, .at = i + 1});
        }));
  Counter fenced;
  std::byte data[64] = {};
  print(lci, "put 64 B + fence", measure(port, ops, [&](std::uint64_t i) {
          const PutPiece piece{0, data, sizeof data};
          (void)port.put({kComputes}, 7, {&piece, 1}, nullptr, kNoCounter, kNoFlags);
          (void)port.fence({kComputes}, &fenced);
          (void)port.wait({.counter = &fenced, .at = i + 1});
        }));
  Counter all_fenced;
  print(lci, "put 64 B to all + fence", measure(port, ops, [&](std::uint64_t i) {
          const PutPiece piece{0, data, sizeof data};
          (void)port.put({0, true}, 7, {&piece, 1}, nullptr, kNoCounter, kNoFlags);
          (void)port.fence({0, true}, &all_fenced);
          (void)port.wait({.counter = &all_fenced, .at = i + 1});
        }));
  Counter answered;
  bool all = false;
  print(lci, "query of all, storing", measure(port, ops, [&](std::uint64_t i) {
          Query query;
          query.segment = 7;
          query.stores = true;
          query.store_segment = 7;
          query.store_offset = 64;
          query.store_value = i;
          (void)port.query(query, &all, &answered);
          (void)port.wait({.counter = &answered, .at = i + 1});
        }));
  print(lci, "forwarded broadcast", measure(port, ops, [&](std::uint64_t i) {
          (void)port.send_small({0, true}, kBroadcast, Lane::request, Words{}, {}, kNoFlags);
          while (counts.back <= i) (void)port.wait({.any_packet = true});
        }));
}

int body(run::Context& context, const std::string& lci, int ops) {
  Port& port = context.port();
  Counts counts;
  counts.port = &port;
  port.bind(kBroadcast, {on_broadcast, &counts}, {});
  port.bind(kBack, {on_back, &counts}, {});
  port.bind(kEnd, {on_end, &counts}, {});
  if (port.allocate(8, 64, Place::ni) == nullptr) return 1;
  if (port.allocate(7, 4096, Place::host) == nullptr) return 1;
  const Ps begin = port.now() + milliseconds(100);
  while (port.now() < begin) (void)port.poll();
  if (port.self() != 0) {
    serve(port, counts);
    return 0;
  }
  ask(port, counts, lci, ops);
  for (Rank rank = 1; rank < kRanks; ++rank) {
    (void)port.send_small({rank}, kEnd, Lane::request, Words{}, {}, kNoFlags);
  }
  const Ps end = port.now() + milliseconds(100);
  while (port.now() < end) (void)port.poll();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int ops = 500;
  std::string faults;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--ops") == 0) ops = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--faults") == 0) faults = argv[i + 1];
  }
  fmt::print("{:6} {:24} {:>10} {:>10}\n", "lci", "operation", "p50 us", "p99 us");
  for (const std::string lci : {"nirx", "hrx"}) {
    run::WorldOptions options;
    options.ranks = kRanks;
    options.on = "udp";
    options.lci = lci;
    options.faults = faults;
    options.bind = "0,1,0,0,0,0,0,0";  // the ranks, then the engines
    std::fflush(stdout);
    const auto report =
        run::run_world(options, [&](run::Context& context) { return body(context, lci, ops); });
    const std::string wrong = report.ok() ? report.value().failure : report.error().text;
    if (wrong.empty()) continue;
    fmt::print(stderr, "nirx: {}\n", wrong);
    return 1;
  }
  return 0;
}
