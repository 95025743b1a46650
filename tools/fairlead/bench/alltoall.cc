// Every rank sends a message to every other one, each in an order of its own: the next rank first.
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/dissemination.h"
#include "tools/fairlead/bench/messages.h"

namespace fairlead::tools {

namespace {

constexpr lci::Chan kMessages = 0;
constexpr lci::Chan kBarrier = 1;

void exchange(lci::Port& port, Messages& messages, Arrivals& arrivals, std::uint64_t bytes) {
  for (Rank step = 1; step < port.size(); ++step) {
    messages.send({(port.self() + step) % port.size()}, bytes);
  }
  arrivals.await(messages.packets_of(bytes) * (port.size() - 1));
  messages.await_sent();
}

}  // namespace

int alltoall_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  Messages messages(port, (port.self() + 1) % port.size(), kMessages, options.fill);
  Arrivals arrivals(port, kMessages);
  Dissemination barrier(port, kBarrier);
  for (const std::uint64_t bytes : options.sizes) {
    messages.use_buffer(bytes);
    for (std::uint32_t i = 0; i < options.repetitions / 10 + 1; ++i) {
      exchange(port, messages, arrivals, bytes);
    }
    barrier.enter();
    const Ps begin = port.now();
    for (std::uint32_t i = 0; i < options.repetitions; ++i) {
      exchange(port, messages, arrivals, bytes);
    }
    barrier.enter();
    const double mean = to_us(port.now() - begin) / options.repetitions;
    if (port.self() == 0) {
      const double sent = static_cast<double>(bytes) * (port.size() - 1);
      rows.add({static_cast<double>(bytes), static_cast<double>(port.size()), mean, sent / mean});
    }
  }
  return 0;
}

}  // namespace fairlead::tools
