#include "apps/is/keys.h"

#include <algorithm>

namespace is {
namespace {

constexpr std::uint64_t kMask = (std::uint64_t{1} << 46) - 1;
constexpr std::uint64_t kFactor = 1220703125;  // 5^13
constexpr std::uint64_t kSeed = 314159265;
constexpr std::uint64_t kNumbersPerKey = 4;

__extension__ using Wide = unsigned __int128;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(Wide{a} * b) & kMask;
}

// The state after `count` numbers.
std::uint64_t state_after(std::uint64_t count) {
  std::uint64_t state = kSeed;
  for (std::uint64_t power = kFactor; count != 0; count >>= 1, power = times(power, power)) {
    if ((count & 1) != 0) state = times(state, power);
  }
  return state;
}

constexpr Class kClasses[] = {
    {'S',
     65536,
     2048,
     1,
     {{{48427, 0, 1}, {17148, 18, 1}, {23627, 346, 1}, {62548, 64917, -1}, {4431, 65463, -1}}}},
    {'A',
     8388608,
     524288,
     0,
     {{{2112377, 104, 1},
       {662041, 17523, 1},
       {5336171, 123928, 1},
       {3642833, 8288932, -1},
       {4250760, 8388264, -1}}}},
};

}  // namespace

const Class* class_of(char name) {
  const auto* const found = std::find_if(std::begin(kClasses), std::end(kClasses),
                                         [name](const Class& each) { return each.name == name; });
  return found == std::end(kClasses) ? nullptr : found;
}

Class class_like_s(std::int64_t keys) {
  const Class& small = kClasses[0];
  return {'-', keys, keys * small.key_end / small.keys, small.first, {}, false};
}

std::vector<std::int32_t> make_keys(const Class& of, std::int64_t begin, std::int64_t end) {
  std::vector<std::int32_t> keys(static_cast<std::size_t>(end - begin));
  std::uint64_t state = state_after(kNumbersPerKey * static_cast<std::uint64_t>(begin));
  const double scale = static_cast<double>(of.key_end / 4);
  constexpr double kUnit = 1.0 / static_cast<double>(std::uint64_t{1} << 46);
  for (std::int32_t& key : keys) {
    double sum = 0;
    for (std::uint64_t i = 0; i < kNumbersPerKey; ++i) {
      state = times(state, kFactor);
      sum += static_cast<double>(state) * kUnit;
    }
    key = static_cast<std::int32_t>(scale * sum);
  }
  return keys;
}

}  // namespace is
