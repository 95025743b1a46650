// A program without races that any interleaving must leave right: bytes of many owners lie in the
// same pages, written under locks and between barriers, and every byte is checked against what
// sequential memory has. usage: dsm_random [SEED [ROUNDS]]
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/systems/dsm/dsm.h"

namespace {

using fairlead::dsm::Dsm;

constexpr std::uint32_t kLocksUsed = 5;
constexpr std::uint32_t kGroups = 6;  // of bytes under a lock
constexpr std::size_t kPages = 3;     // of all those bytes
constexpr std::size_t kBytes = kPages * fairlead::dsm::kPageBytes;

// Rank 0's addresses, which all learn by distribute().
struct Shared {
  unsigned char* guarded;
  std::uint64_t (*counters)[kGroups];  // by lock and group: how often it was written
  unsigned char* by_phase;
};
Shared shared;

std::size_t scattered(std::size_t byte) { return (byte * 2654435761u) >> 7; }
unsigned char value(std::uint64_t count, std::size_t byte) {
  return count == 0 ? 0 : static_cast<unsigned char>(count * 37 + byte * 11);
}

class Program {
 public:
  Program(Dsm& dsm, unsigned seed) : dsm_(dsm), random_(seed * 1000 + dsm.self()) {
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      const std::size_t at = scattered(byte);
      bytes_[at % kLocksUsed][at / kLocksUsed % kGroups].push_back(byte);
    }
  }

  void round(std::uint64_t number) {
    for (int i = 0; i < 4; ++i) section();
    phase(number);
  }
  std::uint64_t sections() const { return sections_; }

 private:
  void section() {
    const auto lock = static_cast<std::uint32_t>(random_() % kLocksUsed);
    const auto group = static_cast<std::uint32_t>(random_() % kGroups);
    dsm_.acquire(lock);
    std::uint64_t& count = shared.counters[lock][group];
    for (const std::size_t byte : bytes_[lock][group]) {
      FAIRLEAD_CHECK(shared.guarded[byte] == value(count, byte), "byte {} of lock {}: {}, not {}",
                     byte, lock, shared.guarded[byte], value(count, byte));
    }
    ++count;
    for (const std::size_t byte : bytes_[lock][group]) shared.guarded[byte] = value(count, byte);
    dsm_.release(lock);
    ++sections_;
  }

  // Every byte has another owner in each phase.
  void phase(std::uint64_t number) {
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      if ((scattered(byte) + number) % dsm_.size() == dsm_.self()) {
        shared.by_phase[byte] = value(number + 1, byte);
      }
    }
    dsm_.barrier();
    const std::size_t begin = random_() % kBytes;
    for (std::size_t byte = begin; byte < kBytes; byte += 1 + random_() % 50) {
      FAIRLEAD_CHECK(shared.by_phase[byte] == value(number + 1, byte), "byte {} of phase {}: {}",
                     byte, number, shared.by_phase[byte]);
    }
    dsm_.barrier();
  }

  Dsm& dsm_;
  std::mt19937 random_;
  std::vector<std::size_t> bytes_[kLocksUsed][kGroups];
  std::uint64_t sections_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
  auto joined = fairlead::run::attach();
  if (!joined.ok()) return std::fprintf(stderr, "%s\n", joined.error().text.c_str()), 1;
  fairlead::dsm::Options options;
  options.heap_bytes = std::size_t{4} << 20;
  const char* const engine = std::getenv("DSM_RANDOM_ENGINE");
  if (engine != nullptr) options.engine = fairlead::dsm::EngineKind::mprotect;
  auto started = Dsm::start(*joined.value(), options);
  if (!started.ok()) return std::fprintf(stderr, "%s\n", started.error().text.c_str()), 1;
  Dsm& dsm = *started.value();
  if (dsm.self() == 0) {
    shared.guarded = static_cast<unsigned char*>(dsm.allocate(kBytes));
    shared.counters = static_cast<std::uint64_t(*)[kGroups]>(
        dsm.allocate(sizeof(std::uint64_t) * kGroups * kLocksUsed));
    shared.by_phase = static_cast<unsigned char*>(dsm.allocate(kBytes));
    dsm.distribute(&shared, sizeof shared);
  }
  dsm.barrier();
  // So that pages have their homes on all ranks.
  for (std::size_t byte = 0; byte < kBytes; byte += fairlead::dsm::kPageBytes) {
    if (byte / fairlead::dsm::kPageBytes % dsm.size() != dsm.self()) continue;
    shared.guarded[byte] = 0;
    shared.by_phase[byte] = 0;
  }
  dsm.barrier();
  Program program(dsm, seed);
  for (int i = 0; i < rounds; ++i) program.round(static_cast<std::uint64_t>(i));
  // All sections there were, by the counters.
  std::uint64_t all = 0;
  for (std::uint32_t lock = 0; lock < kLocksUsed; ++lock) {
    for (std::uint32_t group = 0; group < kGroups; ++group) all += shared.counters[lock][group];
  }
  FAIRLEAD_CHECK(all == program.sections() * dsm.size(), "{} sections", all);
  const fairlead::dsm::Counts counts = dsm.counts();
  FAIRLEAD_CHECK(dsm.size() == 1 || (counts.diffs > 0 && counts.invalidations > 0), "{} {}",
                 counts.diffs, counts.invalidations);
  if (dsm.self() == 0) {
    std::printf("%u ranks, %llu sections: as sequential memory\n", dsm.size(),
                static_cast<unsigned long long>(all));
  }
  dsm.stop();
  return 0;
}
