// A bounded cache of other ranks' pages, with a working set that is larger, by every engine and
// protocol: nothing is lost, and no more is here than may be.
#include <fmt/format.h>

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
