// LogP parameters and fetch-and-add latency, extracted as Culler et al. (Assessing fast network
// interfaces, 1996) do and the LCI paper reports (Tables III and IV): 16-byte messages.
#include "fairlead/base/check.h"
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/logp_accounts.h"
#include "tools/fairlead/bench/pair.h"

namespace fairlead::tools {

namespace {

constexpr std::uint64_t kBytes = 16;
constexpr std::uint32_t kStreamed = 4;  // messages a repetition
constexpr lci::SegId kWordSegment = 1;
// Longer than any message and its completions are under way in a network of this project.
constexpr Ps kLongEnough = microseconds(200);
// Where the receiver leaves what it measured.
enum Note : std::size_t { kReceiveOverhead, kGap };

struct Overhead {
  Ps total{};
  std::int64_t samples = 0;

  void add(Ps sample) {
    total += sample;
    ++samples;
  }
  double mean_us(Ps clock) const {
    return samples == 0 ? 0 : to_us(total) / static_cast<double>(samples) - to_us(clock);
  }
};

// Round trips at full speed; the mean, on rank 0.
double round_trip_us(Pair& pair, Rank self, std::uint32_t count) {
  const Ps begin = pair.port().now();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (self == 0) pair.send(kBytes);
    pair.await(1);
    if (self != 0) pair.send(kBytes);
  }
  return to_us(pair.port().now() - begin) / count;
}

// One message at a time. The sender's call never finds the path busy; the receiver looks when the
// message, and whatever its own last send left to be done, has been there for long.
void overheads(Pair& pair, Rank self, std::uint32_t count, Overhead& send, Overhead& receive) {
  lci::Port& port = pair.port();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (self == 0) {
      stay_busy(port, kLongEnough / 4);
      const Ps begin = port.now();
      pair.send(kBytes);
      send.add(port.now() - begin);
      pair.await(1);
    } else {
      stay_busy(port, kLongEnough);
      const Ps begin = port.now();
      const int found = port.poll();
      const Ps end = port.now();
      if (found == 1 || pair.silent()) receive.add(end - begin);
      pair.await(1);
      pair.send(kBytes);
    }
  }
}

// A long one-way stream; the receiver's time per message once it is steady and before it ends: what
// lies in the sender's queues at the start is made up for by what lies there at the end.
double gap_us(Pair& pair, Rank self, std::uint32_t count) {
  const std::uint32_t warm = count / 4;
  if (self == 0) {
    pair.await_signal();
    for (std::uint32_t i = 0; i < count + 2 * warm; ++i) pair.send(kBytes);
    pair.await_signal();
    return 0;
  }
  pair.time_arrival(warm);
  pair.signal();
  pair.await(warm);
  const Ps begin = pair.timed_arrival();
  pair.time_arrival(count);
  pair.await(count);
  const double mean = to_us(pair.timed_arrival() - begin) / count;
  pair.await(warm);
  pair.signal();
  return mean;
}

double fetch_add_us(Pair& pair, Rank self, Rank partner, std::uint32_t count) {
  lci::Port& port = pair.port();
  // On both sides: NI memory is named alike everywhere.
  FAIRLEAD_CHECK(port.allocate(kWordSegment, 8, lci::Place::ni) != nullptr, "no memory on the NI");
  if (self != 0) {
    pair.signal();
    pair.await_signal();
    return 0;
  }
  pair.await_signal();
  Counter done;
  const Ps begin = port.now();
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t old = ~0ULL;
    const lci::Remote word{partner, kWordSegment, 0};
    const Post answer = port.atomic(word, lci::Atomic::add, 1, 0, &old, &done);
    FAIRLEAD_CHECK(answer == Post::done || answer == Post::pending, "atomic answered {}",
                   static_cast<int>(answer));
    (void)port.wait({.counter = &done, .at = i + 1, .what = "a fetch-and-add"});
    FAIRLEAD_CHECK(old == i, "fetch-and-add {} returned {}", i, old);
  }
  const double mean = to_us(port.now() - begin) / count;
  pair.signal();
  return mean;
}

}  // namespace

int logp_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  const Rank self = port.self();
  const Rank other = other_of(self, options.partner);
  if (other == self) return 0;
  Pair pair(port, other, options);
  const Ps clock = clock_cost(port);
  Overhead send;
  Overhead receive;
  round_trip_us(pair, self, options.repetitions / 4 + 1);
  const double round_trip = round_trip_us(pair, self, options.repetitions);
  overheads(pair, self, options.repetitions / 4 + 1, send, receive);
  const double gap = gap_us(pair, self, options.repetitions * kStreamed);
  if (self != 0) {
    rows.note(kReceiveOverhead) = receive.mean_us(clock);
    rows.note(kGap) = gap;
  }
  // Its signals also tell rank 0 that the notes are there.
  const double fetch_add = fetch_add_us(pair, self, options.partner, options.repetitions);
  if (self == 0) {
    const double send_us = send.mean_us(clock);
    const double receive_us = rows.note(kReceiveOverhead);
    const double one_way = round_trip / 2;
    rows.add(
        {send_us, receive_us, one_way - send_us - receive_us, rows.note(kGap), one_way, fetch_add});
  }
  return 0;
}

int logp_single_body(run::Context& context, const BenchOptions& options, Rows&) {
  lci::Port& port = context.port();
  const Rank other = other_of(port.self(), options.partner);
  if (other == port.self()) return 0;
  Pair pair(port, other, options);
  Overhead send;
  Overhead receive;
  overheads(pair, port.self(), options.repetitions, send, receive);
  return 0;
}

int logp_stream_body(run::Context& context, const BenchOptions& options, Rows&) {
  lci::Port& port = context.port();
  const Rank other = other_of(port.self(), options.partner);
  if (other == port.self()) return 0;
  Pair pair(port, other, options);
  gap_us(pair, port.self(), options.repetitions * kStreamed);
  return 0;
}

}  // namespace fairlead::tools
