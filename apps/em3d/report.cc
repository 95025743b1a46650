#include "apps/em3d/report.h"

#include <cstdio>

namespace em3d {

int report(const Options& options, Front front, const Outcome& outcome) {
  const char* const app = name_of(front);
  const char* const variant = name_of(options.variant);
  const auto check = static_cast<unsigned long long>(outcome.checksum);
  const auto nodes = static_cast<long long>(options.nodes);
  if (options.json) {
    std::printf(
        "{\"app\":\"%s\",\"variant\":\"%s\",\"nodes\":%lld,\"degree\":%lld,\"remote\":%lld,"
        "\"iterations\":%lld,\"ranks\":%u,\"seconds\":%.9g,\"checksum\":%llu",
        app, variant, nodes, static_cast<long long>(options.degree),
        static_cast<long long>(options.remote_percent), static_cast<long long>(options.iterations),
        outcome.ranks, outcome.seconds, check);
    if (options.verify) std::printf(",\"verified\":%s", outcome.good ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("%s: %lld nodes a rank on %u ranks, %s: checksum %llu, %.6f s\n", app, nodes,
                outcome.ranks, variant, check, outcome.seconds);
    if (options.verify) {
      std::printf("%s\n", outcome.good ? "verified: the sequential values" : "WRONG");
    }
  }
  std::fflush(stdout);
  return outcome.good ? 0 : 1;
}

}  // namespace em3d
