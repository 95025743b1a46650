// Radix sort as the LCI paper runs it (section 7): an array in 1-KB CRL regions, each rank moving
// the keys of its own part to where they belong, one digit at a time.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "apps/common/scramble.h"
#include "apps/radix/options.h"
#include "apps/radix/shared_array.h"
#include "apps/radix/sort.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/crl/crl.h"

FAIRLEAD_FIBER_PROGRAM;

namespace radix {
namespace {

// Sums of parts stay exact in a double.
constexpr std::uint64_t kChecksumMask = (std::uint64_t{1} << 40) - 1;

Key key_at(std::int64_t i, int bits) {
  return static_cast<Key>(apps::scramble(static_cast<std::uint64_t>(i)) >> (64 - bits));
}

void fill(SharedArray& array, int bits) {
  for (std::int64_t region = array.own().begin; region < array.own().end; ++region) {
    const fairlead::crl::write_guard<Key> keys(array.map(region));
    for (std::int64_t i = 0; i < array.keys_of(region); ++i) {
      keys[static_cast<std::size_t>(i)] = key_at(region * kKeysPerRegion + i, bits);
    }
  }
}

// A sum over all keys and their places; the same for any number of ranks.
std::uint64_t checksum(SharedArray& array) {
  std::uint64_t sum = 0;
  for (std::int64_t region = array.own().begin; region < array.own().end; ++region) {
    const fairlead::crl::read_guard<Key> keys(array.map(region));
    for (std::int64_t i = 0; i < array.keys_of(region); ++i) {
      sum += keys[static_cast<std::size_t>(i)] *
             static_cast<std::uint64_t>(region * kKeysPerRegion + i + 1);
    }
  }
  const double all = rgn_reduce_dadd(static_cast<double>(sum & kChecksumMask));
  return static_cast<std::uint64_t>(all) & kChecksumMask;
}

// On rank 0: the array is the sorted sequence of the keys that were filled in.
bool verify(SharedArray& array, int bits) {
  bool same = true;
  if (crl_self_addr() == 0) {
    std::vector<Key> sorted(static_cast<std::size_t>(array.keys()));
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      sorted[i] = key_at(static_cast<std::int64_t>(i), bits);
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::int64_t region = 0; region < array.regions(); ++region) {
      const fairlead::crl::read_guard<Key> keys(array.map(region));
      const Key* const wanted = &sorted[static_cast<std::size_t>(region * kKeysPerRegion)];
      same = same && std::equal(wanted, wanted + array.keys_of(region), &keys[0]);
    }
  }
  rgn_barrier();
  return same;
}

void print(const Options& options, double seconds, std::uint64_t sum, bool same) {
  const long long keys = options.keys;
  const auto check = static_cast<unsigned long long>(sum);
  if (options.json) {
    std::printf(
        "{\"app\":\"radix\",\"keys\":%lld,\"key_bits\":%d,\"ranks\":%u,\"seconds\":%.9g,"
        "\"checksum\":%llu",
        keys, static_cast<int>(options.key_bits), crl_num_nodes(), seconds, check);
    if (options.verify) std::printf(",\"verified\":%s", same ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("radix: %lld keys of %d bits on %u ranks: checksum %llu, %.6f s\n", keys,
                static_cast<int>(options.key_bits), crl_num_nodes(), check, seconds);
    if (options.verify) std::printf("%s\n", same ? "verified: the keys, sorted" : "WRONG");
  }
  std::fflush(stdout);
}

// The rank's part, after crl_init; answers the exit code.
int run(const Options& options) {
  const int bits = static_cast<int>(options.key_bits);
  SharedArray first(options.keys);
  SharedArray second(options.keys);
  fill(first, bits);
  Sort sort(first, second, bits);
  rgn_barrier();
  const double begin = crl_time();
  SharedArray& result = sort.run();
  const double seconds = crl_time() - begin;
  const std::uint64_t sum = checksum(result);
  const bool same = !options.verify || verify(result, bits);
  if (crl_self_addr() == 0) print(options, seconds, sum, same);
  return same ? 0 : 1;
}

}  // namespace
}  // namespace radix

int main(int argc, char** argv) {
  radix::Options options;
  if (const std::optional<int> over = radix::read(argc, argv, options)) return *over;
  crl_init(nullptr);
  const int exit_code = radix::run(options);
  crl_finalize();
  return exit_code;
}
