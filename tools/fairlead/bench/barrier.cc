// Barrier of all ranks by dissemination: in round k every rank tells the one 2^k after it; small
// messages on the Port alone.
#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "fairlead/base/check.h"
#include "tools/fairlead/bench/bench.h"

namespace fairlead::tools {

namespace {

constexpr std::size_t kRoundsMax = 32;

class Barrier {
 public:
  explicit Barrier(lci::Port& port) : port_(port) {
    port_.bind(0, {&Barrier::on_message, this}, {});
  }

  void enter() {
    ++epoch_;
    for (std::uint32_t round = 0; (1U << round) < port_.size(); ++round) {
      const Rank to = static_cast<Rank>((port_.self() + (1ULL << round)) % port_.size());
      const lci::Words words = {round, 0, 0, 0};
      const Post answer = port_.send_small({to}, 0, lci::Lane::request, words, {}, 0);
      FAIRLEAD_CHECK(answer == Post::done || answer == Post::pending, "send answered {}",
                     static_cast<int>(answer));
      (void)port_.wait(
          {.word = &heard_[round], .cmp = lci::Cmp::ge, .value = epoch_, .what = "a barrier"});
    }
  }

 private:
  static Keep on_message(void* self, lci::Packet*, const lci::Arrival& arrival) {
    static_cast<Barrier*>(self)
        ->heard_.at(arrival.words[0])
        .fetch_add(1, std::memory_order_relaxed);
    return Keep::no;
  }

  lci::Port& port_;
  std::uint64_t epoch_ = 0;
  std::array<std::atomic<std::uint64_t>, kRoundsMax> heard_{};
};

}  // namespace

int barrier_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  Barrier barrier(port);
  for (std::uint32_t i = 0; i < options.repetitions / 10 + 1; ++i) barrier.enter();
  std::vector<double> each_us(options.repetitions);
  const Ps begin = port.now();
  Ps last = begin;
  for (double& one : each_us) {
    barrier.enter();
    const Ps now = port.now();
    one = to_us(now - last);
    last = now;
  }
  if (port.self() == 0) {
    std::sort(each_us.begin(), each_us.end());
    const std::size_t tail = each_us.size() - 1 - each_us.size() / 1000;
    rows.add({static_cast<double>(port.size()), to_us(last - begin) / options.repetitions,
              each_us[tail]});
  }
  return 0;
}

}  // namespace fairlead::tools
