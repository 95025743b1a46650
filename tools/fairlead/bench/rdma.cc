// One-sided writes and reads between rank 0 and rank 1, as the micro-benchmarks of InfiniBand do
// them. Latency of a write: half of a ping-pong in which each side waits for the last word of what
// the other one writes; it needs a network that writes the bytes of a put in their order. Latency
// of a read: from the call until the data are there. Bandwidth: `window` operations under way, one
// way and, of writes, both.
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
constexpr std::uint64_t kWord = sizeof(std::uint32_t);

class Pair {
 public:
  Pair(lci::Port& port, const BenchOptions& options)
      : port_(port), options_(options), barrier_(port, kBarrier), ends_(port, kEnds) {
    const std::uint64_t most = *std::max_element(options.sizes.begin(), options.sizes.end());
    bytes_ = (most + 63) / 64 * 64;
    window_ = static_cast<std::byte*>(port.allocate(kWindow, 2 * bytes_, lci::Place::host));
    FAIRLEAD_CHECK(window_ != nullptr, "no memory of {} bytes for peers", 2 * bytes_);
    source_ = window_ + bytes_;
    barrier_.enter();
    if (active()) other_ = 1 - port.self();
  }

  bool leads() const { return port_.self() == 0; }

  double write_latency(std::uint64_t bytes) {
    rounds(bytes, options_.repetitions / 10 + 1);
    return per_round([&] { rounds(bytes, options_.repetitions); }) / 2;
  }
  double read_latency(std::uint64_t bytes) {
    return per_round([&] {
      for (std::uint32_t i = 0; leads() && i < options_.repetitions; ++i) {
        get(bytes);
        await(started_);
      }
    });
  }
  // Bytes per us.
  double write_rate(std::uint64_t bytes, bool both) {
    const double us = per_round([&] {
      if (leads() || (both && active())) stream(bytes, true);
    });
    return static_cast<double>(bytes) * (both ? 2 : 1) / us;
  }
  double read_rate(std::uint64_t bytes) {
    return static_cast<double>(bytes) / per_round([&] {
             if (leads()) stream(bytes, false);
           });
  }

 private:
  bool active() const { return port_.self() < 2; }

  void put(std::uint64_t bytes) {
    const lci::PutPiece piece{0, source_, bytes};
    expect_accepted(
        port_.put({other_}, kWindow, {&piece, 1}, &done_, lci::kNoCounter, lci::kNoFlags));
    ++started_;
  }
  void get(std::uint64_t bytes) {
    expect_accepted(port_.get({other_, kWindow, 0}, source_, bytes, &done_, lci::kNoFlags));
    ++started_;
  }
  void await(std::uint64_t count) {
    expect_accepted(port_.wait({.counter = &done_, .at = count, .what = "the end of a copy"}));
  }
  void stream(std::uint64_t bytes, bool writes) {
    const std::uint64_t before = started_;
    for (std::uint32_t i = 0; i < options_.repetitions; ++i) {
      writes ? put(bytes) : get(bytes);
      if (started_ - before > options_.window) await(started_ - options_.window);
    }
    await(started_);
  }

  // The last word of a message counts the rounds.
  void rounds(std::uint64_t bytes, std::uint32_t count) {
    if (!active()) return;
    const auto* last = reinterpret_cast<const std::atomic<std::uint32_t>*>(window_ + bytes - kWord);
    for (std::uint32_t i = 0; i < count; ++i) {
      ++round_;
      if (leads()) write(bytes);
      expect_accepted(port_.wait(
          {.cmp = lci::Cmp::eq, .value = round_, .word4 = last, .what = "the other side's word"}));
      if (!leads()) write(bytes);
    }
    await(started_);
  }
  void write(std::uint64_t bytes) {
    std::memcpy(source_ + bytes - kWord, &round_, kWord);
    put(bytes);
  }

  // us for each repetition of the slower of the two.
  template <class Part>
  double per_round(Part part) {
    barrier_.enter();
    const Ps begin = port_.now();
    part();
    ends_.tell(0, port_.now() - begin);
    Ps latest{};
    if (leads()) {
      ends_.await(port_.size());
      latest = ends_.take_latest();
    }
    barrier_.enter();
    return to_us(latest) / options_.repetitions;
  }

  lci::Port& port_;
  const BenchOptions& options_;
  Dissemination barrier_;
  Signals ends_;
  Rank other_ = 0;
  std::uint64_t bytes_ = 0;
  std::byte* window_ = nullptr;
  std::byte* source_ = nullptr;
  Counter done_;
  std::uint64_t started_ = 0;
  std::uint32_t round_ = 0;
};

}  // namespace

int rdma_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  FAIRLEAD_CHECK(port.size() >= 2, "one rank has nobody to write to");
  Pair pair(port, options);
  for (const std::uint64_t asked : options.sizes) {
    const std::uint64_t bytes = std::max(asked / kWord * kWord, kWord);
    const double write = pair.write_latency(bytes);
    const double read = pair.read_latency(bytes);
    const double write_rate = pair.write_rate(bytes, false);
    const double both = pair.write_rate(bytes, true);
    const double read_rate = pair.read_rate(bytes);
    if (!pair.leads()) continue;
    rows.add({static_cast<double>(bytes), write, read, write_rate, both, read_rate});
  }
  return 0;
}

}  // namespace fairlead::tools
