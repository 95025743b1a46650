// A job that hangs, and is ended by its timeout, says what each PE waited for: in which call, and
// for what address.
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "fairlead/run/launch/world.h"
#include "fairlead/systems/elan/elan.h"
#include "fairlead/systems/shmem/shmem.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

void never_again() { std::this_thread::sleep_for(std::chrono::hours(1)); }

// PEs run `body`, which does not end; returns what the job says of that.
std::string ended_by_timeout(const char* place, int pes, const std::function<void()>& body) {
  run::WorldOptions world = options_of(place, static_cast<Rank>(pes));
  world.timeout = seconds(3);
  const Result<run::RunReport> report = run::run_world(world, [&](run::Context&) {
    body();
    return 0;
  });
  EXPECT_TRUE(report.ok());
  if (!report.ok()) return report.error().text;
  EXPECT_NE(report.value().exit_code, 0);
  return report.value().failure;
}

TEST(ToldShmemWaits, NameTheCallAndTheAddress) {
  for (const char* const place : {"shm", "udp"}) {
    SCOPED_TRACE(place);
    const std::string words = ended_by_timeout(place, 4, [] {
      shmem_init();
      auto* const lock = static_cast<long*>(shmem_calloc(2, sizeof(long)));
      const int me = shmem_my_pe();
      if (me == 0) shmem_set_lock(lock);
      shmem_barrier_all();
      if (me == 0) never_again();
      if (me == 1) shmem_set_lock(lock);
      if (me == 2)
        shmem_longlong_wait_until(reinterpret_cast<long long*>(lock + 1), SHMEM_CMP_EQ, 7);
      if (me == 3) shmem_barrier_all();
    });
    expect_words(words, {"4 of 4 ranks were still running: 0 1 2 3",
                         "Rank 0: not in a call that waits", "Rank 1: shmem_set_lock, at 0x",
                         "Rank 2: shmem_longlong_wait_until, at 0x", "Rank 3: elan_hgsync, "});
  }
}

// Where engines of the network interfaces answer, the first process asks again and again.
TEST(ToldElanWaits, NameTheCallAndWhatItIsFor) {
  for (const char* const place : {"shm", "udp", "nirx"}) {
    SCOPED_TRACE(place);
    const std::string words = ended_by_timeout(place, 4, [] {
      ELAN_BASE* const base = elan_baseInit(0);
      elan_hgsync(base->allGroup);
      if (base->state->vp == 0) elan_hgsync(base->allGroup);
      if (base->state->vp == 1) elan_gsync(base->allGroup);
      if (base->state->vp == 2) elan_waitDest(base->state, 0, 1);
      never_again();
    });
    expect_words(words, {std::string(place) == "nirx" ? "Rank 0: elan_hgsync, the end of a barrier"
                                                      : "Rank 0: elan_hgsync, ",
                         "Rank 1: elan_gsync, ", "Rank 2: elan_waitDest, for",
                         "Rank 3: not in a call that waits"});
  }
}

}  // namespace
}  // namespace fairlead::port_test
