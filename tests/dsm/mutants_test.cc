// Each check of the protocol passes as it is, and fails under the defects that it is there for
// (mutants.h). The worlds are modelled where an order of events matters, so that it is the same at
// every run: ranks are fibers that say what they access.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "fairlead/systems/dsm/handles.h"
#include "fairlead/systems/dsm/mutants.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using dsm::Dsm;
using dsm::EngineKind;
using dsm::kPageBytes;
using dsm::Mutant;
using dsm::Shared;

// Which test ends which defect, and by what words.
struct Row {
  Mutant mutant;
  const char* test;
  const char* words;
};
constexpr Row kRows[] = {
    {Mutant::page_before_version, "AFetchedPageHasWhatItsVersionSays", "byte 0"},
    {Mutant::version_ignored, "AFetchedPageHasWhatItsVersionSays", "byte 0"},
    {Mutant::bytes_by_words, "WritersOfNeighbouringBytesLoseNothing", "byte 0"},
    {Mutant::gaps_bridged, "BytesBetweenTwoChangesStayTheirWriters", "byte 16"},
    {Mutant::changes_not_sent, "ABarrierBringsChangesToWhoHadNoCopy", "byte 0"},
    {Mutant::changes_not_told, "ABarrierPutsOldCopiesOut", "byte 0"},
    {Mutant::write_not_found, "AScanOfManyPagesFindsAllThatWereWritten", "page"},
    {Mutant::old_twin, "ChangesGoHomeOnce", "byte 0"},
    {Mutant::no_twin, "ATwinIsThePageThatWasFetched", "byte 8"},
    {Mutant::acquire_without_flush, "AnAcquireKeepsWhatItsRankWrote", "byte 0"},
    {Mutant::own_changes_forgotten, "APageComesBackWithItsRanksOwnChanges", "byte 0"},
    {Mutant::two_homes, "APageHasOneHome", "deadlock"},
    {Mutant::last_arrival_unheard, "ABarrierTellsOfEveryRanksChanges", "byte"},
    {Mutant::grant_without_notices, "ALockBringsWhatWasWrittenBeforeItsRelease", "byte 0"},
    {Mutant::interval_torn, "AnIntervalsNoticesComeWhole", "byte 4096"},
    {Mutant::waiters_lost, "EveryWaiterHasTheLockInTurn", "a lock"},
    {Mutant::queue_tail_lost, "EveryWaiterHasTheQueuedLockInTurn", "deadlock"},
    {Mutant::records_unread, "AQueuedLockBringsWhatWasWrittenBeforeItsRelease", "byte 0"},
    {Mutant::one_of_all_woken, "ABroadcastWakesAllWhoWait", "a condition"},
    {Mutant::ranges_meet, "AReaderOfARangeWaitsForItsWriter", "byte 0"},
    {Mutant::evicted_unwritten, "APageThatGoesOutTakesItsChangesHome", "byte"},
    {Mutant::atomic_not_told, "AnAtomicPutsOldCopiesOut", "byte 0"},
};

constexpr std::size_t kPages = 4;

struct Plan {
  const char* protocol = "newgen-full";
  std::string world = "generic-hca";
  EngineKind engine = EngineKind::checked;
  std::size_t pages = kPages;
  std::size_t cache_pages = 0;
};

// One rank's view of `pages` pages, whose homes are rank 0.
class Job {
 public:
  Job(run::Context& context, Dsm& dsm, std::size_t pages)
      : context_(context),
        dsm_(dsm),
        bytes_(Shared<unsigned char>::allocate(dsm, pages * kPageBytes)),
        pages_(pages) {}

  Dsm& dsm() { return dsm_; }
  Rank self() const { return dsm_.self(); }
  bool is(Rank rank) const { return self() == rank; }
  unsigned char get(std::size_t byte) const { return bytes_.get(byte); }
  void set(std::size_t byte, int value) { bytes_.set(byte, static_cast<unsigned char>(value)); }
  unsigned char* address(std::size_t byte) const { return bytes_.address(byte); }
  // As a rank that touched them first.
  void own_pages() {
    for (std::size_t page = 0; is(0) && page < pages_; ++page) set(page * kPageBytes, 0);
    dsm_.barrier();
  }
  void start_clock() {
    dsm_.barrier();
    began_ = context_.port().now();
  }
  // Until so long after start_clock(), while it serves others.
  void wait_until(double us) {
    while (context_.port().now() < at(us)) {
      (void)context_.port().wait({.deadline = at(us), .what = "a time"});
    }
  }
  // As above, but it computes.
  void compute_until(double us) {
    while (context_.port().now() < at(us)) context_.port().charge({.ops = 200});
  }
  void expect(std::size_t byte, int value) {
    const int found = get(byte);
    if (found != value) {
      context_.abort_job(1, fmt::format("byte {}: {}, not {}", byte, found, value));
    }
  }
  void fail(const std::string& text) { context_.abort_job(1, text); }

 private:
  Ps at(double us) const { return began_ + nanoseconds(static_cast<std::int64_t>(us * 1000)); }

  run::Context& context_;
  Dsm& dsm_;
  Shared<unsigned char> bytes_;
  std::size_t pages_;
  Ps began_{};
};

using Body = std::function<void(Job&)>;

// How a job of three ranks ended; "": well.
std::string end_of(const Plan& plan, Mutant mutant, const Body& body) {
  dsm::chosen_mutant = mutant;
  const Result<run::RunReport> report =
      run::run_world(options_of(plan.world, 3), [&](run::Context& context) {
        dsm::Options options;
        options.heap_bytes = (plan.pages + 64) * kPageBytes;
        options.protocol = dsm::protocol_of(plan.protocol).value();
        options.engine = plan.engine;
        options.ahead = false;
        options.cache_pages = plan.cache_pages;
        options.wake = dsm::WakeKind::never;
        Result<Dsm*> started = Dsm::start(context, options);
        if (!started.ok()) context.abort_job(1, started.error().text);
        {
          Job job(context, *started.value(), plan.pages);
          body(job);
        }
        started.value()->stop();
        return 0;
      });
  dsm::chosen_mutant = Mutant::none;
  if (!report.ok()) return report.error().text;
  if (report.value().exit_code == 0) return "";
  return "failed: " + report.value().failure;
}

// The check that the current test makes passes, and fails with each of its defects.
void expect_kills(const Plan& plan, const Body& body) {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  EXPECT_EQ(end_of(plan, Mutant::none, body), "");
  std::size_t tried = 0;
  for (const Row& row : kRows) {
    if (name != row.test) continue;
    ++tried;
    const std::string end = end_of(plan, row.mutant, body);
    EXPECT_NE(end, "") << "not noticed: mutant " << static_cast<int>(row.mutant);
    EXPECT_NE(end.find(row.words), std::string::npos)
        << "mutant " << static_cast<int>(row.mutant) << " ended by: " << end;
  }
  EXPECT_NE(tried, 0u) << "no defect is named for this test";
}

TEST(DsmMutants, EachHasATestThatEndsIt) {
  const ::testing::TestSuite& suite = *::testing::UnitTest::GetInstance()->current_test_suite();
  for (int each = 1; each < static_cast<int>(Mutant::count); ++each) {
    const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& at) {
      return static_cast<int>(at.mutant) == each;
    });
    ASSERT_NE(row, std::end(kRows)) << "mutant " << each;
    bool found = false;
    for (int i = 0; i < suite.total_test_count(); ++i) {
      found = found || std::string(suite.GetTestInfo(i)->name()) == row->test;
    }
    EXPECT_TRUE(found) << row->test;
  }
}

// The home applies a writer's changes at another time in each round, so that it does so between any
// two steps of the reader's fetch in one of them.
TEST(DsmMutants, AFetchedPageHasWhatItsVersionSays) {
  expect_kills({"ardmar+async"}, [](Job& job) {
    job.own_pages();
    for (int round = 1; round <= 60; ++round) {
      job.start_clock();
      if (job.is(0)) job.compute_until(100 + 0.5 * round);
      if (job.is(1)) {
        job.dsm().acquire(2);
        job.set(0, round);
        job.dsm().release(2);
      }
      if (job.is(2)) {
        job.wait_until(110);
        job.dsm().acquire(2);
        job.expect(0, round);
        job.dsm().release(2);
      }
    }
  });
}

// Two ranks write `first` and `second` of a page that both have; the one of `second` is the last to
// bring its changes home.
void write_together(Job& job, const std::vector<std::size_t>& first,
                    const std::vector<std::size_t>& second) {
  job.own_pages();
  (void)job.get(0);
  job.start_clock();
  if (job.is(1)) {
    for (const std::size_t byte : first) job.set(byte, 5);
  }
  if (job.is(2)) {
    for (const std::size_t byte : second) job.set(byte, 7);
    job.wait_until(200);
  }
  job.dsm().barrier();
  for (const std::size_t byte : first) job.expect(byte, 5);
  for (const std::size_t byte : second) job.expect(byte, 7);
}

TEST(DsmMutants, WritersOfNeighbouringBytesLoseNothing) {
  expect_kills({}, [](Job& job) { write_together(job, {0, 2, 4}, {1, 3}); });
}

TEST(DsmMutants, BytesBetweenTwoChangesStayTheirWriters) {
  expect_kills({}, [](Job& job) { write_together(job, {16}, {0, 32}); });
}

TEST(DsmMutants, ABarrierBringsChangesToWhoHadNoCopy) {
  expect_kills({}, [](Job& job) {
    job.own_pages();
    if (job.is(1)) job.set(0, 5);
    job.dsm().barrier();
    if (job.is(2)) job.expect(0, 5);
  });
}

TEST(DsmMutants, ABarrierPutsOldCopiesOut) {
  expect_kills({}, [](Job& job) {
    job.own_pages();
    job.expect(0, 0);
    job.dsm().barrier();
    if (job.is(1)) job.set(0, 5);
    job.dsm().barrier();
    job.expect(0, 5);
  });
}

TEST(DsmMutants, ABarrierTellsOfEveryRanksChanges) {
  expect_kills({}, [](Job& job) {
    job.own_pages();
    for (std::size_t rank = 0; rank < 3; ++rank) job.expect(rank * kPageBytes, 0);
    job.dsm().barrier();
    job.set(job.self() * kPageBytes, 5);
    job.dsm().barrier();
    for (std::size_t rank = 0; rank < 3; ++rank) job.expect(rank * kPageBytes, 5);
  });
}

TEST(DsmMutants, ChangesGoHomeOnce) {
  expect_kills({}, [](Job& job) {
    job.own_pages();
    job.start_clock();
    if (job.is(1)) {
      job.dsm().acquire(0);
      job.set(0, 5);
      job.dsm().release(0);
      job.wait_until(400);
      // Expect: another lock brings no news of the byte, and takes no old value of it home.
      job.dsm().acquire(1);
      job.set(100, 1);
      job.dsm().release(1);
    }
    if (job.is(2)) {
      job.wait_until(200);
      job.dsm().acquire(0);
      job.set(0, 7);
      job.dsm().release(0);
    }
    job.dsm().barrier();
    job.expect(0, 7);
  });
}

TEST(DsmMutants, ATwinIsThePageThatWasFetched) {
  expect_kills({}, [](Job& job) {
    job.own_pages();
    if (job.is(0)) job.set(8, 5);
    job.dsm().barrier();
    (void)job.get(8);
    job.start_clock();
    if (job.is(2)) job.set(8, 7);
    if (job.is(1)) {
      job.set(0, 1);
      job.wait_until(200);
    }
    job.dsm().barrier();
    job.expect(8, 7);
  });
}

TEST(DsmMutants, AnAcquireKeepsWhatItsRankWrote) {
  expect_kills({}, [](Job& job) {
    job.own_pages();
    (void)job.get(0);
    job.start_clock();
    if (job.is(2)) {
      job.dsm().acquire(0);
      job.set(8, 7);
      job.dsm().release(0);
    }
    if (job.is(1)) {
      job.set(0, 5);
      job.wait_until(200);
      job.dsm().acquire(0);
      job.expect(8, 7);
      job.expect(0, 5);
      job.dsm().release(0);
    }
  });
}

TEST(DsmMutants, APageComesBackWithItsRanksOwnChanges) {
  expect_kills({"ardmar+async"}, [](Job& job) {
    job.own_pages();
    (void)job.get(0);
    job.start_clock();
    if (job.is(2)) {
      job.dsm().acquire(2);
      job.set(8, 7);
      job.dsm().release(2);
      job.wait_until(600);
    }
    if (job.is(1)) {
      job.wait_until(200);
      job.dsm().acquire(1);
      job.set(0, 5);
      job.dsm().release(1);
      job.dsm().acquire(2);
      job.expect(8, 7);
      job.expect(0, 5);
      job.dsm().release(2);
    }
    if (job.is(0)) {
      job.wait_until(150);
      job.compute_until(600);
    }
  });
}

TEST(DsmMutants, APageHasOneHome) {
  expect_kills({}, [](Job& job) {
    if (job.is(0)) {
      for (std::size_t page = 0; page < kPages; ++page) job.set(page * kPageBytes, 5);
    }
    job.start_clock();
    if (job.is(1)) {
      for (std::size_t page = 0; page < kPages; ++page) job.expect(page * kPageBytes, 5);
    }
  });
}

void pass_on_by_a_lock(Job& job) {
  job.own_pages();
  (void)job.get(0);
  job.start_clock();
  if (job.is(1)) {
    job.dsm().acquire(0);
    job.set(0, 5);
    job.dsm().release(0);
  }
  if (job.is(2)) {
    job.wait_until(200);
    job.dsm().acquire(0);
    job.expect(0, 5);
    job.dsm().release(0);
  }
}

TEST(DsmMutants, ALockBringsWhatWasWrittenBeforeItsRelease) {
  expect_kills({"async"}, pass_on_by_a_lock);
}

TEST(DsmMutants, AQueuedLockBringsWhatWasWrittenBeforeItsRelease) {
  expect_kills({"newgen-full"}, pass_on_by_a_lock);
}

TEST(DsmMutants, AnIntervalsNoticesComeWhole) {
  expect_kills({"async"}, [](Job& job) {
    job.own_pages();
    for (std::size_t page = 0; page < 2; ++page) (void)job.get(page * kPageBytes);
    job.start_clock();
    if (job.is(1)) {
      job.dsm().acquire(0);
      for (std::size_t page = 0; page < 2; ++page) job.set(page * kPageBytes, 5);
      job.dsm().release(0);
    }
    if (job.is(2)) {
      job.wait_until(200);
      job.dsm().acquire(0);
      for (std::size_t page = 0; page < 2; ++page) job.expect(page * kPageBytes, 5);
      job.dsm().release(0);
    }
  });
}

void take_turns(Job& job) {
  job.own_pages();
  for (int turn = 0; turn < 3; ++turn) {
    job.dsm().acquire(1);
    job.set(0, job.get(0) + 1);
    job.dsm().release(1);
  }
  job.dsm().barrier();
  job.expect(0, 9);
}

TEST(DsmMutants, EveryWaiterHasTheLockInTurn) { expect_kills({"async"}, take_turns); }

TEST(DsmMutants, EveryWaiterHasTheQueuedLockInTurn) {
  // Expect: one that comes while the lock is released has it, too, at whatever moment it comes.
  expect_kills({"newgen-full"}, [](Job& job) {
    job.own_pages();
    for (int round = 0; round < 40; ++round) {
      job.start_clock();
      if (job.is(0)) job.wait_until(100);
      if (job.is(2)) job.compute_until(80 + round);
      if (!job.is(1)) {
        job.dsm().acquire(1);
        job.set(0, job.get(0) + 1);
        job.dsm().release(1);
      }
    }
    job.dsm().barrier();
    job.expect(0, 80);
  });
}

TEST(DsmMutants, ABroadcastWakesAllWhoWait) {
  expect_kills({}, [](Job& job) {
    job.own_pages();
    job.start_clock();
    if (job.is(0)) job.wait_until(300);
    job.dsm().acquire(1);
    if (job.is(0)) {
      job.set(0, 5);
      job.dsm().broadcast(1, 4);
    } else {
      while (job.get(0) != 5) job.dsm().wait(1, 4);
    }
    job.dsm().release(1);
  });
}

TEST(DsmMutants, AReaderOfARangeWaitsForItsWriter) {
  expect_kills({}, [](Job& job) {
    job.own_pages();
    job.start_clock();
    if (job.is(1)) {
      const std::uint32_t held = job.dsm().acquire_range(job.address(0), 8, true);
      job.set(0, 5);
      job.wait_until(400);
      job.dsm().release_range(held);
    }
    if (job.is(2)) {
      job.wait_until(200);
      const std::uint32_t held = job.dsm().acquire_range(job.address(0), 8, false);
      job.expect(0, 5);
      job.dsm().release_range(held);
    }
  });
}

TEST(DsmMutants, AnAtomicPutsOldCopiesOut) {
  expect_kills({}, [](Job& job) {
    job.own_pages();
    job.expect(0, 0);
    job.dsm().barrier();
    if (job.is(1)) {
      (void)job.dsm().fetch_add(reinterpret_cast<std::uint64_t*>(job.address(0)), 5);
    }
    job.dsm().barrier();
    job.expect(0, 5);
  });
}

TEST(DsmMutants, APageThatGoesOutTakesItsChangesHome) {
  Plan plan;
  plan.pages = 40;
  plan.cache_pages = dsm::kCacheMin;
  expect_kills(plan, [](Job& job) {
    job.own_pages();
    if (job.is(1)) {
      for (std::size_t page = 0; page < 40; ++page) job.set(page * kPageBytes, 5);
      for (std::size_t page = 0; page < 40; ++page) job.expect(page * kPageBytes, 5);
    }
    job.dsm().barrier();
    for (std::size_t page = 0; page < 40; ++page) job.expect(page * kPageBytes, 5);
  });
}

// More runs of written pages than one call of the kernel lists.
// With the defect each scan takes 512 pages home. The array has more pages than all scans up to the
// job's end take home, as a writer may get there before others look at what it wrote.
TEST(DsmMutants, AScanOfManyPagesFindsAllThatWereWritten) {
  constexpr std::size_t kMany = 4400;
  const Plan plan{"newgen-full", "shm", EngineKind::uffd, kMany};
  if (end_of(plan, Mutant::none, [](Job&) {}) != "") {
    GTEST_SKIP() << "this system has no such engine";
  }
  expect_kills(plan, [](Job& job) {
    job.own_pages();
    if (job.is(1)) {
      for (std::size_t page = 0; page < kMany; page += 2) {
        *const_cast<volatile unsigned char*>(job.address(page * kPageBytes)) = 5;
      }
    }
    job.dsm().barrier();
    for (std::size_t page = 0; page < kMany; page += 2) {
      if (job.get(page * kPageBytes) != 5) job.fail(fmt::format("page {} is old", page));
    }
  });
}

}  // namespace
}  // namespace fairlead::port_test
