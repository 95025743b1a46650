// Remote memory between the two halves of a job: rank r of the first half and rank r of the second
// put into each other's memory and get from it, all pairs at once. Ping-pongs by a word that the
// other side waits for, puts one way and both ways, gets, and what a fence takes.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "fairlead/base/check.h"
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/dissemination.h"
#include "tools/fairlead/bench/messages.h"

namespace fairlead::tools {

namespace {

constexpr lci::Chan kBarrier = 0;
constexpr lci::Chan kEnds = 1;
constexpr lci::SegId kWindow = 1;
// A line of a cache: the word that a ping-pong waits for is at the end of one, behind the data.
constexpr std::uint64_t kLine = 64;
// Puts of a stream that are not done.
constexpr std::uint64_t kAhead = 8;

class Halves {
 public:
  Halves(lci::Port& port, const BenchOptions& options)
      : port_(port), options_(options), barrier_(port, kBarrier), ends_(port, kEnds) {
    half_ = port.size() / 2;
    first_ = port.self() < half_;
    other_ = first_ ? port.self() + half_ : port.self() - half_;
    const std::uint64_t most = *std::max_element(options.sizes.begin(), options.sizes.end());
    window_bytes_ = (most + kLine - 1) / kLine * kLine + kLine;
    window_ = static_cast<std::byte*>(port.allocate(kWindow, 2 * window_bytes_, lci::Place::host));
    FAIRLEAD_CHECK(window_ != nullptr, "no memory of {} bytes for peers", 2 * window_bytes_);
    source_ = window_ + window_bytes_;
    barrier_.enter();
  }

  bool leads() const { return port_.self() == 0; }
  Rank pairs() const { return half_; }

  // Half of a round trip, in us, of the slowest pair, while all play.
  double ping_pong(std::uint64_t bytes) {
    rounds(bytes, options_.repetitions / 10 + 1);
    slowest([&] { rounds(bytes, options_.repetitions); });
    return to_us(latest_) / options_.repetitions / 2;
  }

  // Bytes per us of all pairs together, from the first half, or of both.
  double puts(std::uint64_t bytes, bool both) {
    const std::uint64_t count = count_of(bytes);
    const bool puts = first_ || both;
    return rate(bytes * count * half_ * (both ? 2 : 1), [&] {
      if (puts) stream(bytes, count);
    });
  }

  double gets(std::uint64_t bytes) {
    const std::uint64_t count = std::min<std::uint64_t>(count_of(bytes), kGets);
    return rate(bytes * count * half_, [&] {
      for (std::uint64_t i = 0; first_ && i < count; ++i) {
        expect_accepted(port_.get({other_, kWindow, 0}, source_, bytes, &done_, lci::kNoFlags));
        await_done();
      }
    });
  }

  // From a put's end at the caller until it is known to be there.
  double fence(std::uint64_t bytes) {
    Ps spent{};
    for (std::uint32_t i = 0; first_ && i < options_.repetitions; ++i) {
      put(0, bytes);
      const Ps begin = port_.now();
      close();
      spent += port_.now() - begin;
    }
    barrier_.enter();
    return to_us(spent) / options_.repetitions;
  }

 private:
  static constexpr std::uint64_t kGets = 16;

  std::uint64_t count_of(std::uint64_t bytes) const {
    constexpr std::uint64_t kMoved = 4 << 20;
    return std::clamp<std::uint64_t>(kMoved / bytes, 4, options_.repetitions);
  }

  void put(std::uint64_t offset, std::uint64_t bytes) {
    const lci::PutPiece piece{offset, source_ + offset, bytes};
    expect_accepted(
        port_.put({other_}, kWindow, {&piece, 1}, &done_, lci::kNoCounter, lci::kNoFlags));
    ++puts_;
  }
  void await_done() {
    ++puts_;
    expect_accepted(port_.wait({.counter = &done_, .at = puts_, .what = "the end of a get"}));
  }
  // Everything put so far is there.
  void close() {
    expect_accepted(port_.fence({other_}, &fenced_));
    expect_accepted(port_.wait({.counter = &fenced_, .at = ++fences_, .what = "a fence"}));
  }

  void stream(std::uint64_t bytes, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      put(0, bytes);
      if (puts_ <= kAhead) continue;
      expect_accepted(
          port_.wait({.counter = &done_, .at = puts_ - kAhead, .what = "room for a put"}));
    }
    close();
  }

  // A message that fits a line holds its word; a longer one is closed before its word goes.
  void send(std::uint64_t bytes) {
    const std::uint64_t line = bytes <= kLine - 8 ? 0 : (bytes + kLine - 1) / kLine * kLine;
    if (line > 0) {
      put(0, bytes);
      close();
    }
    ++sent_;
    std::memcpy(source_ + line + kLine - 8, &sent_, 8);
    put(line, kLine);
  }
  void await(std::uint64_t bytes) {
    const std::uint64_t line = bytes <= kLine - 8 ? 0 : (bytes + kLine - 1) / kLine * kLine;
    const auto* word =
        reinterpret_cast<const std::atomic<std::uint64_t>*>(window_ + line + kLine - 8);
    ++awaited_;
    expect_accepted(port_.wait(
        {.word = word, .cmp = lci::Cmp::ge, .value = awaited_, .what = "the other side's word"}));
  }
  void rounds(std::uint64_t bytes, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (first_) send(bytes);
      await(bytes);
      if (!first_) send(bytes);
    }
  }

  // `bytes` moved while every rank does its part, by the time of the slowest one.
  template <class Part>
  double rate(std::uint64_t bytes, Part part) {
    slowest(part);
    return latest_ > Ps{0} ? static_cast<double>(bytes) / to_us(latest_) : 0;
  }
  // Rank 0 knows how long it took.
  template <class Part>
  void slowest(Part part) {
    barrier_.enter();
    const Ps begin = port_.now();
    part();
    ends_.tell(0, port_.now() - begin);
    if (leads()) {
      ends_.await(port_.size());
      latest_ = ends_.take_latest();
    }
    barrier_.enter();
  }

  lci::Port& port_;
  const BenchOptions& options_;
  Dissemination barrier_;
  Signals ends_;
  Rank half_ = 0;
  Rank other_ = 0;
  bool first_ = false;
  std::uint64_t window_bytes_ = 0;
  std::byte* window_ = nullptr;
  std::byte* source_ = nullptr;
  Counter done_;
  Counter fenced_;
  std::uint64_t puts_ = 0;
  std::uint64_t fences_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t awaited_ = 0;
  Ps latest_{};
};

}  // namespace

int remote_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  FAIRLEAD_CHECK(port.size() % 2 == 0, "{} ranks have no two halves", port.size());
  Halves halves(port, options);
  for (const std::uint64_t bytes : options.sizes) {
    const double one_way = halves.ping_pong(bytes);
    const double put = halves.puts(bytes, false);
    const double both = halves.puts(bytes, true);
    const double get = halves.gets(bytes);
    const double fence = halves.fence(bytes);
    if (!halves.leads()) continue;
    rows.add({static_cast<double>(bytes), static_cast<double>(halves.pairs()), one_way, put, both,
              get, fence});
  }
  return 0;
}

}  // namespace fairlead::tools
