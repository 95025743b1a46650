// Where pages have their homes: as a program asks, and with who writes them.
#include <fmt/format.h>

#include <functional>
#include <string>

#include "fairlead/systems/dsm/dsm.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using dsm::Counts;
using dsm::Dsm;
using dsm::kPageBytes;

constexpr std::size_t kPages = 4;

class Job {
 public:
  Job(run::Context& context, Dsm& dsm) : context_(context), dsm_(dsm) {
    char* block = nullptr;
    if (dsm.self() == 0) block = static_cast<char*>(dsm.allocate(kPages * kPageBytes));
    const std::uint64_t handle = dsm.agree(block == nullptr ? 0 : dsm.handle(block));
    block_ = static_cast<volatile char*>(dsm.address(handle));
  }

  Dsm& dsm() { return dsm_; }
  Rank self() const { return dsm_.self(); }
  volatile char& at(std::size_t page, std::size_t byte = 0) {
    return block_[page * kPageBytes + byte];
  }
  // As at(), where the engine has to be told.
  volatile char& touched(std::size_t page, std::size_t byte, bool writes) {
    dsm_.touch(const_cast<char*>(&at(page, byte)), 1, writes);
    return at(page, byte);
  }
  void place(std::size_t page, Rank rank) {
    dsm_.place(const_cast<char*>(&at(page)), kPageBytes, rank);
  }
  Counts counts() const { return dsm_.counts(); }
  void expect(bool good, const std::string& what) {
    if (!good) context_.abort_job(1, what);
  }
  // Each page has in each round what its writers of the round before left.
  void expect_values(char value) {
    for (std::size_t page = 0; page < kPages; ++page) {
      const int found = at(page);
      expect(found == value, fmt::format("page {}: {}, not {}", page, found, int{value}));
    }
  }

 private:
  run::Context& context_;
  Dsm& dsm_;
  volatile char* block_;
};

// Three ranks run `body` with each protocol.
void run_jobs(const std::string& world, bool migrate, const std::function<void(Job&)>& body,
              dsm::EngineKind engine = dsm::EngineKind::automatic) {
  for (const dsm::ProtocolName& protocol : dsm::kProtocolNames) {
    const Result<run::RunReport> report =
        run::run_world(options_of(world, 3), [&](run::Context& context) {
          dsm::Options options;
          options.heap_bytes = 64 * kPageBytes;
          options.protocol = {protocol.fetch, protocol.diff, false};
          options.migrate = migrate;
          options.ahead = false;
          options.engine = engine;
          Result<Dsm*> started = Dsm::start(context, options);
          if (!started.ok()) context.abort_job(1, started.error().text);
          Job job(context, *started.value());
          body(job);
          started.value()->stop();
          return 0;
        });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0) << protocol.name << ": " << report.value().failure;
  }
}

class Homes : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(Homes, ::testing::Values("shm", "udp"));

// Rank 0 touches all pages first, then another rank writes each of them, round by round.
void write_rounds(Job& job, int rounds, char value = 1) {
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t page = 0; page < kPages; ++page) {
      if (job.self() == 1 + page % 2) job.at(page) = static_cast<char>(value + round);
    }
    job.dsm().barrier();
  }
}

TEST_P(Homes, FollowTheRankThatWritesAlone) {
  run_jobs(GetParam(), true, [](Job& job) {
    if (job.self() == 0) {
      for (std::size_t page = 0; page < kPages; ++page) job.at(page) = 0;
    }
    job.dsm().barrier();
    write_rounds(job, 2);
    const Counts before = job.counts();
    write_rounds(job, 4, 3);
    const Counts after = job.counts();
    if (job.self() != 0) {
      // Expect: a diff for each page in two rounds, then none.
      job.expect(after.migrations == kPages / 2, fmt::format("{} moved", after.migrations));
      job.expect(after.diffs == before.diffs, fmt::format("{} diffs more", after.diffs));
    }
    job.expect_values(6);
    job.dsm().barrier();
    // Expect: what others write comes to the new home, and the old one may have the page back.
    for (char round = 0; round < 4; ++round) {
      if (job.self() == 0) {
        for (std::size_t page = 0; page < kPages; ++page) {
          job.at(page) = static_cast<char>(20 + round);
          job.at(page, 100) = 1;
        }
      }
      job.dsm().barrier();
      job.expect_values(static_cast<char>(20 + round));
      job.dsm().barrier();
    }
    if (job.self() == 0) {
      job.expect(job.counts().migrations == kPages,
                 fmt::format("{} moved back", job.counts().migrations));
    }
    write_rounds(job, 3, 40);
    job.expect_values(42);
    job.dsm().barrier();
  });
}

TEST_P(Homes, StayWhereSeveralWrite) {
  run_jobs(GetParam(), true, [](Job& job) {
    for (char round = 1; round < 6; ++round) {
      for (std::size_t page = 0; page < kPages; ++page) job.at(page, job.self()) = round;
      job.dsm().barrier();
      for (std::size_t i = 0; i < 3; ++i) {
        job.expect(job.at(1, i) == round, fmt::format("byte {}", i));
      }
      job.dsm().barrier();
    }
    job.expect(job.counts().migrations == 0, "a page has moved");
  });
}

TEST_P(Homes, StayWithoutTheOption) {
  run_jobs(GetParam(), false, [](Job& job) {
    if (job.self() == 0) {
      for (std::size_t page = 0; page < kPages; ++page) job.at(page) = 0;
    }
    job.dsm().barrier();
    write_rounds(job, 4);
    const Counts counts = job.counts();
    job.expect(counts.migrations == 0, "a page has moved");
    if (job.self() != 0) {
      job.expect(counts.diffs == 4 * kPages / 2, fmt::format("{} diffs", counts.diffs));
    }
  });
}

TEST_P(Homes, AreWhereTheProgramPlacesThem) {
  run_jobs(GetParam(), false, [](Job& job) {
    if (job.self() == 0) {
      for (std::size_t page = 0; page < kPages; ++page) {
        job.place(page, static_cast<Rank>(1 + page % 2));
      }
      // Expect: who writes first is not the home, and a second hint changes nothing.
      for (std::size_t page = 0; page < kPages; ++page) {
        job.at(page, 8) = 7;
        job.place(page, 0);
      }
      job.expect(job.counts().diffs == 0, "a diff before the barrier");
    }
    job.dsm().barrier();
    write_rounds(job, 3);
    const Counts counts = job.counts();
    const std::uint64_t expected = job.self() == 0 ? kPages : 0;
    job.expect(counts.diffs == expected, fmt::format("{} diffs", counts.diffs));
    job.expect_values(3);
    for (std::size_t page = 0; page < kPages; ++page) {
      job.expect(job.at(page, 8) == 7, fmt::format("page {} lost what was written first", page));
    }
    job.dsm().barrier();
  });
}

// Ranks give hints and touch at the same moment: whoever is first, all know one home. On InfiniBand
// the adapter's atomics are not atomic with a processor's.
TEST(HomesOfOnePage, AreOneWhereRanksPlaceAndTouchAtOnce) {
  for (const char* const world : {"loop", "generic-hca", "infiniband-pcie"}) {
    const auto body = [](Job& job) {
      job.dsm().barrier();
      for (std::size_t i = 0; i < kPages; ++i) {
        const std::size_t page = (i + job.self()) % kPages;
        if (job.self() != 1) job.place(page, static_cast<Rank>((job.self() + i) % 3));
        job.touched(page, job.self(), true) = static_cast<char>(10 + job.self());
      }
      job.dsm().barrier();
      for (std::size_t page = 0; page < kPages; ++page) {
        for (std::size_t rank = 0; rank < 3; ++rank) {
          const int found = job.touched(page, rank, false);
          job.expect(found == static_cast<int>(10 + rank),
                     fmt::format("page {}, byte {}: {}", page, rank, found));
        }
      }
      job.dsm().barrier();
    };
    run_jobs(world, false, body, dsm::EngineKind::checked);
  }
}

// Two readers of four pages: each page is one write of the network's, which tells its reader.
TEST(DsmAsync, PutsPagesIntoViewsWhereTheNetworkCountsPuts) {
  const Result<run::RunReport> report =
      run::run_world(options_of("infiniband-pcie", 3), [](run::Context& context) {
        dsm::Options options;
        options.heap_bytes = 64 * kPageBytes;
        options.protocol = dsm::protocol_of("async").value();
        options.engine = dsm::EngineKind::checked;
        Result<Dsm*> started = Dsm::start(context, options);
        if (!started.ok()) context.abort_job(1, started.error().text);
        {
          Job job(context, *started.value());
          for (std::size_t page = 0; job.self() == 0 && page < kPages; ++page) {
            job.touched(page, 7, true) = static_cast<char>(page + 1);
          }
          job.dsm().barrier();
          for (std::size_t page = 0; page < kPages; ++page) {
            job.expect(job.touched(page, 7, false) == static_cast<char>(page + 1), "an old page");
          }
        }
        started.value()->stop();
        return 0;
      });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
  EXPECT_EQ(report.value().counters.remote_copies, 2 * kPages);
  EXPECT_EQ(report.value().counters.remote_copy_bytes, 2 * kPages * kPageBytes);
}

}  // namespace
}  // namespace fairlead::port_test
