// Radix sort of a shared array: one pass per digit, from one array into another and back.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "apps/radix/shared_array.h"

namespace radix {

constexpr int kDigitBits = 7;
constexpr std::size_t kRadix = std::size_t{1} << kDigitBits;  // 128, the paper's

class Sort {
 public:
  // Sorts keys of so many bits, which are in `first`.
  Sort(SharedArray& first, SharedArray& second, int key_bits)
      : from_(&first), to_(&second), key_bits_(key_bits), counts_(kRadix) {}
  // Every rank; returns the array that has the result when all have done their part.
  SharedArray& run();

 private:
  // A digit's keys on their way to the region where the next of them belongs.
  struct Bucket {
    std::int64_t next = 0;  // place in the array of the first key that waits
    std::int64_t waiting = 0;
    std::array<Key, kKeysPerRegion> keys;
  };

  void pass(int shift);
  void count(int shift);
  void find_places();
  void permute(int shift);
  void put(Bucket& bucket, Key key);
  void empty(Bucket& bucket);
  void declare_work(std::uint64_t ops_per_key, std::int64_t keys) const;

  SharedArray* from_;
  SharedArray* to_;
  int key_bits_;
  Table counts_;  // of keys by digit, each rank's
  std::vector<Bucket> buckets_{kRadix};
};

}  // namespace radix
