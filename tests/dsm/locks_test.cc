// Locks in every world and with the protocols that have them in other ways: turns, what they bring,
// ranks that are lost with one.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "fairlead/systems/dsm/handles.h"
#include "fairlead/systems/dsm/record_board.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using dsm::Dsm;
using dsm::kPageBytes;
using dsm::Shared;

constexpr const char* kProtocols[] = {"newgen-full", "newgen", "async"};
constexpr std::uint32_t kRanks = 4;

struct Ranks {
  run::Context& context;
  Dsm& dsm;
  Shared<std::uint64_t> words;  // of four pages

  void expect(std::size_t word, std::uint64_t value) {
    const std::uint64_t found = words.get(word);
    if (found != value) {
      context.abort_job(1, fmt::format("word {}: {}, not {}", word, found, value));
    }
  }
};

constexpr std::size_t kPageWords = kPageBytes / sizeof(std::uint64_t);

Result<run::RunReport> run_locks(const std::string& world, const char* protocol,
                                 const std::function<void(Ranks&)>& body, std::size_t pages = 64) {
  return run::run_world(options_of(world, kRanks), [&](run::Context& context) {
    dsm::Options options;
    options.heap_bytes = pages * kPageBytes;
    options.protocol = dsm::protocol_of(protocol).value();
    options.engine = dsm::EngineKind::checked;
    Result<Dsm*> started = Dsm::start(context, options);
    if (!started.ok()) context.abort_job(1, started.error().text);
    {
      Dsm& dsm = *started.value();
      Ranks ranks{context, dsm, Shared<std::uint64_t>::allocate(dsm, 4 * kPageWords)};
      body(ranks);
    }
    started.value()->stop();
    return 0;
  });
}

void expect_good(const std::string& world, const char* protocol,
                 const std::function<void(Ranks&)>& body, std::size_t pages = 64) {
  const Result<run::RunReport> report = run_locks(world, protocol, body, pages);
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().exit_code, 0) << protocol << ": " << report.value().failure;
}

class DsmLocks : public PerWorld {};
INSTANTIATE_PORT_TESTS(DsmLocks);

TEST_P(DsmLocks, CountExactlyWhatAllRanksAdd) {
  for (const char* const protocol : kProtocols) {
    expect_good(GetParam(), protocol, [](Ranks& ranks) {
      constexpr std::uint64_t kTurns = 25;
      for (std::uint64_t turn = 0; turn < kTurns; ++turn) {
        // Locks of three homes, whose counters share a page.
        const auto lock = static_cast<std::uint32_t>((turn + ranks.dsm.self()) % 3);
        const dsm::LockGuard guard(ranks.dsm, lock);
        ranks.words.set(lock, ranks.words.get(lock) + 1);
      }
      ranks.dsm.barrier();
      std::uint64_t all = 0;
      for (std::size_t lock = 0; lock < 3; ++lock) all += ranks.words.get(lock);
      if (all != kTurns * kRanks) ranks.context.abort_job(1, fmt::format("{} turns", all));
    });
  }
}

// Rank by rank, each by a lock that only it and the next one ever take.
TEST_P(DsmLocks, BringWhatCameByOtherLocksBefore) {
  for (const char* const protocol : kProtocols) {
    expect_good(GetParam(), protocol, [](Ranks& ranks) {
      const std::uint32_t self = ranks.dsm.self();
      for (std::size_t page = 0; page < 4; ++page) ranks.expect(page * kPageWords, 0);
      ranks.dsm.barrier();
      for (std::uint64_t round = 1; round <= 3; ++round) {
        bool came = self == 0;
        while (!came) {
          const dsm::LockGuard guard(ranks.dsm, 10 + self - 1);
          came = ranks.words.get(3 * kPageWords + 10 + self - 1) == round;
        }
        for (std::uint32_t before = 0; before < self; ++before) {
          ranks.expect(before * kPageWords, round);
        }
        if (self < 3) ranks.words.set(self * kPageWords, round);
        if (self + 1 < kRanks) {
          const dsm::LockGuard guard(ranks.dsm, 10 + self);
          ranks.words.set(3 * kPageWords + 10 + self, round);
        }
        ranks.dsm.barrier();
      }
    });
  }
}

// More notices between two barriers than a board has room for: it begins anew, several times.
TEST(DsmLockRecords, GoOnWhereABoardBeginsAnew) {
  for (const char* const world : {"loop", "generic-hca"}) {
    expect_good(world, "newgen-full", [](Ranks& ranks) {
      constexpr std::uint64_t kTurns = dsm::RecordBoard::kRecordsMax / 4 / 2 * 5 / 2;
      for (int barrier = 0; barrier < 2; ++barrier) {
        // Ranks 2 and 3 read a board seldom: in another generation each time.
        const std::uint64_t turns = ranks.dsm.self() < 2 ? kTurns : 3;
        std::uint64_t most = 0;
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
          const dsm::LockGuard guard(ranks.dsm, 5);
          for (std::size_t page = 0; page < 4; ++page) {
            const std::size_t word = page * kPageWords;
            ranks.words.set(word, ranks.words.get(word) + 1);
          }
          const std::uint64_t count = ranks.words.get(0);
          if (count <= most) ranks.context.abort_job(1, "an older value");
          most = count;
        }
        ranks.dsm.barrier();
        for (std::size_t page = 0; page < 4; ++page) {
          ranks.expect(page * kPageWords,
                       (2 * kTurns + 6) * static_cast<std::uint64_t>(barrier + 1));
        }
        ranks.dsm.barrier();
      }
    });
  }
}

// More pages written than a board begins anew with: what there is is asked for by messages.
TEST(DsmLockRecords, GoOnWhereABoardIsFull) {
  for (const char* const world : {"loop", "generic-hca"}) {
    expect_good(
        world, "newgen-full",
        [](Ranks& ranks) {
          constexpr std::size_t kPages = dsm::RecordBoard::kRecordsMax / 2 + 100;
          const auto many = Shared<std::uint64_t>::allocate(ranks.dsm, kPages * kPageWords);
          for (std::uint64_t turn = 1; turn <= 2; ++turn) {
            if (ranks.dsm.self() < 2) {
              const dsm::LockGuard guard(ranks.dsm, 5);
              const std::uint64_t sum = ranks.words.get(0) + 1;
              ranks.words.set(0, sum);
              for (std::size_t page = 0; page < kPages; ++page) {
                const std::uint64_t before = many.get(page * kPageWords);
                if (before != sum - 1)
                  ranks.context.abort_job(1, fmt::format("page {}: {}", page, before));
                many.set(page * kPageWords, sum);
              }
            }
          }
          ranks.dsm.barrier();
          ranks.expect(0, 4);
        },
        2 * dsm::RecordBoard::kRecordsMax);
  }
}

class DsmLostWithALock : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(DsmLostWithALock, ::testing::Values("shm", "udp", "nirx"));

std::string failure_of(const std::string& world, const char* protocol,
                       const std::function<void(Ranks&)>& body) {
  const Result<run::RunReport> report = run_locks(world, protocol, body);
  if (!report.ok()) return report.error().text;
  EXPECT_NE(report.value().exit_code, 0) << "the job ended well";
  return report.value().failure;
}

TEST_P(DsmLostWithALock, AHolderIsNamed) {
  expect_words(failure_of(GetParam(), "newgen-full",
                          [](Ranks& ranks) {
                            if (ranks.dsm.self() == 2) ranks.dsm.acquire(4);
                            ranks.dsm.barrier();
                            if (ranks.dsm.self() == 2) raise(SIGKILL);
                            ranks.dsm.acquire(4);
                          }),
               {"rank 2", "SIGKILL"});
}

TEST_P(DsmLostWithALock, AHomeIsNamed) {
  expect_words(failure_of(GetParam(), "newgen-full",
                          [](Ranks& ranks) {
                            ranks.dsm.barrier();
                            if (ranks.dsm.self() == 2) raise(SIGKILL);
                            for (;;) {
                              ranks.dsm.acquire(2);
                              ranks.dsm.release(2);
                            }
                          }),
               {"rank 2", "SIGKILL"});
}

// It waits in the middle of the queue.
TEST_P(DsmLostWithALock, AWaiterIsNamed) {
  expect_words(failure_of(GetParam(), "newgen-full",
                          [](Ranks& ranks) {
                            if (ranks.dsm.self() == 0) ranks.dsm.acquire(4);
                            ranks.dsm.barrier();
                            if (ranks.dsm.self() == 2) alarm(1);
                            if (ranks.dsm.self() != 0) ranks.dsm.acquire(4);
                            lci::Port& port = ranks.context.port();
                            const Ps end = port.now() + seconds(5);
                            while (port.now() < end) {
                              (void)port.wait({.deadline = end, .what = "a lost rank"});
                            }
                            ranks.dsm.release(4);
                          }),
               {"rank 2", "SIGALRM"});
}

}  // namespace
}  // namespace fairlead::port_test
