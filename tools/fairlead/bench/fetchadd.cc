// Fetch-and-add on one word of rank 0 (LCI paper, section 4.3): its latency for one client, and
// what many clients get out of the word's home.
#include <algorithm>

#include "fairlead/base/check.h"
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/dissemination.h"

namespace fairlead::tools {

namespace {

constexpr lci::Chan kBarrier = 0;
constexpr lci::SegId kWords = 1;
constexpr lci::Remote kWord = {.rank = 0, .segment = kWords, .offset = 0};

// The barrier's last messages are through by then.
constexpr Ps kQuiet = microseconds(200);

// One after the other; the mean.
double fetch_add_us(lci::Port& port, std::uint32_t count, Counter& done, std::uint64_t& issued) {
  const Ps begin = port.now();
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t old = 0;
    const Post answer = port.atomic(kWord, lci::Atomic::add, 1, 0, &old, &done);
    FAIRLEAD_CHECK(answer == Post::done || answer == Post::pending, "atomic answered {}",
                   static_cast<int>(answer));
    (void)port.wait({.counter = &done, .at = ++issued, .what = "a fetch-and-add"});
  }
  return to_us(port.now() - begin) / count;
}

// Clients are the partner, the ranks behind it, and round.
bool is_client(Rank self, Rank size, Rank partner, Rank clients) {
  if (self == 0) return false;
  const Rank others = size - 1;
  return (self - 1 + others - (partner - 1)) % others < clients;
}

}  // namespace

int fetchadd_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  FAIRLEAD_CHECK(port.allocate(kWords, 8, lci::Place::ni) != nullptr, "no memory on the NI");
  Dissemination barrier(port, kBarrier);
  Counter done;
  std::uint64_t issued = 0;
  const Rank most = port.size() - 1;
  for (Rank clients = 1;; clients = std::min(clients * 2, most)) {
    barrier.enter();
    (void)port.wait({.deadline = port.now() + kQuiet, .what = "quiet"});
    double mean = 0;
    if (is_client(port.self(), port.size(), options.partner, clients)) {
      fetch_add_us(port, options.repetitions / 10 + 1, done, issued);
      mean = fetch_add_us(port, options.repetitions, done, issued);
    }
    barrier.enter();
    if (port.self() == options.partner) {
      rows.add({static_cast<double>(clients), mean, clients * 1e6 / mean});
    }
    if (clients == most) break;
  }
  return 0;
}

}  // namespace fairlead::tools
