// Broadcast of rank 0 to all (group 0): the time until the last receiver has the message, without a
// copy there, and the rate at which the sender gets messages out, with one (LCI paper, section 5.4
// and Figure 9).
#include <algorithm>

#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/messages.h"

namespace fairlead::tools {

namespace {

constexpr lci::Chan kMessages = 0;
constexpr lci::Chan kSignals = 1;
constexpr lci::Dest kAll = {.id = 0, .group = true};
// What the message before left to do is done by then: acknowledgments, and on a modelled platform
// all that rank 0's network interface does after everybody's signal.
Ps quiet_time(const BenchOptions& options) {
  return options.modelled ? milliseconds(5) : microseconds(100);
}

struct Ends {
  Ends(lci::Port& own, bool fill)
      : port(own),
        messages(own, (own.self() + 1) % own.size(), kMessages, fill),
        arrivals(own, kMessages),
        signals(own, kSignals) {}

  lci::Port& port;
  Messages messages;
  Arrivals arrivals;
  Signals signals;
};

// Receivers tell rank 0 when they had the message; in either world the ranks have one clock. What
// they tell must not get in the way of the message: on a modelled platform they wait until
// everybody has it.
Ps settling(std::uint64_t bytes, const BenchOptions& options) {
  if (!options.modelled) return Ps{};
  return milliseconds(1) + nanoseconds(100) * static_cast<std::int64_t>(bytes);
}

void receive_each(Ends& ends, std::uint64_t packets, std::uint32_t count, Ps settle) {
  ends.arrivals.time(packets);
  ends.signals.tell(0);
  for (std::uint32_t i = 0; i < count; ++i) {
    ends.arrivals.await(packets);
    const Ps had = ends.arrivals.timed();
    ends.arrivals.time(packets);
    if (settle > Ps{}) (void)ends.port.wait({.deadline = had + settle, .what = "quiet"});
    ends.signals.tell(0, had);
  }
}

double latency_us(Ends& ends, std::uint64_t bytes, std::uint32_t count,
                  const BenchOptions& options) {
  lci::Port& port = ends.port;
  if (port.self() != 0) {
    receive_each(ends, ends.messages.packets_of(bytes), count, settling(bytes, options));
    return 0;
  }
  ends.signals.await(port.size() - 1);
  Ps total{};
  for (std::uint32_t i = 0; i < count; ++i) {
    (void)port.wait({.deadline = port.now() + quiet_time(options), .what = "quiet"});
    (void)ends.signals.take_latest();
    const Ps begin = port.now();
    ends.messages.send(kAll, bytes);
    ends.messages.await_sent();
    ends.signals.await(port.size() - 1);
    total += ends.signals.take_latest() - begin;
  }
  return to_us(total) / count;
}

// Enough packets to fill every window and buffer on the way many times over.
std::uint32_t message_count(std::uint64_t bytes, std::uint64_t packets,
                            const BenchOptions& options) {
  constexpr std::uint64_t kPackets = 400;
  const std::uint64_t bytes_moved = options.modelled ? 4 << 20 : 64 << 20;
  const std::uint64_t fitting = bytes_moved / std::max<std::uint64_t>(bytes, 1);
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>({4, std::min<std::uint64_t>(fitting, kPackets / packets)}));
}

// The sender's time a message once the stream is steady: between two sends that each found as
// little room as the other.
double sent_bytes_per_us(Ends& ends, std::uint64_t bytes, const BenchOptions& options) {
  lci::Port& port = ends.port;
  const std::uint64_t packets = ends.messages.packets_of(bytes);
  const std::uint32_t count = message_count(bytes, packets, options);
  const std::uint32_t warm = count / 2;
  if (port.self() != 0) {
    ends.arrivals.await(packets * (warm + count));
    ends.signals.tell(0);
    return 0;
  }
  for (std::uint32_t i = 0; i < warm; ++i) ends.messages.send(kAll, bytes);
  const Ps begin = port.now();
  for (std::uint32_t i = 0; i < count; ++i) ends.messages.send(kAll, bytes);
  const Ps end = port.now();
  ends.messages.await_sent();
  ends.signals.await(port.size() - 1);
  return static_cast<double>(bytes) * count / to_us(end - begin);
}

}  // namespace

int multicast_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  Ends ends(port, options.fill);
  for (const std::uint64_t bytes : options.sizes) {
    ends.messages.use_buffer(bytes);
    ends.arrivals.copy_to(0);
    latency_us(ends, bytes, options.repetitions / 10 + 1, options);
    const double latency = latency_us(ends, bytes, options.repetitions, options);
    ends.arrivals.copy_to(bytes);
    const double rate = sent_bytes_per_us(ends, bytes, options);
    if (port.self() == 0) {
      rows.add({static_cast<double>(bytes), static_cast<double>(port.size()), latency, rate});
    }
  }
  return 0;
}

}  // namespace fairlead::tools
