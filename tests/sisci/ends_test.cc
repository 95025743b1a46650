// Processes that end, in order or not, while others use what is theirs; links that come and go; and
// accesses to addresses that are no memory.
#include <signal.h>

#include "tests/expect_words.h"
#include "tests/sisci/sisci_parts.h"

namespace fairlead::port_test {
namespace {

class SisciEnds : public PerWorld {};
INSTANTIATE_PORT_TESTS(SisciEnds);

TEST_P(SisciEnds, a_process_that_ends_is_told_of) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Owner mine(port);
    Meeting meeting(port);
    unsigned number = 5;
    sci_local_interrupt_t here = nullptr;
    sci_remote_interrupt_t there_interrupt = nullptr;
    bool good = mine.good;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateInterrupt, mine.device, &here, 0, &number,
                         nullptr, nullptr, SCI_FLAG_FIXED_INTNO);
    good &= meeting.meet();
    User there;
    if (!good || !there.connect(mine, 1 - port.self())) return false;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectInterrupt, mine.device, &there_interrupt,
                         1 - port.self(), 0, 5, SCI_INFINITE_TIMEOUT, 0);
    good &= there.start();
    good &= meeting.meet();
    if (port.self() == 0) {
      // Expect: first it disconnects from here, then nothing of it can be reached
      sci_error_t error = SCI_ERR_OK;
      good &=
          PORT_TEST_CHECK(SCIWaitForRemoteSegmentEvent(there.segment, nullptr, SCI_INFINITE_TIMEOUT,
                                                       0, &error) == SCI_CB_LOST,
                          port, error);
      good &= PORT_TEST_CHECK(
          SCIWaitForLocalSegmentEvent(mine.segment, nullptr, nullptr, SCI_INFINITE_TIMEOUT, 0,
                                      &error) == SCI_CB_CONNECT,
          port, error);
      good &= PORT_TEST_CHECK(
          SCIWaitForLocalSegmentEvent(mine.segment, nullptr, nullptr, SCI_INFINITE_TIMEOUT, 0,
                                      &error) == SCI_CB_DISCONNECT,
          port, error);
      good &= there.check(SCI_SEQ_NOT_RETRIABLE);
      sci_remote_segment_t other = nullptr;
      good &= SISCI_EXPECT(SCI_ERR_NO_SUCH_SEGMENT, port, SCIConnectSegment, mine.device, &other, 1,
                           kSegmentId, 0, nullptr, nullptr, SCI_INFINITE_TIMEOUT, 0);
      good &= there.disconnect();
    }
    SCITerminate();
    // Expect: nothing of the library is there afterwards
    good &= SISCI_EXPECT(SCI_ERR_NOT_INITIALIZED, port, SCIClose, mine.device, 0);
    good &= SISCI_EXPECT(SCI_ERR_NOT_SUPPORTED, port, SCIInitialize, 0);
    return good;
  });
}

// Rank 0 leaves a word and ends. Rank 1 hears first that it has ended, and then reads the word.
TEST_P(SisciEnds, what_a_process_stored_last_stays_for_who_has_it_mapped) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Owner mine(port);
    Meeting meeting(port);
    bool good = mine.good;
    if (port.self() == 0) mine.at[kSegmentBytes - 1] = 42;
    good &= meeting.meet();
    User there;
    if (port.self() == 1) {
      if (!good || !there.connect(mine, 0)) return false;
      good &= meeting.meet();
      sci_error_t error = SCI_ERR_OK;
      good &=
          PORT_TEST_CHECK(SCIWaitForRemoteSegmentEvent(there.segment, nullptr, SCI_INFINITE_TIMEOUT,
                                                       0, &error) == SCI_CB_LOST,
                          port, error);
      // Expect: as it was where it is memory, and no copy elsewhere
      if (sisci_map_is_memory(there.map) != 0) {
        good &=
            PORT_TEST_CHECK(there.at[kSegmentBytes - 1] == 42, port, there.at[kSegmentBytes - 1]);
      }
      unsigned char copy = 0;
      good &= SISCI_EXPECT(SCI_ERR_TRANSFER_FAILED, port, SCIMemCopy, &copy, there.map, 0, 1,
                           SCI_FLAG_BLOCK_READ);
      good &= there.disconnect();
    } else {
      good &= meeting.meet();
    }
    SCITerminate();
    return good;
  });
}

// Rank 0 copies 8 bytes again and again, and repeats what a sequence says may be lost; a link dies
// meanwhile and comes back.
TEST(SisciLinks, that_die_are_noticed_by_a_sequence) {
  run::WorldOptions options = options_of("firelink", 2);
  options.faults = "down=0-link0@50us+30ms";
  const Result<run::RunReport> report = run::run_world(options, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Owner mine(port);
    Meeting meeting(port);
    bool good = mine.good && meeting.meet();
    User there;
    if (!good || !there.connect(mine, 1 - port.self())) return 1;
    unsigned retried = 0;
    std::uint64_t value = 0;
    if (port.self() == 0) {
      // The loss is found after 1 ms, and told when the driver has another way, 10 ms later.
      while (retried == 0 && good && port.now() < milliseconds(50)) {
        ++value;
        sci_sequence_status_t status = SCI_SEQ_RETRIABLE;
        while (status == SCI_SEQ_RETRIABLE) {
          good &= there.start();
          good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCpy, there.sequence, &value, there.map, 64,
                               sizeof value, 0);
          status = SCICheckSequence(there.sequence, 0, nullptr);
          retried += status == SCI_SEQ_RETRIABLE ? 1 : 0;
        }
        good &= PORT_TEST_CHECK(status == SCI_SEQ_OK, port, status);
      }
      good &= PORT_TEST_CHECK(retried > 0, port, retried);
      std::uint64_t last = 0;
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCopy, &last, there.map, 64, sizeof last,
                           SCI_FLAG_BLOCK_READ);
      good &= PORT_TEST_CHECK(last == value, port, last);
    }
    good &= meeting.meet();
    SCITerminate();
    return good ? 0 : 1;
  });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().exit_code, 0);
}

// Ranks that are processes.
class SisciDeath : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(SisciDeath, ::testing::Values("shm", "udp"));

// Rank 0 connects, copies, triggers and disconnects without end; after `steps` of those one dies.
std::string end_of_job(const std::string& world, unsigned dies, int steps) {
  const Result<run::RunReport> report =
      run::run_world(options_of(world, 2), [dies, steps](run::Context& rank) {
        lci::Port& port = rank.port();
        Owner mine(port);
        Meeting meeting(port);
        if (!mine.good || !meeting.meet()) return 1;
        for (int step = 0;; ++step) {
          if (port.self() == dies && step >= steps) raise(SIGKILL);
          if (port.self() == 1) {
            (void)SCIWaitForLocalSegmentEvent(mine.segment, nullptr, nullptr, 1, 0, nullptr);
            continue;
          }
          User there;
          unsigned char bytes[5000] = {};
          if (!there.connect(mine, 1)) continue;
          SCIMemCpy(there.sequence, bytes, there.map, 0, sizeof bytes, 0, nullptr);
          SCIMemCpy(there.sequence, bytes, there.map, 0, sizeof bytes, SCI_FLAG_BLOCK_READ,
                    nullptr);
          (void)SCICheckSequence(there.sequence, 0, nullptr);
          (void)there.disconnect();
        }
      });
  return report.ok() ? report.value().failure : report.error().text;
}

TEST_P(SisciDeath, of_either_end_ends_the_job_and_hangs_nobody) {
  for (const unsigned dies : {0u, 1u}) {
    for (const int steps : {0, 3, 20}) {
      expect_words(end_of_job(GetParam(), dies, steps),
                   {"rank " + std::to_string(dies), "signal 9"});
    }
  }
}

TEST_P(SisciDeath, by_an_access_where_no_memory_is_names_segment_and_offset) {
  testing::internal::CaptureStderr();
  const Result<run::RunReport> report =
      run::run_world(options_of(GetParam(), 2), [](run::Context& rank) {
        lci::Port& port = rank.port();
        Owner mine(port);
        Meeting meeting(port);
        User there;
        if (!mine.good || !meeting.meet() || !there.connect(mine, 0)) return 1;
        sci_map_t map = nullptr;
        volatile void* const at = SCIMapRemoteSegment(there.segment, &map, 5000, 10, nullptr,
                                                      SCI_FLAG_READONLY_MAP, nullptr);
        if (port.self() == 1) static_cast<volatile unsigned char*>(at)[3] = 1;
        (void)meeting.meet();
        return 0;
      });
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().ranks[1].signal, SIGSEGV) << said;
  expect_words(said, {"rank 1", "offset 5003", "segment 0x7", "node 0",
                      GetParam() == "shm" ? "read only" : "SCIMemCpy"});
}

}  // namespace
}  // namespace fairlead::port_test
