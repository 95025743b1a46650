#include <algorithm>
#include <vector>

#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/bench/dissemination.h"

namespace fairlead::tools {

int barrier_body(run::Context& context, const BenchOptions& options, Rows& rows) {
  lci::Port& port = context.port();
  Dissemination barrier(port, 0);
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
