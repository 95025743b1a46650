// A job that hangs, and is ended by its timeout, says what each rank waited for: of which page,
// lock or barrier, from whom, and what it holds.
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/systems/dsm/dsm.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using dsm::Dsm;

struct Place {
  const char* protocol;
  const char* world;
};

void never_again() { std::this_thread::sleep_for(std::chrono::hours(1)); }
// So long that a rank which left a barrier with this one is in never_again() and serves nobody.
void let_others_go() { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }

// Three ranks run `body`, which does not end; returns what the job says of that.
std::string ended_by_timeout(const Place& place, const std::function<void(Dsm&)>& body) {
  run::WorldOptions world = options_of(place.world, 3);
  world.timeout = seconds(3);
  const Result<run::RunReport> report = run::run_world(world, [&](run::Context& context) {
    dsm::Options options;
    options.heap_bytes = 64 * dsm::kPageBytes;
    options.protocol = dsm::protocol_of(place.protocol).value();
    options.wake = dsm::WakeKind::never;
    Result<Dsm*> started = Dsm::start(context, options);
    if (!started.ok()) context.abort_job(1, started.error().text);
    body(*started.value());
    return 0;
  });
  EXPECT_TRUE(report.ok());
  if (!report.ok()) return report.error().text;
  EXPECT_NE(report.value().exit_code, 0);
  return report.value().failure;
}

// Lock 8's manager is rank 2, which serves at its barrier, lock 4's rank 1.
TEST(DsmWaits, AreToldOfLocksAndBarriers) {
  for (const Place& place : {Place{"newgen-full", "shm"}, Place{"newgen-full", "udp"},
                             Place{"async", "shm"}, Place{"async", "udp"}}) {
    SCOPED_TRACE(std::string(place.protocol) + " " + place.world);
    const std::string words = ended_by_timeout(place, [](Dsm& dsm) {
      if (dsm.self() == 0) dsm.acquire(8);
      dsm.barrier();
      if (dsm.self() == 0) never_again();
      if (dsm.self() == 1) {
        dsm.acquire(4);
        dsm.acquire(8);
      }
      dsm.barrier();
    });
    expect_words(words,
                 {"3 of 3 ranks were still running: 0 1 2", "Rank 0: not in a call that waits",
                  "Rank 1: lock 8, waits for rank 0, holds lock 4, for",
                  "Rank 2: a barrier, waits for rank"});
  }
}

// A page that rank 0 keeps the word of, and, having touched it first, is the home of.
int* allocated_by_rank_0(Dsm& dsm) {
  void* const own = dsm.self() == 0 ? dsm.allocate(dsm::kPageBytes) : nullptr;
  return reinterpret_cast<int*>(dsm.agree(reinterpret_cast<std::uint64_t>(own)));
}

TEST(DsmWaits, AreToldOfPagesConditionsAndRanges) {
  for (const char* const world : {"shm", "udp"}) {
    SCOPED_TRACE(world);
    const std::string words = ended_by_timeout({"async", world}, [](Dsm& dsm) {
      int* const shared = allocated_by_rank_0(dsm);
      if (dsm.self() == 0) *shared = 1;
      dsm.barrier();
      if (dsm.self() == 0) never_again();
      let_others_go();
      if (dsm.self() == 1) *shared = 2;
      dsm.acquire(5);
      dsm.wait(5, 7);
    });
    expect_words(words, {"Rank 1: page 0, waits for rank 0, for", "Rank 2: condition 7, for"});
  }
  // Expect: a range is told of who holds one, and of who waits for another, with who has that.
  const std::string words = ended_by_timeout({"newgen-full", "shm"}, [](Dsm& dsm) {
    int* const shared = allocated_by_rank_0(dsm);
    if (dsm.self() == 1) (void)dsm.acquire_range(shared, 8, true);
    dsm.barrier();
    if (dsm.self() == 1) never_again();
    if (dsm.self() == 2) {
      (void)dsm.acquire_range(shared + 4, 8, true);
      (void)dsm.acquire_range(shared, 8, true);
    }
    dsm.barrier();
  });
  expect_words(words, {"Rank 0: a barrier, waits for rank", "Rank 1: not in a call that waits",
                       "Rank 2: a range, waits for rank 1, holds a range, for"});
}

}  // namespace
}  // namespace fairlead::port_test
