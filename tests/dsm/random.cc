// A program without races that any interleaving must leave right: bytes of many owners lie in the
// same pages, written under locks, within ranges, behind conditions and between barriers, and every
// byte is checked against what sequential memory has. It uses handles, so that it runs with every
// engine, and as fibers with the engine `checked`. Options are those of the environment.
// usage: dsm_random [SEED [ROUNDS | operations=COUNT]]
// COUNT: of loads and stores of all ranks, at least.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/dsm/handles.h"

FAIRLEAD_FIBER_PROGRAM;

namespace {

using fairlead::dsm::Dsm;
using fairlead::dsm::kPageBytes;
using fairlead::dsm::LockGuard;
using fairlead::dsm::RangeGuard;
using fairlead::dsm::Shared;

constexpr std::uint32_t kLocksUsed = 5;
constexpr std::uint32_t kGroups = 6;  // of bytes under a lock
constexpr std::size_t kPages = 3;     // of all those bytes
constexpr std::size_t kBytes = kPages * kPageBytes;
constexpr std::size_t kRangeBytes = 3000;  // not whole pages
constexpr std::size_t kRanges = 4;
constexpr std::uint32_t kRingLock = 77;

std::size_t scattered(std::size_t byte) { return (byte * 2654435761u) >> 7; }
unsigned char value(std::uint64_t count, std::size_t byte) {
  return count == 0 ? 0 : static_cast<unsigned char>(count * 37 + byte * 11);
}

// Shared elements, whose loads and stores are counted.
template <class T>
class Elements {
 public:
  Elements(Shared<T> shared, std::uint64_t& operations)
      : shared_(shared), operations_(&operations) {}
  T get(std::size_t i) const {
    ++*operations_;
    return shared_.get(i);
  }
  void set(std::size_t i, const T& value) const {
    ++*operations_;
    shared_.set(i, value);
  }
  std::size_t size() const { return shared_.size(); }
  T* address(std::size_t i) const { return shared_.address(i); }

 private:
  Shared<T> shared_;
  std::uint64_t* operations_;
};

class Program {
 public:
  Program(Dsm& dsm, unsigned seed)
      : dsm_(dsm),
        random_(seed * 1000 + dsm.self()),
        guarded_(Shared<unsigned char>::allocate(dsm, kBytes), operations_),
        by_phase_(Shared<unsigned char>::allocate(dsm, kBytes), operations_),
        ranged_(Shared<unsigned char>::allocate(dsm, kRanges * kRangeBytes), operations_),
        counters_(Shared<std::uint64_t>::allocate(dsm, kLocksUsed * kGroups), operations_),
        range_counts_(Shared<std::uint64_t>::allocate(dsm, kRanges), operations_),
        atomics_(Shared<std::uint64_t>::allocate(dsm, 3)),
        turn_(Shared<std::uint64_t>::allocate(dsm, 2), operations_) {
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      const std::size_t at = scattered(byte);
      bytes_[at % kLocksUsed][at / kLocksUsed % kGroups].push_back(byte);
    }
    // So that pages have their homes on all ranks.
    for (std::size_t byte = 0; byte < kBytes; byte += kPageBytes) {
      if (byte / kPageBytes % dsm.size() != dsm.self()) continue;
      guarded_.set(byte, 0);
      by_phase_.set(byte, 0);
    }
    dsm_.barrier();
  }

  void round(std::uint64_t number) {
    for (int i = 0; i < 4; ++i) section();
    for (int i = 0; i < 2; ++i) range();
    add();
    ring(number);
    phase(number);
  }
  // All there was, by the counters.
  void check() {
    (void)dsm_.fetch_add(atomics_.address(2), operations_);
    dsm_.barrier();
    all_operations_ = atomics_.get(2);
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < counters_.size(); ++i) all += counters_.get(i);
    FAIRLEAD_CHECK(all == sections_ * dsm_.size(), "{} sections", all);
    std::uint64_t ranges = 0;
    for (std::size_t i = 0; i < kRanges; ++i) ranges += range_counts_.get(i);
    FAIRLEAD_CHECK(ranges == ranges_ * dsm_.size(), "{} ranges", ranges);
    const std::uint64_t ranks = dsm_.size();
    FAIRLEAD_CHECK(atomics_.get(0) == added_ * (ranks * (ranks + 1) / 2), "{} added",
                   atomics_.get(0));
    FAIRLEAD_CHECK(atomics_.get(1) == added_ * ranks, "{} by compare-and-swap", atomics_.get(1));
    dsm_.barrier();
  }
  std::uint64_t sections() const { return sections_; }
  // This rank's, and those of all once check() was called.
  std::uint64_t operations() const { return operations_; }
  std::uint64_t all_operations() const { return all_operations_; }

 private:
  void section() {
    const auto lock = static_cast<std::uint32_t>(random_() % kLocksUsed);
    const auto group = static_cast<std::uint32_t>(random_() % kGroups);
    const LockGuard guard(dsm_, lock);
    const std::uint64_t count = counters_.get(lock * kGroups + group);
    for (const std::size_t byte : bytes_[lock][group]) {
      FAIRLEAD_CHECK(guarded_.get(byte) == value(count, byte), "byte {} of lock {}: {}, not {}",
                     byte, lock, guarded_.get(byte), value(count, byte));
    }
    counters_.set(lock * kGroups + group, count + 1);
    for (const std::size_t byte : bytes_[lock][group]) guarded_.set(byte, value(count + 1, byte));
    ++sections_;
  }

  // Ranges lie beside each other; their counts are in one page, whose ranges are held, too.
  void range() {
    const std::size_t which = random_() % kRanges;
    const RangeGuard guard(dsm_, ranged_.address(which * kRangeBytes), kRangeBytes, true);
    const RangeGuard counted(dsm_, range_counts_.address(which), sizeof(std::uint64_t), true);
    const std::uint64_t count = range_counts_.get(which);
    const std::size_t step = 1 + random_() % 7;
    for (std::size_t i = 0; i < kRangeBytes; i += step) {
      const std::size_t byte = which * kRangeBytes + i;
      FAIRLEAD_CHECK(ranged_.get(byte) == value(count, byte), "byte {} of a range: {}", byte,
                     ranged_.get(byte));
    }
    for (std::size_t i = 0; i < kRangeBytes; ++i) {
      const std::size_t byte = which * kRangeBytes + i;
      ranged_.set(byte, value(count + 1, byte));
    }
    range_counts_.set(which, count + 1);
    ++ranges_;
  }

  void add() {
    (void)dsm_.fetch_add(atomics_.address(0), dsm_.self() + 1);
    std::uint64_t seen = 0;
    for (;;) {
      const std::uint64_t old = dsm_.compare_swap(atomics_.address(1), seen, seen + 1);
      if (old == seen) break;
      seen = old;
    }
    ++added_;
  }

  // Each waits until all before it were there: once for each of them, in a round.
  void ring(std::uint64_t number) {
    const LockGuard guard(dsm_, kRingLock);
    const std::uint64_t mine = number * dsm_.size() + dsm_.self();
    while (turn_.get(0) != mine) dsm_.wait(kRingLock, 3);
    FAIRLEAD_CHECK(turn_.get(1) == mine * 7, "{} at turn {}", turn_.get(1), mine);
    turn_.set(1, (mine + 1) * 7);
    turn_.set(0, mine + 1);
    dsm_.broadcast(kRingLock, 3);
  }

  // Every byte has another owner in each phase.
  void phase(std::uint64_t number) {
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      if ((scattered(byte) + number) % dsm_.size() == dsm_.self()) {
        by_phase_.set(byte, value(number + 1, byte));
      }
    }
    dsm_.barrier();
    if (random_() % 2 == 0) dsm_.prefetch(by_phase_.address(0), kBytes);
    const std::size_t begin = random_() % kBytes;
    for (std::size_t byte = begin; byte < kBytes; byte += 1 + random_() % 50) {
      FAIRLEAD_CHECK(by_phase_.get(byte) == value(number + 1, byte), "byte {} of phase {}: {}",
                     byte, number, by_phase_.get(byte));
    }
    dsm_.barrier();
  }

  Dsm& dsm_;
  std::uint64_t operations_ = 0;
  std::uint64_t all_operations_ = 0;
  std::mt19937 random_;
  const Elements<unsigned char> guarded_;
  const Elements<unsigned char> by_phase_;
  const Elements<unsigned char> ranged_;
  const Elements<std::uint64_t> counters_;  // by lock and group: how often it was written
  const Elements<std::uint64_t> range_counts_;
  const Shared<std::uint64_t> atomics_;
  const Elements<std::uint64_t> turn_;
  std::vector<std::size_t> bytes_[kLocksUsed][kGroups];
  std::uint64_t sections_ = 0;
  std::uint64_t ranges_ = 0;
  std::uint64_t added_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  const std::string_view length = argc > 2 ? argv[2] : "10";
  constexpr std::string_view kOperations = "operations=";
  const bool counts_operations = length.starts_with(kOperations);
  const std::uint64_t wanted =
      std::strtoull(length.data() + (counts_operations ? kOperations.size() : 0), nullptr, 10);
  auto joined = fairlead::run::attach();
  if (!joined.ok()) return std::fprintf(stderr, "%s\n", joined.error().text.c_str()), 1;
  auto options = fairlead::dsm::Options::of_environment();
  if (!options.ok()) return std::fprintf(stderr, "%s\n", options.error().text.c_str()), 1;
  options.value().heap_bytes = std::size_t{4} << 20;
  auto started = Dsm::start(*joined.value(), options.value());
  if (!started.ok()) return std::fprintf(stderr, "%s\n", started.error().text.c_str()), 1;
  Dsm& dsm = *started.value();
  std::uint64_t sections = 0;
  std::uint64_t operations = 0;
  {
    Program program(dsm, seed);
    // All ranks know of rank 0's.
    const auto goes_on = [&](std::uint64_t rounds) {
      return counts_operations ? dsm.agree(program.operations()) * dsm.size() < wanted
                               : rounds < wanted;
    };
    for (std::uint64_t i = 0; goes_on(i); ++i) program.round(i);
    program.check();
    sections = program.sections() * dsm.size();
    operations = program.all_operations();
  }
  const fairlead::dsm::Counts counts = dsm.counts();
  FAIRLEAD_CHECK(dsm.size() == 1 || (counts.diffs > 0 && counts.invalidations > 0), "{} {}",
                 counts.diffs, counts.invalidations);
  if (dsm.self() == 0) {
    std::printf("%u ranks, %llu sections, %llu operations: as sequential memory\n", dsm.size(),
                static_cast<unsigned long long>(sections),
                static_cast<unsigned long long>(operations));
  }
  dsm.stop();
  return 0;
}
