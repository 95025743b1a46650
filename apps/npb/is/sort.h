// One rank's part of the integer sort of the NAS Parallel Benchmarks: keys go into buckets by their
// upper bits, contiguous buckets to the ranks, and each rank counts the keys that it then has.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace npb {

constexpr int kRankings = 10;  // that NAS publishes ranks of

// In ranking `i`, key `index` has rank + sign * (i + offset) keys before it.
struct RankCheck {
  std::int64_t index;
  std::int64_t rank;
  int sign;
  int offset;
};
constexpr std::size_t kChecks = 5;

struct SortClass {
  char name;
  int keys_log2;
  int key_end_log2;  // keys are below 2 to this
  int buckets_log2;
  std::array<RankCheck, kChecks> checks;

  std::int64_t keys() const { return std::int64_t{1} << keys_log2; }
  std::int32_t key_end() const { return std::int32_t{1} << key_end_log2; }
  std::size_t buckets() const { return std::size_t{1} << buckets_log2; }
};

// Calls other than the constructor's are collective over MPI_COMM_WORLD. `ranks` divides the keys.
class Sort {
 public:
  // declared: there are no keys, and each bucket has as many as it has on average.
  Sort(const SortClass& of, int rank, int ranks, bool declared);

  // Ranks all keys. ranking: 1 to kRankings; it changes two keys of rank 0 as NPB says. Returns the
  // checks whose key has come to this rank and has as many keys before it as published.
  int rank_keys(int ranking);
  // After a ranking: true if this rank's keys, put where their ranks say, are in order, lie between
  // those of the ranks before and behind, and no key is lost.
  bool sorted();

 private:
  void make_keys();
  void fill_buckets();
  void imagine_buckets();
  void share_buckets();
  void send_keys();
  void count_keys();
  int checks_passed(int ranking) const;

  std::size_t bucket_of(std::int32_t key) const {
    return static_cast<std::size_t>(key >> (class_.key_end_log2 - class_.buckets_log2));
  }
  std::int32_t first_key_of(std::size_t bucket) const {
    return static_cast<std::int32_t>(bucket << (class_.key_end_log2 - class_.buckets_log2));
  }

  const SortClass& class_;
  const int rank_;
  const int ranks_;
  const bool declared_;
  const std::int64_t own_begin_;  // number of the first key of this rank
  std::vector<std::int32_t> keys_;
  std::vector<std::int32_t> in_buckets_;  // the keys by bucket
  // By bucket, and behind them the keys of the checks, which travel in the same reduction.
  std::vector<std::int32_t> sizes_;
  std::vector<std::int32_t> all_sizes_;
  std::vector<std::size_t> bucket_ends_;  // by rank: behind the last bucket that it gets
  std::vector<int> send_counts_;
  std::vector<int> send_places_;
  std::vector<int> receive_counts_;
  std::vector<int> receive_places_;
  std::vector<std::int32_t> received_;
  std::int32_t least_key_ = 0;       // that this rank may get
  std::int64_t keys_before_ = 0;     // on the ranks before this one
  std::vector<std::int32_t> up_to_;  // by key from least_key_: received keys that are not greater
};

}  // namespace npb
