// What Orca's operations cost beside the Port's round trip without data (LCI paper, tables V and
// VI): rank 1 calls an operation without parameters on a single copy at rank 0, and writes an
// object with a replica on both ranks, whose writes rank 0 numbers. In rounds, each of which
// measures the Port before and Orca after it. Two ranks, either world; JSON lines.
//   fairlead run -n 2 orca_bench           fairlead run -n 2 --on myrinet-ppro --lci pio orca_bench
#include <cstdio>
#include <tuple>
#include <vector>

#include "bench/port_echo.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/orca/orca.h"

FAIRLEAD_FIBER_PROGRAM;

namespace fairlead {
namespace {

using orca::Object;
using orca::Orca;
using orca::Placement;

constexpr int kRounds = 9;
constexpr int kOperations = 400;

struct Count {
  std::uint32_t value = 0;
  auto fields() { return std::tie(value); }

  void add() { ++value; }
};

// At rank 0: the times of operations, in microseconds, as rank 1 found them.
struct Times {
  std::vector<double> calls;
  std::vector<double> writes;
  auto fields() { return std::tie(calls, writes); }

  void tell(double call, double write) {
    calls.push_back(call);
    writes.push_back(write);
  }
  std::vector<double> its_calls() const { return calls; }
  std::vector<double> its_writes() const { return writes; }
  bool all_told() const { return calls.size() == kRounds; }
};

double write_us(Orca& me, Object<Count> target) {
  const double begin = me.seconds();
  for (int i = 0; i < kOperations; ++i) me.invoke<&Count::add>(target);
  return (me.seconds() - begin) * 1e6 / kOperations;
}

void measure(Orca& me, Object<Count> single, Object<Count> replicated, Object<Times> times) {
  // What is made on first use is there afterwards.
  write_us(me, single);
  write_us(me, replicated);
  for (int round = 0; round < kRounds; ++round) {
    const double call = write_us(me, single);
    const double write = write_us(me, replicated);
    me.invoke<&Times::tell>(times, call, write);
  }
}

orca::Program program() {
  orca::Program all;
  all.type<Count>("count").operation<&Count::add>("add");
  all.type<Times>("times")
      .operation<&Times::tell>("tell")
      .operation<&Times::its_calls, &Times::all_told>("its calls")
      .operation<&Times::its_writes, &Times::all_told>("its writes");
  all.process<&measure>("measure");
  return all;
}

void add_port_us(lci::Port& port, bench::PortEcho& echo, std::vector<double>& times) {
  for (int round = 0; round < kRounds; ++round) {
    const Ps begin = port.now();
    for (int i = 0; i < kOperations; ++i) echo.exchange();
    times.push_back(static_cast<double>((port.now() - begin).count) * 1e-6 / kOperations);
  }
}

void print(const char* what, double us, double port_us) {
  std::printf("{\"bench\":\"orca\",\"what\":\"%s\",\"us\":%.3f,\"port_us\":%.3f,\"ratio\":%.2f}\n",
              what, us, port_us, us / port_us);
}

int measure_all(run::Context& context) {
  bench::PortEcho echo(context.port(), 0);
  std::vector<double> port;
  std::vector<double> calls;
  std::vector<double> writes;
  add_port_us(context.port(), echo, port);
  const Result<void> done = orca::run(context, program(), {}, [&](Orca& me) {
    const auto times = me.create<Times>(Placement::single);
    me.fork<&measure>(1, me.create<Count>(Placement::single),
                      me.create<Count>(Placement::replicated), times);
    calls = me.invoke<&Times::its_calls>(times);
    writes = me.invoke<&Times::its_writes>(times);
  });
  if (!done.ok()) {
    std::fprintf(stderr, "orca_bench: %s\n", done.error().text.c_str());
    return 1;
  }
  add_port_us(context.port(), echo, port);
  if (context.port().self() != 0) return 0;
  const double round_trip = bench::median(port);
  print("null operation", bench::median(calls), round_trip);
  print("write", bench::median(writes), round_trip);
  return 0;
}

}  // namespace
}  // namespace fairlead

int main() {
  auto joined = fairlead::run::attach();
  if (!joined.ok() || joined.value()->port().size() != 2) {
    std::fprintf(stderr, "orca_bench: run it on 2 ranks: fairlead run -n 2 orca_bench\n");
    return 2;
  }
  return fairlead::measure_all(*joined.value());
}
