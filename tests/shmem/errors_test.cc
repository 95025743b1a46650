// How OpenSHMEM names what a program does wrong: the PE, the call, the address.
#include <fmt/format.h>

#include <functional>
#include <string>

#include "fairlead/systems/shmem/shmem.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

class ShmemErrors : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(ShmemErrors, ::testing::Values("loop", "shm", "udp", "myrinet-p3/sdma"));

// What became of the job of two.
run::RunReport report_of(const std::string& world, const std::function<void(long*)>& body) {
  const Result<run::RunReport> report = run::run_world(options_of(world, 2), [&](run::Context&) {
    shmem_init();
    body(static_cast<long*>(shmem_calloc(4, sizeof(long))));
    shmem_finalize();
    return 0;
  });
  EXPECT_TRUE(report.ok());
  return report.ok() ? report.value() : run::RunReport{};
}
std::string failure_of(const std::string& world, const std::function<void(long*)>& body) {
  return report_of(world, body).failure;
}

TEST_P(ShmemErrors, name_pe_call_and_address) {
  const std::string world = GetParam();
  expect_words(failure_of(world,
                          [](long*) {
                            long here = 0;
                            if (shmem_my_pe() == 1) shmem_long_put(&here, &here, 1, 0);
                          }),
               {"rank 1", "shmem_long_put", "PE 0", "0x", "not symmetric"});
  expect_words(failure_of(world,
                          [](long* word) {
                            if (shmem_my_pe() == 0) shmem_long_atomic_inc(word, 2);
                          }),
               {"rank 0", "shmem_long_atomic_inc", "PE 2 of 2", "0x"});
  expect_words(failure_of(world,
                          [](long* word) {
                            if (shmem_my_pe() == 0) (void)shmem_long_g(word, -1);
                          }),
               {"rank 0", "shmem_long_g", "PE -1 of 2"});
  expect_words(failure_of(world,
                          [](long* word) {
                            if (shmem_my_pe() == 1)
                              shmem_getmem(word, word, std::size_t{1} << 40, 0);
                          }),
               {"rank 1", "shmem_getmem", "1099511627776 bytes", "not symmetric"});
  expect_words(failure_of(world,
                          [](long*) {
                            shmem_ctx_t ctx = SHMEM_CTX_INVALID;
                            shmem_ctx_create(0, &ctx);
                            shmem_ctx_destroy(ctx);
                            if (shmem_my_pe() == 1) shmem_ctx_quiet(ctx);
                          }),
               {"rank 1", "shmem_ctx_quiet", "destroyed"});
  expect_words(failure_of(world,
                          [](long*) {
                            if (shmem_my_pe() == 1) shmem_session_stop(SHMEM_CTX_INVALID);
                          }),
               {"rank 1", "shmem_session_stop", "no context"});
  expect_words(failure_of(world,
                          [](long*) {
                            if (shmem_my_pe() != 0) return;
                            shmem_session_start(SHMEM_CTX_DEFAULT, 0, nullptr,
                                                SHMEM_SESSION_TOTAL_OPS);
                          }),
               {"rank 0", "shmem_session_start", "config_mask", "there is none"});
  expect_words(failure_of(world,
                          [](long*) {
                            const shmem_session_config_t config{1};
                            if (shmem_my_pe() != 0) return;
                            shmem_session_start(SHMEM_CTX_DEFAULT, 0, &config, 6);
                          }),
               {"rank 0", "shmem_session_start", "config_mask 0x6"});
  expect_words(failure_of(world,
                          [](long*) {
                            shmem_team_t team = SHMEM_TEAM_INVALID;
                            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, nullptr, 0, &team);
                            shmem_team_destroy(team);
                            if (shmem_my_pe() == 0) shmem_team_sync(team);
                          }),
               {"rank 0", "shmem_team_sync", "destroyed"});
  // Expect: contexts end with their team.
  expect_words(failure_of(world,
                          [](long* word) {
                            shmem_team_t team = SHMEM_TEAM_INVALID;
                            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, nullptr, 0, &team);
                            shmem_ctx_t ctx = SHMEM_CTX_INVALID;
                            shmem_team_create_ctx(team, 0, &ctx);
                            shmem_team_destroy(team);
                            if (shmem_my_pe() == 1) shmem_ctx_long_p(ctx, word, 1, 0);
                          }),
               {"rank 1", "shmem_ctx_long_p", "context was destroyed"});
  expect_words(failure_of(world,
                          [](long* sync) {
                            if (shmem_my_pe() == 0) shmem_barrier(0, 0, 3, sync);
                          }),
               {"rank 0", "shmem_barrier", "PE_size 3", "2 PEs"});
  // Expect: a pSync that has been used is as it was; one that was not set, or is the program's own
  // word, is named
  expect_words(failure_of(world,
                          [](long* sync) {
                            for (int i = 0; i < 3; ++i) shmem_barrier(0, 0, 2, sync);
                            if (shmem_my_pe() == 1) sync[SHMEM_SYNC_SIZE - 1] = 77;
                            shmem_long_max_to_all(sync, sync + 1, 0, 0, 0, 2, nullptr, sync);
                          }),
               {"rank 1", "shmem_long_max_to_all", "pSync at 0x", "has 77 at [3]"});
}

// Where time is virtual, a job that waits for itself is known to.
TEST(ShmemWaitsThatCannotEnd, name_pe_call_and_address) {
  for (const char* const world : {"qsnet-es40", "generic-hca", "myrinet-p3/sdma"}) {
    std::string address;
    const std::string failure = failure_of(world, [&address](long* word) {
      if (shmem_my_pe() != 0) return;
      address = fmt::format("{}", static_cast<void*>(word + 1));
      shmem_long_wait_until(word + 1, SHMEM_CMP_EQ, 1);
    });
    expect_words(failure, {"deadlock", "rank 0", "shmem_long_wait_until at " + address, "rank 1",
                           "the end of a barrier"});
    expect_words(failure_of(world,
                            [](long* words) {
                              if (shmem_my_pe() != 1) return;
                              shmem_long_wait_until_any(words, 2, nullptr, SHMEM_CMP_NE, 0);
                            }),
                 {"rank 1", "shmem_long_wait_until_any at several words, from 0x"});
  }
}

TEST_P(ShmemErrors, global_exit_ends_all_with_its_status) {
  const run::RunReport report = report_of(GetParam(), [](long* word) {
    if (shmem_my_pe() == 1) shmem_global_exit(7);
    shmem_long_wait_until(word, SHMEM_CMP_EQ, 1);  // never
  });
  EXPECT_EQ(report.exit_code, 7);
  expect_words(report.failure, {"shmem_global_exit(7)", "PE 1"});
}

}  // namespace
}  // namespace fairlead::port_test
