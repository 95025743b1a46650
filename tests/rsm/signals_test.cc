// Signals between importers and exporters in every world; death of either on those whose ranks are
// processes.
#include <signal.h>

#include "tests/expect_words.h"
#include "tests/rsm/rsm_parts.h"

namespace fairlead::port_test {
namespace {

constexpr unsigned kRanks = 3;

class RsmSignals : public PerWorld {};
INSTANTIATE_PORT_TESTS(RsmSignals);

TEST_P(RsmSignals, come_from_either_end) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port);
    Meeting meeting(port);
    bool good = mine.good && (port.self() != 0 || mine.publish()) && meeting.meet();
    rsm_memseg_import_handle_t import = nullptr;
    if (port.self() != 0) {
      good &= RSM_EXPECT(mine.connect(0, RSM_PERM_RDWR, &import), RSM_SUCCESS, port);
    }
    good &= meeting.meet();
    if (!good) return false;
    constexpr int kSignals = 5;
    if (port.self() == 0) {
      // Expect: each of them once
      for (int i = 0; i < kSignals * 2; ++i) {
        good &= RSM_EXPECT(rsm_intr_signal_wait(mine.segment, -1), RSM_SUCCESS, port);
      }
      good &= RSM_EXPECT(rsm_intr_signal_wait(mine.segment, 0), RSMERR_TIMEOUT, port);
      good &= RSM_EXPECT(rsm_intr_signal_wait(mine.segment, 2), RSMERR_TIMEOUT, port);
      // Expect: one to the exporter is one to every importer
      good &= RSM_EXPECT(rsm_intr_signal_post(mine.segment, 0), RSM_SUCCESS, port);
      good &= RSM_EXPECT(rsm_intr_signal_post(mine.segment, 0), RSM_SUCCESS, port);
    } else {
      for (int i = 0; i < kSignals; ++i) {
        good &= RSM_EXPECT(rsm_intr_signal_post(import, 0), RSM_SUCCESS, port);
      }
      good &= RSM_EXPECT(rsm_intr_signal_wait(import, -1), RSM_SUCCESS, port);
      good &= RSM_EXPECT(rsm_intr_signal_wait(import, -1), RSM_SUCCESS, port);
      good &= RSM_EXPECT(rsm_intr_signal_wait(import, 0), RSMERR_TIMEOUT, port);
    }
    good &= meeting.meet();
    // Expect: those that do not accumulate are one, however many
    if (port.self() == 1) {
      for (int i = 0; i < kSignals; ++i) {
        good &=
            RSM_EXPECT(rsm_intr_signal_post(import, RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS, port);
      }
      rsmapi_barrier_t barrier;
      good &= RSM_EXPECT(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier),
                         RSM_SUCCESS, port);
    }
    // Behind the first meeting all have been sent, behind the second they are here.
    good &= meeting.meet();
    good &= meeting.meet();
    if (port.self() == 0) {
      good &= RSM_EXPECT(rsm_intr_signal_wait(mine.segment, 1000), RSM_SUCCESS, port);
      good &= RSM_EXPECT(rsm_intr_signal_wait(mine.segment, 1), RSMERR_TIMEOUT, port);
    }
    good &= meeting.meet();
    // Expect: a list of puts may end with one, which finds what was put
    if (port.self() == 2) {
      std::uint64_t value = 77;
      rsmapi_barrier_t barrier;
      good &= RSM_EXPECT(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier),
                         RSM_SUCCESS, port);
      rsm_iovec_t entry = {RSM_VA_TYPE, {}, 0, 8, 8};
      entry.local.vaddr = reinterpret_cast<caddr_t>(&value);
      rsm_scat_gath_t list = {0, 1, 0, RSM_IMPLICIT_SIGPOST, import, &entry};
      good &= RSM_EXPECT(rsm_memseg_import_putv(&list), RSM_SUCCESS, port);
    } else if (port.self() == 0) {
      good &= RSM_EXPECT(rsm_intr_signal_wait(mine.segment, -1), RSM_SUCCESS, port);
      good &= PORT_TEST_CHECK(mine.memory.words()[1] == 77, port, 0);
    }
    // The importer's call may outlast the signal.
    good &= meeting.meet();
    rsm_exit();
    return good;
  });
}

TEST_P(RsmSignals, have_descriptors) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port);
    Meeting meeting(port);
    bool good = mine.good && mine.publish() && meeting.meet();
    rsm_memseg_import_handle_t import = nullptr;
    good &= RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_RDWR, &import), RSM_SUCCESS, port);
    pollfd fds[3] = {};
    good &= RSM_EXPECT(rsm_memseg_get_pollfd(mine.segment, &fds[0]), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_get_pollfd(import, &fds[1]), RSM_SUCCESS, port);
    int pipe_ends[2];
    good &= PORT_TEST_CHECK(pipe(pipe_ends) == 0, port, 0);
    fds[2] = {pipe_ends[0], POLLIN, 0};
    if (!good) return false;
    int ready = 99;
    good &= RSM_EXPECT(rsm_intr_signal_wait_pollfd(fds, 3, 0, &ready), RSMERR_TIMEOUT, port);
    good &= PORT_TEST_CHECK(ready == 0, port, ready);
    good &= RSM_EXPECT(rsm_intr_signal_wait_pollfd(fds, 3, 2, nullptr), RSMERR_TIMEOUT, port);
    good &= RSM_EXPECT(rsm_intr_signal_wait_pollfd(nullptr, 1, 0, nullptr), RSMERR_BAD_ADDR, port);
    good &= meeting.meet();
    // Expect: a signal to the exporter shows at its own descriptor, and is taken
    good &= RSM_EXPECT(rsm_intr_signal_post(import, 0), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_intr_signal_wait_pollfd(fds, 3, -1, &ready), RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(ready == 1 && fds[0].revents == POLLRDNORM, port, fds[0].revents);
    good &= PORT_TEST_CHECK(fds[1].revents == 0 && fds[2].revents == 0, port, fds[1].revents);
    good &= RSM_EXPECT(rsm_intr_signal_wait_pollfd(fds, 3, 0, &ready), RSMERR_TIMEOUT, port);
    good &= meeting.meet();
    good &= RSM_EXPECT(rsm_intr_signal_post(mine.segment, 0), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_intr_signal_wait_pollfd(fds, 3, -1, &ready), RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(ready == 1 && fds[1].revents == POLLRDNORM, port, fds[1].revents);
    // Expect: other descriptors as poll(2) has them
    good &= PORT_TEST_CHECK(write(pipe_ends[1], "x", 1) == 1, port, 0);
    good &= RSM_EXPECT(rsm_intr_signal_wait_pollfd(fds, 3, -1, &ready), RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(ready == 1 && fds[2].revents == POLLIN, port, fds[2].revents);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    // Expect: the segment stays while its descriptor is in use
    good &= RSM_EXPECT(rsm_memseg_export_unpublish(mine.segment), RSMERR_POLLFD_IN_USE, port);
    good &= RSM_EXPECT(rsm_memseg_export_destroy(mine.segment), RSMERR_POLLFD_IN_USE, port);
    good &= RSM_EXPECT(rsm_memseg_import_disconnect(import), RSMERR_POLLFD_IN_USE, port);
    good &= RSM_EXPECT(rsm_memseg_release_pollfd(import), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_release_pollfd(import), RSMERR_BAD_ARGS_ERRORS, port);
    good &= RSM_EXPECT(rsm_memseg_release_pollfd(mine.segment), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_disconnect(import), RSM_SUCCESS, port);
    good &= meeting.meet();
    good &= RSM_EXPECT(rsm_memseg_export_destroy(mine.segment), RSM_SUCCESS, port);
    rsm_exit();
    return good;
  });
}

// Where a helper serves ranks: the descriptor is for poll(2) itself, too.
class RsmPoll : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(RsmPoll, ::testing::Values("shm", "udp", "nirx"));

TEST_P(RsmPoll, wakes_at_a_signal) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port);
    Meeting meeting(port);
    bool good = mine.good && mine.publish() && meeting.meet();
    rsm_memseg_import_handle_t import = nullptr;
    good &= RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_RDWR, &import), RSM_SUCCESS, port);
    pollfd fd = {};
    good &= RSM_EXPECT(rsm_memseg_get_pollfd(mine.segment, &fd), RSM_SUCCESS, port);
    if (!good) return false;
    for (int lap = 0; lap < 10; ++lap) {
      if (port.self() == 0) good &= RSM_EXPECT(rsm_intr_signal_post(import, 0), RSM_SUCCESS, port);
      good &= PORT_TEST_CHECK(poll(&fd, 1, 20'000) == 1, port, lap);
      good &= RSM_EXPECT(rsm_intr_signal_wait(mine.segment, 0), RSM_SUCCESS, port);
      good &= PORT_TEST_CHECK(poll(&fd, 1, 0) == 0, port, lap);
      if (port.self() == 1) good &= RSM_EXPECT(rsm_intr_signal_post(import, 0), RSM_SUCCESS, port);
    }
    good &= RSM_EXPECT(rsm_memseg_release_pollfd(mine.segment), RSM_SUCCESS, port);
    rsm_exit();
    return good;
  });
}

// Ranks that are processes: one dies in the middle of what it does with the other's segment.
class RsmDeath : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(RsmDeath, ::testing::Values("shm", "udp"));

// The importer puts, gets, signals and connects anew without end; after `steps` of those one dies.
std::string end_of_job(const std::string& world, unsigned dies, int steps) {
  const Result<run::RunReport> report =
      run::run_world(options_of(world, 2), [dies, steps](run::Context& rank) {
        lci::Port& port = rank.port();
        Exporter mine(port);
        Meeting meeting(port);
        if (!mine.publish() || !meeting.meet()) return 1;
        for (int step = 0;; ++step) {
          if (port.self() == dies && step >= steps) raise(SIGKILL);
          if (port.self() == 1) {
            (void)rsm_intr_signal_wait(mine.segment, 1);
            continue;
          }
          rsm_memseg_import_handle_t import = nullptr;
          rsmapi_barrier_t barrier;
          std::uint64_t words[600] = {};
          if (mine.connect(1, RSM_PERM_RDWR, &import) != RSM_SUCCESS) continue;
          (void)rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier);
          (void)rsm_memseg_import_put64(import, 0, words, 600);
          (void)rsm_memseg_import_get64(import, 8, words, 600);
          (void)rsm_intr_signal_post(import, 0);
          (void)rsm_memseg_import_disconnect(import);
        }
      });
  return report.ok() ? report.value().failure : report.error().text;
}

TEST_P(RsmDeath, of_either_end_ends_the_job_and_hangs_nobody) {
  for (const unsigned dies : {0u, 1u}) {
    for (const int steps : {0, 1, 7, 20}) {
      expect_words(end_of_job(GetParam(), dies, steps),
                   {"rank " + std::to_string(dies), "signal 9"});
    }
  }
}

}  // namespace
}  // namespace fairlead::port_test
