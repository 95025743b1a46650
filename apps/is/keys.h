// The keys of the NAS benchmark IS, its classes and what their ranks must be (NAS Parallel
// Benchmarks: a generator x -> 5^13 x mod 2^46; four numbers make a key).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace is {

constexpr int kRankings = 10;

// Key `index` has `base` or `base` plus or minus the ranking's number before it.
struct Check {
  std::int64_t index;
  std::int64_t base;
  int sign;
};
struct Class {
  char name;
  std::int64_t keys;
  std::int64_t key_end;  // keys are below
  int first;             // the ranking's number in the checks begins with
  std::array<Check, 5> checks;
  bool published = true;  // there are checks
};

// nullptr: there is no such class here.
const Class* class_of(char name);
// With `keys` keys, a power of two, as dense as those of class S; nothing of it is published.
Class class_like_s(std::int64_t keys);

// Keys [begin, end) of those of the class.
std::vector<std::int32_t> make_keys(const Class& of, std::int64_t begin, std::int64_t end);

}  // namespace is
