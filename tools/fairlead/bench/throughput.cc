// Bytes per second from rank 0 to its partner by message size: messages back to back, each sent as
// full packets and a last one, or as one put; with options.copy the receiver copies them into a
// linear array as large as the message (LCI paper, section 5.2.4, Table V and Figures 6 and 8).
#include <algorithm>

#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/pair.h"

namespace fairlead::tools {

namespace {

// Enough messages to fill the path's window many times over, without moving gigabytes.
std::uint32_t message_count(std::uint64_t bytes, std::uint32_t most) {
  constexpr std::uint64_t kBytesMoved = 64 << 20;
  const std::uint64_t fitting = kBytesMoved / std::max<std::uint64_t>(bytes, 1);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 4, most));
}

// The receiver's time from the first message's last packet to the last message's.
double stream_seconds(Pair& pair, Rank self, std::uint64_t bytes, std::uint32_t count) {
  if (self == 0) {
    pair.await_signal();
    for (std::uint32_t i = 0; i <= count; ++i) pair.send(bytes);
    pair.await_sent();
    pair.await_signal();
    return 0;
  }
  const std::uint64_t parts = pair.parts_of(bytes);
  pair.time_arrival(parts);
  pair.signal();
  pair.await(parts);
  pair.await(parts * count);
  return to_seconds(pair.port().now() - pair.timed_arrival());
}

}  // namespace

int throughput_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  const Rank self = port.self();
  const Rank other = other_of(self, options.partner);
  if (other == self) return 0;
  Pair pair(port, other, options);
  for (const std::uint64_t bytes : options.sizes) {
    pair.use_buffer(bytes);
    const std::uint32_t count = message_count(bytes, options.repetitions);
    const double seconds = stream_seconds(pair, self, bytes, count);
    if (self != 0) {
      const double rate = static_cast<double>(bytes) * count / seconds;
      rows.add({static_cast<double>(bytes), rate / 1e6, rate / (1 << 20)});
      pair.signal();
    }
  }
  return 0;
}

}  // namespace fairlead::tools
