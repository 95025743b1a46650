#include "apps/radix/sort.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/run/fairlead.h"

namespace radix {
namespace {

// For one key: load, shift, mask, a counter's load, addition and store, its address, the loop's own
// three, and the region's share.
constexpr std::uint64_t kCountOps = 12;
// For one key: the digit as above, the bucket's address, its place, the store and the check whether
// the region is full, and later the copy to the region with its place. Fitted: with 5 passes the
// paper's problem takes its sequential time on the PPro (table VII).
constexpr std::uint64_t kPermuteOps = 41;

std::size_t digit_of(Key key, int shift) { return (key >> shift) & (kRadix - 1); }

}  // namespace

SharedArray& Sort::run() {
  for (int shift = 0; shift < key_bits_; shift += kDigitBits) {
    pass(shift);
    std::swap(from_, to_);
  }
  return *from_;
}

void Sort::pass(int shift) {
  count(shift);
  rgn_barrier();
  find_places();
  permute(shift);
  rgn_barrier();
}

// Keys are swept over once, in this rank's part of the two arrays.
void Sort::declare_work(std::uint64_t ops_per_key, std::int64_t keys) const {
  if (fairlead_work == nullptr) return;
  const auto n = static_cast<std::uint64_t>(keys);
  const auto own =
      static_cast<std::uint64_t>((from_->own().end - from_->own().begin) * kKeysPerRegion);
  fairlead_work(n * ops_per_key, n * sizeof(Key), 2 * own * sizeof(Key));
}

void Sort::count(int shift) {
  std::array<std::uint32_t, kRadix> counts{};
  const apps::Rows own = from_->own();
  for (std::int64_t region = own.begin; region < own.end; ++region) {
    const std::int64_t n = from_->keys_of(region);
    const fairlead::crl::read_guard<Key> keys(from_->map(region));
    for (std::int64_t i = 0; i < n; ++i) {
      ++counts[digit_of(keys[static_cast<std::size_t>(i)], shift)];
    }
    declare_work(kCountOps, n);
  }
  const fairlead::crl::write_guard<std::uint32_t> mine(counts_.mine());
  std::copy(counts.begin(), counts.end(), &mine[0]);
}

// Where this rank's keys of each digit begin: behind all smaller digits, and behind the keys of the
// same digit of lower ranks, so that the sort is stable.
void Sort::find_places() {
  std::array<std::int64_t, kRadix> all{};
  std::array<std::int64_t, kRadix> before{};
  const unsigned ranks = crl_num_nodes();
  for (unsigned rank = 0; rank < ranks; ++rank) {
    const fairlead::crl::read_guard<std::uint32_t> counts(counts_.of(rank));
    for (std::size_t digit = 0; digit < kRadix; ++digit) {
      if (rank < crl_self_addr()) before[digit] += counts[digit];
      all[digit] += counts[digit];
    }
  }
  if (fairlead_work != nullptr) fairlead_work(ranks * kRadix * 4, ranks * kRadix * 4, 0);
  std::int64_t smaller = 0;
  for (std::size_t digit = 0; digit < kRadix; ++digit) {
    buckets_[digit].next = smaller + before[digit];
    smaller += all[digit];
  }
}

void Sort::permute(int shift) {
  const apps::Rows own = from_->own();
  for (std::int64_t region = own.begin; region < own.end; ++region) {
    const std::int64_t n = from_->keys_of(region);
    // Nobody writes this array now, so that whoever waits for a region of the other one, here,
    // keeps nobody from going on.
    const fairlead::crl::read_guard<Key> keys(from_->map(region));
    for (std::int64_t i = 0; i < n; ++i) {
      const Key key = keys[static_cast<std::size_t>(i)];
      put(buckets_[digit_of(key, shift)], key);
    }
    declare_work(kPermuteOps, n);
  }
  for (Bucket& bucket : buckets_) empty(bucket);
}

void Sort::put(Bucket& bucket, Key key) {
  bucket.keys[static_cast<std::size_t>(bucket.waiting++)] = key;
  if ((bucket.next + bucket.waiting) % kKeysPerRegion == 0) empty(bucket);
}

// The keys that wait belong into one region.
void Sort::empty(Bucket& bucket) {
  if (bucket.waiting == 0) return;
  const auto at = static_cast<std::size_t>(bucket.next % kKeysPerRegion);
  const fairlead::crl::write_guard<Key> keys(to_->map(bucket.next / kKeysPerRegion));
  std::memcpy(&keys[at], bucket.keys.data(),
              static_cast<std::size_t>(bucket.waiting) * sizeof(Key));
  bucket.next += bucket.waiting;
  bucket.waiting = 0;
}

}  // namespace radix
