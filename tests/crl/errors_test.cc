// What a CRL program does wrong ends the job, by rank, region, call and place.
#include <functional>
#include <string>

#include "fairlead/systems/crl/crl.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

class Errors : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(Errors, ::testing::Values("loop", "shm", "myrinet-p3/sdma"));

// Two ranks run `body` with a region of 16 bytes of rank 0's, mapped; answers the job's last words.
std::string failure_of(const std::string& world,
                       const std::function<void(unsigned self, crl_rid_t rid, char* mapped)>& body,
                       bool checked = false) {
  const Result<run::RunReport> report = run::run_world(options_of(world, 2), [&](run::Context&) {
    crl_options_t options = crl_default_options();
    options.check = checked ? 1 : 0;
    crl_init(&options);
    crl_rid_t rid = crl_self_addr() == 0 ? rgn_create(16) : 0;
    crl_self_addr() == 0 ? rgn_bcast_send(sizeof rid, &rid) : rgn_bcast_recv(sizeof rid, &rid);
    char* const mapped = static_cast<char*>(rgn_map(rid));
    rgn_barrier();
    body(crl_self_addr(), rid, mapped);
    crl_finalize();
    return 0;
  });
  EXPECT_TRUE(report.ok());
  if (!report.ok()) return report.error().text;
  EXPECT_NE(report.value().exit_code, 0) << "the job ended well";
  return report.value().failure;
}

TEST_P(Errors, operations_that_do_not_fit) {
  // Region 2: the first of rank 0, of 2 ranks. The place: this program.
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t, char* mapped) {
                            if (self == 1) rgn_end_read(mapped);
                          }),
               {"rank 1", "rgn_end_read of region 2", "crl_system_tests+0x", "no read of it"});
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t, char* mapped) {
                            if (self == 1) rgn_start_read(mapped);
                            if (self == 1) rgn_start_write(mapped);
                          }),
               {"rank 1", "rgn_start_write of region 2", "a read of it is in progress"});
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t, char* mapped) {
                            if (self == 1) rgn_start_write(mapped);
                            if (self == 1) rgn_end_read(mapped);
                          }),
               {"rank 1", "rgn_end_read of region 2", "no read of it"});
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t, char* mapped) {
                            if (self == 0) rgn_start_write(mapped);
                            if (self == 0) rgn_unmap(mapped);
                          }),
               {"rank 0", "rgn_unmap of region 2", "a write of it is in progress"});
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t, char* mapped) {
                            if (self == 1) rgn_start_write(mapped);
                            if (self == 1) rgn_flush(mapped);
                          }),
               {"rank 1", "rgn_flush of region 2", "a write of it is in progress"});
}

TEST_P(Errors, regions_that_are_not_there) {
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t, char*) {
                            if (self == 1) rgn_map(400);
                          }),
               {"rank 1", "rgn_map of region 400", "rank 0, its home, has made no such region"});
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t rid, char* mapped) {
                            if (self == 0) {
                              rgn_unmap(mapped);
                              rgn_destroy(rid);
                            }
                            rgn_barrier();
                            if (self == 1) rgn_start_read(mapped);
                          }),
               {"rank 1", "rgn_start_read of region 2", "rank 0, its home, has destroyed it"});
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t, char* mapped) {
                            if (self == 1) rgn_unmap(mapped);
                            if (self == 1) rgn_start_read(mapped);
                          }),
               {"rank 1", "rgn_start_read", "no address that rgn_map answered"});
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t rid, char*) {
                            if (self == 1) rgn_destroy(rid);
                          }),
               {"rank 1", "rgn_destroy of region 2", "its home, rank 0, has to call it"});
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t rid, char*) {
                            if (self == 0) rgn_destroy(rid);
                          }),
               {"rank 0", "rgn_destroy of region 2", "unmap it first"});
}

TEST_P(Errors, collectives_that_do_not_fit) {
  expect_words(
      failure_of(GetParam(), [](unsigned self, crl_rid_t,
                                char*) { self == 0 ? rgn_barrier() : void(rgn_reduce_dadd(1)); }),
      {"rank 0", "rgn_barrier", "rank 1 called rgn_reduce_dadd instead"});
  expect_words(failure_of(GetParam(),
                          [](unsigned self, crl_rid_t, char*) {
                            char data[8] = {};
                            self == 0 ? rgn_bcast_send(8, data) : rgn_bcast_recv(4, data);
                          }),
               {"rank 1", "rgn_bcast_recv", "4 bytes are expected here, 8 were sent"});
}

TEST_P(Errors, checked_form_names_accesses_outside_operations) {
  const auto checked = [](const std::function<void(char*)>& body) {
    return failure_of(
        GetParam(),
        [&](unsigned self, crl_rid_t, char* mapped) {
          if (self == 1) body(mapped);
        },
        true);
  };
  expect_words(checked([](char* mapped) {
                 mapped[3] = 1;
                 rgn_start_read(mapped);
               }),
               {"rank 1", "rgn_start_read of region 2", "written outside an operation"});
  expect_words(checked([](char* mapped) {
                 rgn_start_read(mapped);
                 mapped[3] = 1;
                 rgn_end_read(mapped);
               }),
               {"rank 1", "rgn_end_read of region 2", "written inside a read"});
  expect_words(checked([](char* mapped) {
                 rgn_start_write(mapped);
                 mapped[16] = 1;
                 rgn_end_write(mapped);
               }),
               {"rank 1", "rgn_end_write of region 2", "past its end"});
}

TEST_P(Errors, calls_before_and_after) {
  const auto last_words = [](const std::function<void()>& body) {
    const Result<run::RunReport> report =
        run::run_world(options_of(GetParam(), 1), [&](run::Context&) {
          body();
          return 0;
        });
    return report.ok() ? report.value().failure : report.error().text;
  };
  expect_words(last_words([] {
                 crl_init(nullptr);
                 crl_finalize();
                 rgn_barrier();
               }),
               {"rank 0", "rgn_barrier", "after crl_finalize"});
  expect_words(last_words([] {
                 crl_init(nullptr);
                 crl_init(nullptr);
               }),
               {"rank 0", "crl_init", "called before"});
}

}  // namespace
}  // namespace fairlead::port_test
