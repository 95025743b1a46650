// Messages per second from rank 0 to its partner: windows of messages, an answer to each window.
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/pair.h"

namespace fairlead::tools {

namespace {

void windows(Pair& pair, Rank self, std::uint64_t bytes, const BenchOptions& options,
             std::uint32_t count) {
  const std::uint64_t parts = pair.parts_of(bytes) * options.window;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (self == 0) {
      for (std::uint32_t w = 0; w < options.window; ++w) pair.send(bytes);
      pair.await_sent();
      pair.await_signal();
    } else {
      pair.await(parts);
      pair.signal();
    }
  }
}

}  // namespace

int rate_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  const Rank self = port.self();
  const Rank other = other_of(self, options.partner);
  if (other == self) return 0;
  Pair pair(port, other, options);
  for (const std::uint64_t bytes : options.sizes) {
    pair.use_buffer(bytes);
    windows(pair, self, bytes, options, options.repetitions / 10 + 1);
    Parts parts(options);
    const Ps begin = port.now();
    Ps last = begin;
    for (std::uint32_t part = 0; part < parts.count(); ++part) {
      windows(pair, self, bytes, options, parts.size(part));
      const Ps now = port.now();
      parts.add(static_cast<double>(parts.size(part)) * options.window / to_seconds(now - last));
      last = now;
    }
    const double messages = static_cast<double>(options.repetitions) * options.window;
    if (self == 0) {
      rows.add({static_cast<double>(bytes), messages / to_seconds(last - begin)}, parts);
    }
  }
  return 0;
}

}  // namespace fairlead::tools
