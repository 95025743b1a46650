// Integer sort of the NAS benchmarks on page-based shared memory, as TreadMarks has it: each rank
// counts its own keys, adds them to one shared array of buckets under locks, and after a barrier
// reads all of it. Its pages move from rank to rank.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "apps/common/clock.h"
#include "apps/common/command_line.h"
#include "apps/common/share.h"
#include "apps/is/keys.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/dsm/tmk.h"

namespace is {
namespace {

const char kHelp[] =
    "Ranks integer keys ten times, in buckets shared by pages; NAS IS as TreadMarks has it.\n"
    "\n"
    "usage: is [options]\n"
    "  --class C     S (65,536 keys below 2,048) or A (8,388,608 below 524,288); default S\n"
    "  --paper       class A\n"
    "  --keys N      so many keys in place of a class, a power of two from 4096 to 8,388,608, as\n"
    "                dense as those of class S; of them the end alone is checked\n"
    "  --json        print one JSON object, with the seconds that the rankings take\n"
    "\n"
    "Every ranking is compared with the ranks that NAS publishes; at the end the keys are checked "
    "to\n"
    "be a sorted permutation.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 is\n"
    "  fairlead run -n 4 --on myrinet-p3 is\n";

constexpr unsigned kParts = 16;  // of the buckets, each with a lock
constexpr unsigned kBarrier = 1;

// What rank 0 allocates; all learn its addresses by Tmk_distribute.
struct Shared {
  std::int32_t* counts;             // by key, of the ranking under way
  std::int32_t* test_keys;          // of the checks
  std::int64_t (*sums)[kParts][2];  // by rank: keys of each part and their sum
};
Shared shared;

class Sort {
 public:
  explicit Sort(const Class& of)
      : class_(of),
        own_(apps::share_of(static_cast<int>(Tmk_proc_id), static_cast<int>(Tmk_nprocs), of.keys)),
        keys_(make_keys(of, own_.begin, own_.end)),
        counts_(static_cast<std::size_t>(of.key_end)) {}

  bool run() {
    bool good = true;
    for (int ranking = 1; ranking <= kRankings; ++ranking) good &= rank(ranking);
    return good && full();
  }

 private:
  std::size_t checks() const { return class_.published ? class_.checks.size() : 0; }
  apps::Rows part_of_keys(unsigned part) const {
    return apps::share_of(static_cast<int>(part), static_cast<int>(kParts), class_.key_end);
  }
  bool mine(std::int64_t index) const { return index >= own_.begin && index < own_.end; }
  std::int32_t& key(std::int64_t index) {
    return keys_[static_cast<std::size_t>(index - own_.begin)];
  }

  bool rank(int ranking) {
    if (mine(ranking)) key(ranking) = ranking;
    if (mine(ranking + kRankings)) {
      key(ranking + kRankings) = static_cast<std::int32_t>(class_.key_end - ranking);
    }
    for (std::size_t i = 0; i < checks(); ++i) {
      if (mine(class_.checks[i].index)) shared.test_keys[i] = key(class_.checks[i].index);
    }
    if (Tmk_proc_id == 0) std::fill_n(shared.counts, class_.key_end, 0);
    std::fill(counts_.begin(), counts_.end(), 0);
    for (const std::int32_t each : keys_) ++counts_[static_cast<std::size_t>(each)];
    fairlead_work(keys_.size() * 3, keys_.size() * 8, counts_.size() * 4);
    Tmk_barrier(kBarrier);
    add_counts();
    Tmk_barrier(kBarrier);
    std::int64_t before = 0;  // keys that are less
    for (std::int64_t k = 0; k < class_.key_end; ++k) {
      const auto at = static_cast<std::size_t>(k);
      counts_[at] = static_cast<std::int32_t>(before);
      before += shared.counts[at];
    }
    fairlead_work(counts_.size() * 2, counts_.size() * 8, counts_.size() * 8);
    bool good = before == class_.keys;
    for (std::size_t i = 0; i < checks(); ++i) {
      const Check& check = class_.checks[i];
      const std::int64_t expected = check.base + check.sign * (ranking - 1 + class_.first);
      good &= counts_[static_cast<std::size_t>(shared.test_keys[i])] == expected;
    }
    Tmk_barrier(kBarrier);
    return good;
  }

  // Each rank begins with another part, so that they do not wait for one lock.
  void add_counts() {
    for (unsigned i = 0; i < kParts; ++i) {
      const unsigned part = (i + Tmk_proc_id) % kParts;
      const apps::Rows keys = part_of_keys(part);
      Tmk_lock_acquire(part);
      for (auto at = static_cast<std::size_t>(keys.begin); at < static_cast<std::size_t>(keys.end);
           ++at) {
        shared.counts[at] += counts_[at];
      }
      Tmk_lock_release(part);
    }
    fairlead_work(counts_.size(), counts_.size() * 8, counts_.size() * 8);
  }

  // The shared counts say what the sorted keys are; each rank's own keys, part by part, must add up
  // to them.
  bool full() {
    for (unsigned part = 0; part < kParts; ++part) {
      const apps::Rows range = part_of_keys(part);
      std::int64_t* const sums = shared.sums[Tmk_proc_id][part];
      sums[0] = sums[1] = 0;
      for (const std::int32_t each : keys_) {
        if (each < range.begin || each >= range.end) continue;
        ++sums[0];
        sums[1] += each;
      }
    }
    Tmk_barrier(kBarrier);
    bool good = true;
    for (unsigned part = 0; part < kParts; ++part) {
      const apps::Rows range = part_of_keys(part);
      std::int64_t count = 0;
      std::int64_t sum = 0;
      for (unsigned rank = 0; rank < Tmk_nprocs; ++rank) {
        count += shared.sums[rank][part][0];
        sum += shared.sums[rank][part][1];
      }
      for (std::int64_t k = range.begin; k < range.end; ++k) {
        const std::int64_t here = shared.counts[static_cast<std::size_t>(k)];
        count -= here;
        sum -= here * k;
      }
      good &= count == 0 && sum == 0;
    }
    Tmk_barrier(kBarrier);
    return good;
  }

  const Class& class_;
  const apps::Rows own_;
  std::vector<std::int32_t> keys_;
  std::vector<std::int32_t> counts_;
};

int run(const Class& of, bool json) {
  if (Tmk_proc_id == 0) {
    const auto counts = static_cast<unsigned>(of.key_end) * 4;
    shared.counts = reinterpret_cast<std::int32_t*>(Tmk_malloc(counts));
    shared.test_keys = reinterpret_cast<std::int32_t*>(Tmk_malloc(64));
    shared.sums = reinterpret_cast<std::int64_t(*)[kParts][2]>(
        Tmk_malloc(Tmk_nprocs * static_cast<unsigned>(sizeof *shared.sums)));
    if (shared.counts == nullptr || shared.test_keys == nullptr || shared.sums == nullptr) {
      std::fprintf(stderr, "is: no memory; set FAIRLEAD_DSM_HEAP\n");
      Tmk_exit(1);
    }
    Tmk_distribute(&shared, sizeof shared);
  }
  Tmk_barrier(kBarrier);
  Sort sort(of);
  Tmk_barrier(kBarrier);
  const double begin = apps::seconds_now();
  if (!sort.run()) {
    std::fprintf(stderr, "is: rank %u: %s\n", Tmk_proc_id,
                 of.published ? "not the ranks that NAS publishes" : "the keys are not sorted");
    Tmk_exit(1);
  }
  if (Tmk_proc_id == 0 && json) {
    std::printf("{\"app\":\"is\",\"ranks\":%u,\"seconds\":%.9g}\n", Tmk_nprocs,
                apps::seconds_now() - begin);
  } else if (Tmk_proc_id == 0 && !of.published) {
    std::printf("is: %lld keys, %u ranks: %d rankings, sorted\n", static_cast<long long>(of.keys),
                Tmk_nprocs, kRankings);
  } else if (Tmk_proc_id == 0) {
    std::printf("is: class %c, %lld keys, %u ranks: %d rankings as published\n", of.name,
                static_cast<long long>(of.keys), Tmk_nprocs, kRankings);
  }
  Tmk_exit(0);
  return 0;
}

}  // namespace
}  // namespace is

int main(int argc, char** argv) {
  const is::Class* of = is::class_of('S');
  apps::CommandLine line;
  line.preset("--paper", [&] { of = is::class_of('A'); });
  line.valued("--class", [&](const char* name) {
    of = std::strlen(name) == 1 ? is::class_of(*name) : nullptr;
    return of != nullptr;
  });
  std::int64_t keys = 0;
  line.count("--keys", 4096, 8'388'608, keys);
  bool json = false;
  line.flag("--json", json);
  if (const auto over = line.read("is", is::kHelp, argc, argv)) return *over;
  if ((keys & (keys - 1)) != 0) {
    std::fprintf(stderr, "is: --keys must be a power of two\n");
    return 2;
  }
  Tmk_startup(argc, argv);
  return is::run(keys == 0 ? *of : is::class_like_s(keys), json);
}
