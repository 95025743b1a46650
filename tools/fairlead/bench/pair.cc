#include "tools/fairlead/bench/pair.h"

#include "fairlead/base/check.h"

namespace fairlead::tools {

namespace {

constexpr lci::Chan kMessages = 0;
constexpr lci::Chan kSignals = 1;
// What puts go to and come from, and the counter that tells of them. Large enough for any message
// of a bench.
constexpr lci::SegId kTarget = 2;
constexpr lci::SegId kSource = 3;
constexpr lci::CtrId kArrived = 0;
// More than any network of this project has under way.
constexpr std::uint64_t kPutsMax = 128;

void wait_counter(lci::Port& port, const Counter& counter, std::uint64_t at, const char* what) {
  const Post answer = port.wait({.counter = &counter, .at = at, .what = what});
  FAIRLEAD_CHECK(answer == Post::done, "wait for {} answered {}", what, static_cast<int>(answer));
}

std::uint64_t largest(const BenchOptions& options) {
  std::uint64_t most = 64;
  for (const std::uint64_t bytes : options.sizes) most = std::max(most, bytes);
  return most;
}

}  // namespace

Pair::Pair(lci::Port& port, Rank other, const BenchOptions& options)
    : port_(port),
      other_(other),
      put_(options.put),
      copy_(options.copy),
      messages_(port, other, kMessages, options.fill),
      arrivals_(port, kMessages),
      signals_(port, kSignals) {
  use_buffer(64);
  if (!put_) return;
  port_.expose_counter(kArrived, &put_here_);
  put_from_ = port_.allocate(kSource, largest(options), lci::Place::host);
  FAIRLEAD_CHECK(port_.allocate(kTarget, largest(options), lci::Place::host) != nullptr &&
                     put_from_ != nullptr,
                 "no memory for {} bytes", largest(options));
  // Both sides have their target before the first put.
  signal();
  await_signal();
}

void Pair::use_buffer(std::uint64_t bytes) {
  messages_.use_buffer(bytes);
  if (copy_) arrivals_.copy_to(bytes);
}

void Pair::send(std::uint64_t bytes) {
  if (!put_) {
    messages_.send({other_}, bytes);
    return;
  }
  if (puts_ >= kPutsMax) {
    wait_counter(port_, put_done_, puts_ - kPutsMax + 1, "room for a put");
  }
  const lci::PutPiece piece{0, put_from_, bytes};
  ++puts_;
  expect_accepted(port_.put({other_}, kTarget, {&piece, 1}, &put_done_, kArrived, 0));
}

void Pair::await(std::uint64_t parts) {
  if (!put_) {
    arrivals_.await(parts);
    return;
  }
  puts_awaited_ += parts;
  wait_counter(port_, put_here_, puts_awaited_, "a put");
  if (puts_awaited_ == timed_index_) timed_at_ = port_.now();
}

void Pair::await_sent() {
  messages_.await_sent();
  if (put_) wait_counter(port_, put_done_, puts_, "the end of the own puts");
}

void Pair::time_arrival(std::uint64_t parts) {
  arrivals_.time(parts);
  timed_index_ = puts_awaited_ + parts;
}

Rank other_of(Rank self, Rank partner) {
  if (self == 0) return partner;
  return self == partner ? 0 : self;
}

Ps clock_cost(lci::Port& port) {
  constexpr int kCalls = 1000;
  const Ps begin = port.now();
  Ps last = begin;
  for (int i = 0; i < kCalls; ++i) last = port.now();
  return (last - begin) / kCalls;
}

void stay_busy(lci::Port& port, Ps time) {
  const Ps end = port.now() + time;
  while (port.now() < end) port.charge({.ops = 1000});
}

}  // namespace fairlead::tools
