// Pages that come before they are touched: as faults lie at equal distances, or as the program
// asks.
#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string>

#include "fairlead/systems/dsm/dsm.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using dsm::Counts;
using dsm::Dsm;
using dsm::EngineKind;
using dsm::kPageBytes;

constexpr std::size_t kPages = 256;

// What `access` to pages of rank 0, each of which has its number, counts at rank 1: nothing wrong
// is "", else why not.
std::string why_not(const dsm::Options& given,
                    const std::function<bool(Dsm&, volatile const unsigned*)>& access,
                    const std::function<bool(const Counts&)>& expected) {
  const Result<run::RunReport> report =
      run::run_world(options_of("shm", 2), [&](run::Context& context) {
        dsm::Options options = given;
        options.heap_bytes = (kPages + 64) * kPageBytes;
        Result<Dsm*> started = Dsm::start(context, options);
        if (!started.ok()) context.abort_job(1, started.error().text);
        Dsm& dsm = *started.value();
        static unsigned* pages;
        if (dsm.self() == 0) {
          pages = static_cast<unsigned*>(dsm.allocate(kPages * kPageBytes));
          for (unsigned page = 0; page < kPages; ++page) {
            pages[page * kPageBytes / sizeof(unsigned)] = page;
          }
          dsm.distribute(&pages, sizeof pages);
        }
        dsm.barrier();
        if (dsm.self() == 1) {
          if (!access(dsm, pages)) context.abort_job(1, "a page has another content");
          const Counts& counts = dsm.counts();
          if (!expected(counts)) {
            context.abort_job(1, fmt::format("{} faults, {} fetches, {} before they were touched",
                                             counts.faults, counts.fetches, counts.prefetched));
          }
        }
        dsm.stop();
        return 0;
      });
  if (!report.ok()) return report.error().text;
  return report.value().exit_code == 0 ? "" : report.value().failure;
}

bool has_number(volatile const unsigned* pages, std::size_t page) {
  return pages[page * kPageBytes / sizeof(unsigned)] == page;
}

TEST(DsmPrefetch, FollowsFaultsAtEqualDistances) {
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::mprotect}) {
    for (const std::ptrdiff_t stride : {1, 3, -2}) {
      constexpr std::size_t kRead = 80;
      const auto read = [stride](Dsm&, volatile const unsigned* pages) {
        std::ptrdiff_t page = stride < 0 ? kPages - 1 : 0;
        for (std::size_t i = 0; i < kRead; ++i, page += stride) {
          if (!has_number(pages, static_cast<std::size_t>(page))) return false;
        }
        return true;
      };
      dsm::Options options;
      options.engine = engine;
      // Expect: eight pages a fault, once two distances were equal.
      EXPECT_EQ(why_not(options, read,
                        [](const Counts& counts) {
                          return counts.faults <= kRead / 8 + 3 && counts.fetches >= kRead &&
                                 counts.prefetched == counts.fetches - counts.faults;
                        }),
                "")
          << "stride " << stride;
      // Expect: one at a time where that is asked for.
      options.ahead = false;
      EXPECT_EQ(why_not(options, read,
                        [](const Counts& counts) {
                          return counts.faults == kRead && counts.fetches == kRead &&
                                 counts.prefetched == 0;
                        }),
                "");
    }
  }
}

TEST(DsmPrefetch, OfARangeLeavesNoFaults) {
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::mprotect}) {
    dsm::Options options;
    options.engine = engine;
    EXPECT_EQ(
        why_not(
            options,
            [](Dsm& dsm, volatile const unsigned* pages) {
              dsm.prefetch(const_cast<const unsigned*>(pages), kPages * kPageBytes);
              for (std::size_t page = 0; page < kPages; page += 7) {
                if (!has_number(pages, page)) return false;
              }
              return true;
            },
            [](const Counts& counts) { return counts.faults == 0 && counts.fetches == kPages; }),
        "");
  }
}

}  // namespace
}  // namespace fairlead::port_test
