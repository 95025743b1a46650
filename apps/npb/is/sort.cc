#include "apps/npb/is/sort.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/npb/common/benchmark.h"
#include "apps/npb/common/random.h"

namespace npb {
namespace {

// Four numbers make a key.
constexpr std::uint64_t kNumbersPerKey = 4;
// Loads, stores, shifts and additions; guessed. Two passes fill the buckets, one counts.
constexpr std::uint64_t kOpsToFill = 9;
constexpr std::uint64_t kOpsToCount = 3;
constexpr std::uint64_t kOpsToAddUp = 3;

std::uint64_t bytes_of(std::size_t count) { return count * sizeof(std::int32_t); }

void add_up(const std::vector<int>& counts, std::vector<int>& places) {
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
}

// The share of keys below `part` of all values: keys are sums of four equal random parts.
double share_below(double part) {
  const double t = 4 * part;
  const double ways[] = {1, -4, 6, -4};
  double sum = 0;
  for (int k = 0; k < 4 && k < t; ++k) sum += ways[k] * std::pow(t - k, 4);
  return sum / 24;
}

}  // namespace

Sort::Sort(const SortClass& of, int rank, int ranks, bool declared)
    : class_(of),
      rank_(rank),
      ranks_(ranks),
      declared_(declared),
      own_begin_(of.keys() / ranks * rank),
      keys_(declared ? 0 : static_cast<std::size_t>(of.keys() / ranks)),
      in_buckets_(static_cast<std::size_t>(of.keys() / ranks)),
      sizes_(of.buckets() + kChecks),
      all_sizes_(sizes_.size()),
      bucket_ends_(static_cast<std::size_t>(ranks)),
      send_counts_(bucket_ends_.size()),
      send_places_(bucket_ends_.size()),
      receive_counts_(bucket_ends_.size()),
      receive_places_(bucket_ends_.size()) {
  make_keys();
}

void Sort::make_keys() {
  Random random(Random::kSeed);
  random.skip(kNumbersPerKey * static_cast<std::uint64_t>(own_begin_));
  const double scale = class_.key_end() / 4;
  for (std::int32_t& key : keys_) {
    double sum = 0;
    for (std::uint64_t i = 0; i < kNumbersPerKey; ++i) sum += random.next();
    key = static_cast<std::int32_t>(scale * sum);
  }
}

int Sort::rank_keys(int ranking) {
  if (rank_ == 0 && !declared_) {
    keys_[static_cast<std::size_t>(ranking)] = ranking;
    keys_[static_cast<std::size_t>(ranking + kRankings)] = class_.key_end() - ranking;
  }
  if (declared_) {
    imagine_buckets();
  } else {
    fill_buckets();
  }
  const std::size_t keys = in_buckets_.size();
  declare_work(keys * kOpsToFill, 3 * bytes_of(keys), 2 * bytes_of(keys));
  MPI_Allreduce(sizes_.data(), all_sizes_.data(), static_cast<int>(sizes_.size()), MPI_INT32_T,
                MPI_SUM, MPI_COMM_WORLD);
  share_buckets();
  send_keys();
  count_keys();
  return checks_passed(ranking);
}

void Sort::fill_buckets() {
  std::fill(sizes_.begin(), sizes_.end(), 0);
  for (std::size_t i = 0; i < kChecks; ++i) {
    const std::int64_t at = class_.checks[i].index - own_begin_;
    if (at < 0 || at >= static_cast<std::int64_t>(keys_.size())) continue;
    sizes_[class_.buckets() + i] = keys_[static_cast<std::size_t>(at)];
  }
  for (const std::int32_t key : keys_) ++sizes_[bucket_of(key)];
  std::vector<std::int32_t> next(class_.buckets());
  std::exclusive_scan(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(next.size()),
                      next.begin(), 0);
  for (const std::int32_t key : keys_) {
    in_buckets_[static_cast<std::size_t>(next[bucket_of(key)]++)] = key;
  }
}

void Sort::imagine_buckets() {
  std::int64_t before = 0;
  for (std::size_t bucket = 0; bucket < class_.buckets(); ++bucket) {
    const double end = static_cast<double>(bucket + 1) / static_cast<double>(class_.buckets());
    const double keys = static_cast<double>(in_buckets_.size()) * share_below(end);
    const auto up_to = static_cast<std::int64_t>(std::llround(keys));
    sizes_[bucket] = static_cast<std::int32_t>(up_to - before);
    before = up_to;
  }
}

// A rank gets buckets until the ranks so far have their share of all keys.
void Sort::share_buckets() {
  std::fill(send_counts_.begin(), send_counts_.end(), 0);
  std::fill(bucket_ends_.begin(), bucket_ends_.end(), class_.buckets());
  const std::int64_t share = class_.keys() / ranks_;
  std::size_t to = 0;
  std::int64_t given = 0;
  keys_before_ = 0;
  for (std::size_t bucket = 0; bucket < class_.buckets(); ++bucket) {
    send_counts_[to] += sizes_[bucket];
    given += all_sizes_[bucket];
    if (static_cast<int>(to) < rank_) keys_before_ = given;
    if (given < share * static_cast<std::int64_t>(to + 1)) continue;
    // Past the last key there may be empty buckets: the last rank gets them.
    if (to + 1 < bucket_ends_.size()) bucket_ends_[to++] = bucket + 1;
  }
}

void Sort::send_keys() {
  MPI_Alltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT, MPI_COMM_WORLD);
  add_up(send_counts_, send_places_);
  add_up(receive_counts_, receive_places_);
  received_.resize(static_cast<std::size_t>(receive_places_.back() + receive_counts_.back()));
  MPI_Alltoallv(in_buckets_.data(), send_counts_.data(), send_places_.data(), MPI_INT32_T,
                received_.data(), receive_counts_.data(), receive_places_.data(), MPI_INT32_T,
                MPI_COMM_WORLD);
}

void Sort::count_keys() {
  const auto own = static_cast<std::size_t>(rank_);
  const std::size_t begin = own == 0 ? 0 : bucket_ends_[own - 1];
  least_key_ = first_key_of(begin);
  const auto values = static_cast<std::size_t>(first_key_of(bucket_ends_[own]) - least_key_);
  declare_work(received_.size() * kOpsToCount + values * kOpsToAddUp,
               bytes_of(received_.size() + 2 * values), bytes_of(values));
  if (declared_) return;
  up_to_.assign(values, 0);
  for (const std::int32_t key : received_) ++up_to_[static_cast<std::size_t>(key - least_key_)];
  std::partial_sum(up_to_.begin(), up_to_.end(), up_to_.begin());
}

int Sort::checks_passed(int ranking) const {
  int passed = 0;
  for (std::size_t i = 0; i < kChecks; ++i) {
    const std::int64_t at = all_sizes_[class_.buckets() + i] - least_key_;
    if (at < 0 || at >= static_cast<std::int64_t>(up_to_.size())) continue;
    const std::int64_t here = at == 0 ? 0 : up_to_[static_cast<std::size_t>(at - 1)];
    const RankCheck& check = class_.checks[i];
    if (keys_before_ + here == check.rank + check.sign * (ranking + check.offset)) ++passed;
  }
  return passed;
}

bool Sort::sorted() {
  std::vector<std::int32_t> order(received_.size());
  for (const std::int32_t key : received_) {
    order[static_cast<std::size_t>(--up_to_[static_cast<std::size_t>(key - least_key_)])] = key;
  }
  bool good = std::is_sorted(order.begin(), order.end());
  // Keys are not negative, so a rank without keys passes on what there was before it.
  const std::int32_t greatest = order.empty() ? 0 : order.back();
  std::int32_t before = 0;
  MPI_Exscan(&greatest, &before, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
  if (rank_ != 0 && !order.empty()) good = good && before <= order.front();
  const auto count = static_cast<std::int64_t>(order.size());
  std::int64_t all = 0;
  MPI_Allreduce(&count, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return good && all == class_.keys();
}

}  // namespace npb
