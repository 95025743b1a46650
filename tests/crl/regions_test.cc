// CRL in every world: what programs see of regions, whatever carries them.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/systems/crl/crl.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

// Everybody's: the ids that each rank made, by rank.
std::vector<crl_rid_t> share(const std::vector<crl_rid_t>& mine) {
  const unsigned ranks = crl_num_nodes();
  std::vector<crl_rid_t> all(mine.size() * ranks);
  for (unsigned rank = 0; rank < ranks; ++rank) {
    crl_rid_t* const part = &all[rank * mine.size()];
    if (rank == crl_self_addr()) {
      std::copy(mine.begin(), mine.end(), part);
      if (ranks > 1) rgn_bcast_send(mine.size() * sizeof mine[0], part);
    } else {
      rgn_bcast_recv(mine.size() * sizeof mine[0], part);
    }
  }
  return all;
}

class Regions : public PerWorld {};
INSTANTIATE_PORT_TESTS(Regions);

std::uint64_t word_of(std::uint64_t count, std::size_t at) {
  return count * 0x9e3779b97f4a7c15 + at;
}

// The words of a region: how often it was written, and what follows from that.
bool is_whole(const std::uint64_t* words) {
  const std::size_t n = rgn_size(words) / sizeof *words;
  for (std::size_t i = 1; i < n; ++i) {
    if (words[i] != word_of(words[0], i)) return false;
  }
  return true;
}
void write_next(std::uint64_t* words) {
  const std::size_t n = rgn_size(words) / sizeof *words;
  ++words[0];
  for (std::size_t i = 1; i < n; ++i) words[i] = word_of(words[0], i);
}

// One rank's random operations on all regions, most of which are not mapped at any time.
struct RandomProgram {
  RandomProgram(lci::Port& its_port, const std::vector<crl_rid_t>& all, std::uint64_t seed)
      : port(its_port), rids(all), prng(seed), writes(all.size()), seen(all.size()) {}

  bool operate() {
    const std::size_t which = prng.below(rids.size());
    auto* const words = static_cast<std::uint64_t*>(rgn_map(rids[which]));
    bool good = true;
    for (std::uint64_t times = 1 + prng.below(2); times > 0; --times) {
      if (prng.below(3) == 0) {
        const crl::write_guard<std::uint64_t> guard(words);
        // Expect: all that this rank has seen, and the words of one write.
        good &= PORT_TEST_CHECK(words[0] >= seen[which] && is_whole(words), port, which);
        // Interrupts may come inside an operation; they are not for this region.
        port.charge({.ops = prng.below(20'000)});
        write_next(words);
        ++writes[which];
        seen[which] = words[0];
      } else {
        const crl::read_guard<std::uint64_t> guard(words);
        const std::uint64_t count = words[0];
        good &= PORT_TEST_CHECK(count >= seen[which] && is_whole(words), port, which);
        port.charge({.ops = prng.below(20'000)});
        const crl::read_guard<std::uint64_t> nested(words);
        good &= PORT_TEST_CHECK(words[0] == count, port, which);
        seen[which] = count;
      }
    }
    if (prng.below(8) == 0) rgn_flush(words);
    rgn_unmap(words);
    return good;
  }

  lci::Port& port;
  const std::vector<crl_rid_t>& rids;
  Prng prng;
  std::vector<std::uint64_t> writes;  // of this rank, by region
  std::vector<std::uint64_t> seen;    // the greatest count, by region
};

bool random_operations(run::Context& rank, int operations, bool checked) {
  lci::Port& port = rank.port();
  crl_options_t options = crl_default_options();
  options.unmapped_regions_max = 3;
  options.check = checked ? 1 : 0;
  crl_init(&options);
  std::vector<crl_rid_t> mine;
  for (const std::size_t bytes : {8, 88, 1024, 41'000}) mine.push_back(rgn_create(bytes));
  const std::vector<crl_rid_t> rids = share(mine);
  for (const crl_rid_t rid : mine) {
    auto* const words = static_cast<std::uint64_t*>(rgn_map(rid));
    rgn_start_write(words);
    write_next(words);
    rgn_end_write(words);
    rgn_unmap(words);
  }
  rgn_barrier();
  RandomProgram program(port, rids, port.self() + 1);
  bool good = true;
  for (int i = 0; i < operations && good; ++i) good = program.operate();
  // A rank that saw something wrong still comes to the barriers.
  rgn_barrier();
  for (std::size_t i = 0; i < rids.size(); ++i) {
    const double all = rgn_reduce_dadd(static_cast<double>(program.writes[i]));
    auto* const words = static_cast<std::uint64_t*>(rgn_map(rids[i]));
    rgn_start_read(words);
    // Expect: no write of anybody's was lost.
    good &= PORT_TEST_CHECK(is_whole(words), port, i);
    good &= PORT_TEST_CHECK(static_cast<double>(words[0]) == all + 1, port, words[0]);
    rgn_end_read(words);
    rgn_unmap(words);
  }
  const crl_counts_t counts = crl_counts();
  good &= PORT_TEST_CHECK(port.size() == 1 || counts.evictions > 0, port, counts.evictions);
  good &= PORT_TEST_CHECK(port.size() == 1 || counts.invalidations > 0, port, 0);
  crl_finalize();
  return good;
}

TEST_P(Regions, random_operations_of_all_ranks_agree_with_one_order) {
  run_ranks(GetParam(), 4, [](run::Context& rank) { return random_operations(rank, 150, false); });
}

TEST_P(Regions, the_same_in_checked_form) {
  run_ranks(GetParam(), 3, [](run::Context& rank) { return random_operations(rank, 60, true); });
}

TEST_P(Regions, one_rank_alone) {
  run_ranks(GetParam(), 1, [](run::Context& rank) { return random_operations(rank, 40, false); });
}

// A flag that another rank sets: the reader finds its copy good until it is asked back.
TEST_P(Regions, a_rank_that_only_reads_its_copy_sees_the_write) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    crl_init(nullptr);
    const std::vector<crl_rid_t> rids = share({rgn_create(sizeof(int))});
    // The flag's home is the rank that waits, so that it has a copy of its own; then the other's.
    for (const crl_rid_t rid : rids) {
      auto* const flag = static_cast<int*>(rgn_map(rid));
      rgn_barrier();
      if (crl_self_addr() == 0) {
        int seen = 0;
        while (seen == 0) {
          const crl::read_guard<int> guard(flag);
          seen = *guard;
        }
      } else {
        rank.port().charge({.ops = 1'000'000});
        const crl::write_guard<int> guard(flag);
        *guard = 1;
      }
      rgn_unmap(flag);
    }
    crl_finalize();
    return true;
  });
}

TEST_P(Regions, a_destroyed_region_leaves_the_others) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    crl_init(nullptr);
    const crl_rid_t mine = rgn_create(5000);
    const crl_rid_t kept = rgn_create(16);
    const std::vector<crl_rid_t> rids = share({mine, kept});
    // Copies of all of them everywhere.
    for (const crl_rid_t rid : rids) {
      void* const mapped = rgn_map(rid);
      rgn_start_read(mapped);
      rgn_end_read(mapped);
      rgn_unmap(mapped);
    }
    rgn_barrier();
    rgn_destroy(mine);
    const crl_rid_t next = rgn_create(8);
    bool good = PORT_TEST_CHECK(next != mine && next != kept, rank.port(), next);
    for (std::size_t i = 1; i < rids.size(); i += 2) {
      auto* const mapped = static_cast<char*>(rgn_map(rids[i]));
      rgn_start_write(mapped);
      ++mapped[15];
      rgn_end_write(mapped);
      rgn_unmap(mapped);
    }
    rgn_barrier();
    for (std::size_t i = 1; i < rids.size(); i += 2) {
      auto* const mapped = static_cast<char*>(rgn_map(rids[i]));
      const crl::read_guard<char> guard(mapped);
      good &= PORT_TEST_CHECK(guard[15] == 3, rank.port(), guard[15]);
      good &= PORT_TEST_CHECK(rgn_rid(mapped) == rids[i], rank.port(), rgn_rid(mapped));
    }
    crl_finalize();
    return good;
  });
}

TEST_P(Regions, collectives) {
  run_ranks(GetParam(), 7, [](run::Context& rank) {
    lci::Port& port = rank.port();
    crl_init(nullptr);
    const unsigned self = crl_self_addr();
    bool good = true;
    for (unsigned i = 0; i < 40; ++i) {
      const double x = static_cast<double>(self * i);
      good &= PORT_TEST_CHECK(rgn_reduce_dadd(x) == 21.0 * i, port, i);
      good &= PORT_TEST_CHECK(rgn_reduce_dmax(x - 1) == 6.0 * i - 1, port, i);
      good &= PORT_TEST_CHECK(rgn_reduce_dmin(1 - x) == 1 - 6.0 * i, port, i);
      rgn_barrier();
    }
    // Senders need not wait; what comes early waits for its receiver.
    constexpr std::size_t kSizes[] = {0, 1, 4, 2048, 2049, 100'000, 300'000};
    for (unsigned i = 0; i < 60; ++i) {
      const std::size_t bytes = kSizes[i % std::size(kSizes)];
      std::vector<unsigned char> data(bytes);
      const unsigned sender = i < 20 ? 3 : i % 7;
      const auto byte = [i](std::size_t at) { return static_cast<unsigned char>(at * 7 + i); };
      if (sender == self) {
        for (std::size_t at = 0; at < bytes; ++at) data[at] = byte(at);
        rgn_bcast_send(bytes, data.data());
      } else {
        rgn_bcast_recv(bytes, data.data());
        for (std::size_t at = 0; at < bytes && good; ++at) {
          good &= PORT_TEST_CHECK(data[at] == byte(at), port, i);
        }
      }
    }
    crl_finalize();
    return good;
  });
}

class RealRegions : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(RealRegions, ::testing::ValuesIn(real_worlds()));

TEST_P(RealRegions, a_killed_rank_ends_the_job_by_its_name) {
  const Result<run::RunReport> report =
      run::run_world(options_of(GetParam(), 3), [](run::Context&) {
        crl_init(nullptr);
        const std::vector<crl_rid_t> rids = share({rgn_create(64)});
        for (int i = 0;; ++i) {
          for (const crl_rid_t rid : rids) {
            auto* const mapped = static_cast<std::uint64_t*>(rgn_map(rid));
            const crl::write_guard<std::uint64_t> guard(mapped);
            if (i == 20 && crl_self_addr() == 2) raise(SIGKILL);
          }
        }
        return 0;
      });
  ASSERT_TRUE(report.ok());
  EXPECT_NE(report.value().exit_code, 0);
  EXPECT_NE(report.value().failure.find("rank 2"), std::string::npos) << report.value().failure;
}

}  // namespace
}  // namespace fairlead::port_test
