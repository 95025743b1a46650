// Host time of a send by message size (LCI paper, Figure 7 left): one message at a time, so that
// the call never finds the path busy; a message of many packets pays for the room it waits for.
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/pair.h"

namespace fairlead::tools {

namespace {

// Longer than what a message leaves behind on the sender's side.
constexpr Ps kQuiet = microseconds(100);

double send_us(Pair& pair, Rank self, std::uint64_t bytes, std::uint32_t count) {
  lci::Port& port = pair.port();
  Ps total{};
  for (std::uint32_t i = 0; i < count; ++i) {
    if (self != 0) {
      pair.await(pair.parts_of(bytes));
      pair.signal();
      continue;
    }
    stay_busy(port, kQuiet);
    const Ps begin = port.now();
    pair.send(bytes);
    total += port.now() - begin;
    pair.await_sent();
    pair.await_signal();
  }
  return to_us(total) / count;
}

}  // namespace

int overhead_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  const Rank self = port.self();
  const Rank other = other_of(self, options.partner);
  if (other == self) return 0;
  Pair pair(port, other, options);
  const double clock_us = to_us(clock_cost(port));
  for (const std::uint64_t bytes : options.sizes) {
    pair.use_buffer(bytes);
    send_us(pair, self, bytes, options.repetitions / 10 + 1);
    const double mean = send_us(pair, self, bytes, options.repetitions) - clock_us;
    if (self == 0) rows.add({static_cast<double>(bytes), mean});
  }
  return 0;
}

}  // namespace fairlead::tools
