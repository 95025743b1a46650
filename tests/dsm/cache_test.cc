// A bounded cache of other ranks' pages, with a working set that is larger, by every engine and
// protocol: nothing is lost, and no more is here than may be.
#include <fmt/format.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "fairlead/systems/dsm/handles.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using dsm::Dsm;
using dsm::EngineKind;
using dsm::kPageBytes;
using dsm::Shared;

constexpr std::size_t kPages = 100;
constexpr std::size_t kCache = 24;

struct Setting {
  std::string world;
  EngineKind engine;
};

std::string why_not(const Setting& setting, const dsm::Protocol& protocol, bool ahead) {
  const Result<run::RunReport> report =
      run::run_world(options_of(setting.world, 3), [&](run::Context& context) {
        dsm::Options options;
        options.heap_bytes = (kPages + 64) * kPageBytes;
        options.protocol = protocol;
        options.engine = setting.engine;
        options.ahead = ahead;
        options.cache_pages = kCache;
        Result<Dsm*> started = Dsm::start(context, options);
        if (!started.ok()) context.abort_job(1, started.error().text);
        Dsm& dsm = *started.value();
        const auto bytes = Shared<unsigned char>::allocate(dsm, kPages * kPageBytes);
        for (std::size_t page = dsm.self(); page < kPages; page += 3)
          bytes.set(page * kPageBytes, 0);
        dsm.barrier();
        for (int round = 1; round <= 4; ++round) {
          // Each rank has a byte of every page; every other round it takes them from behind, so
          // that what came last is wanted first.
          for (std::size_t i = 0; i < kPages; ++i) {
            const std::size_t page = round % 2 == 0 ? kPages - 1 - i : i;
            bytes.set(page * kPageBytes + 7 * dsm.self(), static_cast<unsigned char>(round + page));
          }
          for (std::size_t page = 0; page < kPages; ++page) {
            const unsigned char found = bytes.get(page * kPageBytes + 7 * dsm.self());
            if (found != static_cast<unsigned char>(round + page)) {
              context.abort_job(1, fmt::format("page {} lost what its rank wrote", page));
            }
          }
          dsm.barrier();
          for (std::size_t page = 0; page < kPages; ++page) {
            for (std::size_t rank = 0; rank < 3; ++rank) {
              const unsigned char found = bytes.get(page * kPageBytes + 7 * rank);
              if (found != static_cast<unsigned char>(round + page)) {
                context.abort_job(1, fmt::format("page {}: {} of rank {}", page, found, rank));
              }
            }
          }
          dsm.barrier();
        }
        // Expect: what came has gone, but for what may be here.
        const dsm::Counts counts = dsm.counts();
        const std::uint64_t here = counts.fetches - counts.evictions - counts.invalidations;
        if (counts.evictions == 0 || here > kCache) {
          context.abort_job(1, fmt::format("{} pages here, {} went out", here, counts.evictions));
        }
        dsm.stop();
        return 0;
      });
  if (!report.ok()) return report.error().text;
  return report.value().exit_code == 0 ? "" : "failed: " + report.value().failure;
}

void expect_good(const Setting& setting) {
  for (const dsm::ProtocolName& protocol : dsm::kProtocolNames) {
    for (const bool ahead : {false, true}) {
      EXPECT_EQ(why_not(setting, {protocol.fetch, protocol.diff, false}, ahead), "")
          << protocol.name;
    }
  }
}

TEST(DsmCache, LosesNothingWhereTheKernelTellsOfWrites) {
  const std::string why = why_not({"shm", EngineKind::uffd}, {}, true);
  if (why.starts_with("rank") || why.find("userfaultfd") != std::string::npos) GTEST_SKIP() << why;
  expect_good({"shm", EngineKind::uffd});
}
TEST(DsmCache, LosesNothingByProtections) { expect_good({"shm", EngineKind::mprotect}); }
TEST(DsmCache, LosesNothingWhereTheProgramSays) {
  for (const char* const world : {"loop", "generic-hca", "myrinet-p3/sdma"}) {
    expect_good({world, EngineKind::checked});
  }
}
TEST(DsmCache, LosesNothingOverUdp) { expect_good({"udp", EngineKind::automatic}); }

// Pages of this process's memory that are there.
std::size_t resident_pages() {
  std::ifstream in("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  in >> all >> resident;
  return resident;
}

// By how many pages rank 1 grows as it reads and writes each of `kSweep` that rank 0 has.
constexpr std::size_t kSweep = 4096;
std::size_t growth(EngineKind engine, std::size_t cache_pages) {
  const Result<run::RunReport> report =
      run::run_world(options_of("shm", 2), [&](run::Context& context) {
        dsm::Options options;
        options.heap_bytes = (kSweep + 64) * kPageBytes;
        options.engine = engine;
        options.cache_pages = cache_pages;
        Result<Dsm*> started = Dsm::start(context, options);
        if (!started.ok()) context.abort_job(1, started.error().text);
        Dsm& dsm = *started.value();
        const auto bytes = Shared<unsigned char>::allocate(dsm, kSweep * kPageBytes);
        for (std::size_t page = 0; page < kSweep && dsm.self() == 0; ++page) {
          bytes.set(page * kPageBytes, 1);
        }
        dsm.barrier();
        if (dsm.self() == 1) {
          const std::size_t before = resident_pages();
          for (std::size_t page = 0; page < kSweep; ++page) {
            bytes.set(page * kPageBytes + 1, bytes.get(page * kPageBytes));
          }
          context.abort_job(1, fmt::format("grew by {} pages", resident_pages() - before));
        }
        dsm.barrier();
        return 0;
      });
  if (!report.ok()) return 0;
  const std::string& words = report.value().failure;
  const std::size_t at = words.find("grew by ");
  return at == std::string::npos ? 0 : std::stoul(words.substr(at + 8));
}

// Neither the pages that go out nor their twins keep memory. Those of rank 0 are mapped here, and
// count as this rank's, too.
TEST(DsmCache, BoundsTheMemoryThatPagesTake) {
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::mprotect}) {
    // Expect: without a limit each page takes two more, itself and its twin; with one, nearly none.
    EXPECT_GE(growth(engine, 0), 3 * kSweep);
    const std::size_t bounded = growth(engine, 64);
    EXPECT_GE(bounded, kSweep);
    EXPECT_LT(bounded, kSweep + kSweep / 4);
  }
}

TEST(DsmCache, RefusesALimitThatAnInstructionMayNeed) {
  const Result<run::RunReport> report =
      run::run_world(options_of("shm", 1), [](run::Context& context) {
        dsm::Options options;
        options.cache_pages = dsm::kCacheMin - 1;
        const Result<Dsm*> started = Dsm::start(context, options);
        if (started.ok()) return 2;
        return started.error().text.find("a cache of 15 pages: at least 16") != std::string::npos
                   ? 0
                   : 3;
      });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
}

}  // namespace
}  // namespace fairlead::port_test
