// One-way latency by message size: half of a round trip, both sides in Port::wait.
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/pair.h"

namespace fairlead::tools {

namespace {

void round_trips(Pair& pair, Rank self, std::uint64_t bytes, std::uint32_t count) {
  const std::uint64_t parts = pair.parts_of(bytes);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (self == 0) pair.send(bytes);
    pair.await(parts);
    if (self != 0) pair.send(bytes);
    pair.await_sent();
  }
}

}  // namespace

int latency_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  const Rank self = port.self();
  const Rank other = other_of(self, options.partner);
  if (other == self) return 0;
  Pair pair(port, other, options);
  for (const std::uint64_t bytes : options.sizes) {
    pair.use_buffer(bytes);
    round_trips(pair, self, bytes, options.repetitions / 10 + 1);
    Parts parts(options);
    const Ps begin = port.now();
    Ps last = begin;
    for (std::uint32_t part = 0; part < parts.count(); ++part) {
      round_trips(pair, self, bytes, parts.size(part));
      const Ps now = port.now();
      parts.add(to_us(now - last) / parts.size(part) / 2);
      last = now;
    }
    const double mean = to_us(last - begin) / options.repetitions;
    if (self == 0) rows.add({static_cast<double>(bytes), mean / 2}, parts);
    // The last message leaves with this at the latest.
    pair.signal();
    pair.await_signal();
  }
  return 0;
}

}  // namespace fairlead::tools
