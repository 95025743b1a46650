#include "apps/barnes/outcome.h"

#include <cstdio>
#include <cstring>

#include "apps/barnes/octants.h"
#include "apps/common/scramble.h"

namespace barnes {

std::uint64_t part_of_checksum(const Body& body) {
  std::uint64_t sum = 0;
  for (const double value : {body.position.x, body.position.y, body.position.z}) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    sum += apps::scramble(bits ^ body.number);
  }
  return sum;
}

void print(const char* app, const Options& options, unsigned ranks, const Outcome& outcome) {
  const long long bodies = options.bodies;
  const long long steps = options.steps;
  const auto sum = static_cast<unsigned long long>(outcome.checksum);
  if (options.json) {
    std::printf(
        "{\"app\":\"%s\",\"bodies\":%lld,\"steps\":%lld,\"theta\":%g,\"ranks\":%u,"
        "\"seconds\":%.9g,\"checksum\":%llu,\"visits\":%.0f,\"interactions\":%.0f",
        app, bodies, steps, options.theta, ranks, outcome.seconds, sum, outcome.visits,
        outcome.interactions);
    if (options.verify) {
      std::printf(",\"error\":%.3g,\"verified\":%s", outcome.error,
                  outcome.good ? "true" : "false");
    }
    std::printf("}\n");
  } else {
    std::printf("%s: %lld bodies, %lld steps on %u ranks: checksum %llu, %.6f s\n", app, bodies,
                steps, ranks, sum, outcome.seconds);
    if (options.verify) {
      std::printf("%s: forces differ by %.3g in the mean, %.3g are allowed\n",
                  outcome.good ? "verified" : "WRONG", outcome.error, error_allowed(options.theta));
    }
  }
  std::fflush(stdout);
}

}  // namespace barnes
