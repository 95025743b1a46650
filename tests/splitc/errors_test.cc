// What a Split-C program does wrong ends the job, by rank, place and operation.
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/base/reserved_memory.h"
#include "fairlead/systems/splitc/splitc.h"
#include "tests/expect_words.h"
#include "tests/splitc/splitc_worlds.h"

namespace fairlead::port_test {
namespace {

class Errors : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(Errors,
                          ::testing::Values("loop", "shm", "udp", "myrinet-p3/sdma", "amvia loop",
                                            "amvia udp", "amvia-shm shm",
                                            "amvia-shm myrinet-p3/pio@2", "via loop", "via udp"));

using splitc::global_ptr;

// Rank 1 of two runs `body`; answers the job's last words.
std::string failure_of(const std::string& world, const std::function<void()>& body) {
  const Result<run::RunReport> report =
      run::run_world(options_of(chosen(world), 2), [&](run::Context& rank) {
        return splitc::start(&rank, [&] {
          if (splitc::my_proc() == 1) body();
          splitc::barrier();
          return 0;
        });
      });
  EXPECT_TRUE(report.ok());
  if (!report.ok()) return report.error().text;
  EXPECT_NE(report.value().exit_code, 0) << "the job ended well";
  return report.value().failure;
}

TEST_P(Errors, places_outside_a_heap) {
  const std::string& on = GetParam();
  expect_words(failure_of(on, [] { (void)splitc::read(global_ptr<int>(0, 0)); }),
               {"rank 1", "Split-C: read of 4 bytes at 0x0 of rank 0", "its heap is from 0x1000"});
  expect_words(failure_of(on, [] { splitc::put(global_ptr<double>(0, ~0ull - 3), 1.0); }),
               {"rank 1", "put of 8 bytes at 0xfffffffffffffffc of rank 0"});
  expect_words(failure_of(on, [] { splitc::store(global_ptr<int>(2, 8192), 1); }),
               {"rank 1", "store of 4 bytes at 0x2000 of rank 2", "there are 2 ranks"});
  const std::vector<char> many(8192);
  expect_words(failure_of(on,
                          [&many] {
                            splitc::bulk_write(global_ptr<char>(1, (256u << 20) - 100), many.data(),
                                               many.size());
                          }),
               {"rank 1", "write of 8192 bytes at 0xfffff9c of rank 1"});
  const int local = 0;
  expect_words(failure_of(on, [&local] { (void)splitc::toglobal(&local); }),
               {"rank 1", "toglobal of address 0x", "not in the heap of this rank"});
}

TEST_P(Errors, calls_of_all_that_do_not_agree) {
  const Result<run::RunReport> report =
      run::run_world(options_of(chosen(GetParam()), 3), [](run::Context& rank) {
        return splitc::start(&rank, [] {
          (void)splitc::all_malloc<char>(splitc::my_proc() == 2 ? 100 : 60);
          return 0;
        });
      });
  ASSERT_TRUE(report.ok());
  EXPECT_NE(report.value().exit_code, 0);
  expect_words(report.value().failure,
               {"Split-C: ", "bytes are allocated here", "on another rank"});
  expect_words(failure_of(GetParam(), [] { (void)splitc::all_malloc<char>(std::size_t{1} << 40); }),
               {"rank 1", "1099511627776 bytes of every heap: there is no room"});
  const Result<run::RunReport> sums =
      run::run_world(options_of(chosen(GetParam()), 2), [](run::Context& rank) {
        return splitc::start(&rank, [] {
          splitc::my_proc() == 1 ? splitc::all_reduce_sum(1) : splitc::all_reduce_max(1);
          return 0;
        });
      });
  ASSERT_TRUE(sums.ok());
  expect_words(sums.value().failure,
               {"rank 0", "Split-C: all_reduce_max of 4 bytes: rank 1 called something else"});
}

// On a modelled machine nothing happens any more then: the report says who waits, and for what.
TEST(Barrier, names_who_waits_there_and_who_does_not_come) {
  const Result<run::RunReport> report =
      run::run_world(options_of(chosen("myrinet-p3/sdma"), 3), [](run::Context& rank) {
        return splitc::start(&rank, [] {
          if (splitc::my_proc() == 1) splitc::store_sync(8);
          splitc::barrier();
          return 0;
        });
      });
  ASSERT_TRUE(report.ok());
  EXPECT_NE(report.value().exit_code, 0);
  expect_words(report.value().failure, {"deadlock", "rank 0: blocked", "other ranks at a barrier",
                                        "rank 1: blocked", "in stores", "rank 2: blocked"});
}

// On a real one nobody knows that nothing will happen: the timeout says it.
TEST(Barrier, of_processes_that_time_out_names_who_does_not_come) {
  struct Case {
    const char* world;
    std::string barrier;  // as those that wait there say it
  };
  for (const auto& [world, barrier] :
       {Case{"shm", "other ranks at a barrier"}, Case{"amvia-shm udp", "other ranks at a barrier"},
        Case{"via udp", "a barrier"}}) {
    run::WorldOptions options = options_of(chosen(world), 3);
    options.timeout = seconds(3);
    const Result<run::RunReport> report = run::run_world(options, [](run::Context& rank) {
      return splitc::start(&rank, [] {
        if (splitc::my_proc() == 1) std::this_thread::sleep_for(std::chrono::hours(1));
        splitc::barrier();
        return 0;
      });
    });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_NE(report.value().exit_code, 0);
    expect_words(report.value().failure,
                 {"3 of 3 ranks were still running: 0 1 2", "Rank 0: " + barrier + ", for",
                  "Rank 1: not in a call that waits", "Rank 2: " + barrier + ", for"});
  }
}

// The last words of four ranks, of which rank 1 never comes: `calls` are the others', by rank.
std::string words_of_ranks_that_wait(const std::string& world,
                                     const std::array<std::function<void()>, 4>& calls) {
  run::WorldOptions options = options_of(chosen(world), 4);
  options.timeout = seconds(3);
  // Processes have it in common. What others ask of rank 1 before it sleeps would be answered.
  const ReservedMemory common(64, ReservedMemory::Pages::shared);
  std::atomic_ref<int> sleeps(*reinterpret_cast<int*>(common.data()));
  const Result<run::RunReport> report = run::run_world(options, [&](run::Context& rank) {
    return splitc::start(&rank, [&] {
      const std::uint32_t me = splitc::my_proc();
      if (me == 1) {
        sleeps = 1;
        std::this_thread::sleep_for(std::chrono::hours(1));
      }
      while (sleeps == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      calls[me]();
      return 0;
    });
  });
  EXPECT_TRUE(report.ok());
  return report.ok() ? report.value().failure : report.error().text;
}

// Each of these waits for rank 1 alone, and says so.
TEST(Waits, of_processes_that_time_out_name_what_they_wait_for) {
  constexpr std::uint64_t kPlace = 8192;
  for (const char* const world : {"udp", "amvia udp", "via udp"}) {
    SCOPED_TRACE(world);
    const std::array<std::function<void()>, 4> accesses = {
        [] { (void)splitc::read(global_ptr<int>(1, kPlace)); }, [] {},
        [] {
          splitc::put(global_ptr<double>(1, kPlace), 1.0);
          splitc::sync();
        },
        [] {
          (void)splitc::atomic(
              1, [](int a) { return a; }, 1);
        }};
    expect_words(words_of_ranks_that_wait(world, accesses),
                 {"Rank 0: a read, last 4 bytes at 0x2000 of rank 1, for",
                  "Rank 1: not in a call that waits",
                  "Rank 2: gets and puts, last 8 bytes at 0x2000 of rank 1, for",
                  "Rank 3: the answer of an atomic from rank 1, for"});
    const std::array<std::function<void()>, 4> together = {[] { splitc::store_sync(8); }, [] {},
                                                           [] { (void)splitc::all_scan_sum(1); },
                                                           [] { (void)splitc::broadcast(1, 1); }};
    expect_words(words_of_ranks_that_wait(world, together),
                 {"Rank 0: stores, for", "Rank 2: values of a scan from rank 1, for",
                  "Rank 3: a broadcast from rank 1, for"});
  }
}

}  // namespace
}  // namespace fairlead::port_test
