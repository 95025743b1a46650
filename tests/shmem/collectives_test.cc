// What PEs do together: teams and active sets.
#include <algorithm>
#include <complex>
#include <set>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/lci/network_reduction.h"
#include "fairlead/systems/shmem/shmem.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr int kRanks = 5;

class ShmemCollectives : public PerWorld {};
INSTANTIATE_PORT_TESTS(ShmemCollectives);

bool team_moves(lci::Port& port, shmem_team_t team, std::size_t n) {
  const int me = shmem_team_my_pe(team);
  const int pes = shmem_team_n_pes(team);
  const auto all = static_cast<std::size_t>(pes);
  auto* const source = static_cast<long*>(shmem_malloc(2 * kRanks * n * sizeof(long)));
  auto* const dest = static_cast<long*>(shmem_malloc(2 * kRanks * (n + kRanks) * sizeof(long)));
  bool good = true;
  const auto at = [&](int pe, std::size_t i) { return pe * 1000L + static_cast<long>(i % 1000); };
  for (int root = 0; root < pes; root += 2) {
    for (std::size_t i = 0; i < n; ++i) source[i] = at(me, i);
    shmem_team_sync(team);
    good &= PORT_TEST_CHECK(shmem_long_broadcast(team, dest, source, n, root) == 0, port, root);
    for (std::size_t i = 0; i < n; ++i) {
      good = good && PORT_TEST_CHECK(dest[i] == at(root, i), port, i);
    }
  }
  shmem_team_sync(team);
  shmem_long_fcollect(team, dest, source, n);
  for (std::size_t i = 0; i < n * all; ++i) {
    good = good && PORT_TEST_CHECK(dest[i] == at(static_cast<int>(i / n), i % n), port, i);
  }
  // PE i gives i elements more.
  shmem_team_sync(team);
  shmem_long_collect(team, dest, source, n + static_cast<std::size_t>(me));
  std::size_t from = 0;
  for (int pe = 0; pe < pes; ++pe) {
    good &= PORT_TEST_CHECK(dest[from] == at(pe, 0), port, pe);
    from += n + static_cast<std::size_t>(pe);
  }
  for (std::size_t i = 0; i < 2 * n * all; ++i) source[i] = at(me, i);
  shmem_team_sync(team);
  shmem_long_alltoall(team, dest, source, n);
  const auto mine = static_cast<std::size_t>(me);
  for (std::size_t i = 0; i < n * all; ++i) {
    good =
        good && PORT_TEST_CHECK(dest[i] == at(static_cast<int>(i / n), mine * n + i % n), port, i);
  }
  shmem_team_sync(team);
  shmem_long_alltoalls(team, dest, source, 1, 2, std::min<std::size_t>(n, 20));
  const std::size_t few = std::min<std::size_t>(n, 20);
  for (std::size_t i = 0; i < few * all; ++i) {
    good =
        good && PORT_TEST_CHECK(
                    dest[i] == at(static_cast<int>(i / few), 2 * (mine * few + i % few)), port, i);
  }
  shmem_team_sync(team);
  shmem_long_sum_reduce(team, dest, source, n);
  for (std::size_t i = 0; i < n; ++i) {
    const long sum = pes * (pes - 1) / 2 * 1000L + pes * static_cast<long>(i % 1000);
    good = good && PORT_TEST_CHECK(dest[i] == sum, port, i);
  }
  shmem_team_sync(team);
  // Sums of those before each PE, with it and without.
  shmem_long_sum_inscan(team, dest, source, n);
  for (std::size_t i = 0; i < n; ++i) {
    const long sum = me * (me + 1) / 2 * 1000L + (me + 1) * static_cast<long>(i % 1000);
    good = good && PORT_TEST_CHECK(dest[i] == sum, port, i);
  }
  good &= PORT_TEST_CHECK(shmem_long_sum_exscan(team, source, source, n) == 0, port, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const long sum = me * (me - 1) / 2 * 1000L + me * static_cast<long>(i % 1000);
    good = good && PORT_TEST_CHECK(source[i] == sum, port, i);
  }
  shmem_team_sync(team);
  return good;
}

bool reductions(lci::Port& port) {
  const int me = shmem_my_pe();
  struct Values {
    double real;
    short small;
    unsigned bits;
    std::complex<double> complex;
    signed char tiny;
  };
  auto* const in = static_cast<Values*>(shmem_calloc(2, sizeof(Values)));
  Values* const out = in + 1;
  *in = {me == 2 ? -1.5 : me,
         static_cast<short>(me + 1),
         ~(1u << me),
         {0, 1.0 * me},
         static_cast<signed char>(me - 3)};
  shmem_team_t const team = SHMEM_TEAM_WORLD;
  shmem_double_min_reduce(team, &out->real, &in->real, 1);
  shmem_short_prod_reduce(team, &out->small, &in->small, 1);
  shmem_uint_and_reduce(team, &out->bits, &in->bits, 1);
  shmem_complexd_sum_reduce(team, &out->complex, &in->complex, 1);
  shmem_schar_max_reduce(team, &out->tiny, &in->tiny, 1);
  const bool good = PORT_TEST_CHECK(out->real == -1.5 && out->small == 120, port, out->small) &&
                    PORT_TEST_CHECK(out->bits == ~31u && out->tiny == 1, port, out->bits) &&
                    PORT_TEST_CHECK(out->complex == std::complex<double>(0, 10), port, 0);
  shmem_free(in);
  return good;
}

// Expect: teams and contexts that are destroyed leave room for others.
TEST_P(ShmemCollectives, teams_come_and_go) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    shmem_init();
    lci::Port& port = rank.port();
    std::set<shmem_team_t> teams;
    std::set<shmem_ctx_t> contexts;
    bool good = true;
    constexpr int kTimes = 700;
    auto* const sums = static_cast<long*>(shmem_calloc(kTimes, sizeof(long)));
    auto* const own = static_cast<long*>(shmem_calloc(kTimes, sizeof(long)));
    for (int i = 0; i < kTimes; ++i) {
      shmem_team_t team = SHMEM_TEAM_INVALID;
      shmem_team_split_strided(SHMEM_TEAM_WORLD, i % 2, 1, 2, nullptr, 0, &team);
      if (team == SHMEM_TEAM_INVALID) continue;
      teams.insert(team);
      shmem_ctx_t ctx = SHMEM_CTX_INVALID;
      shmem_team_create_ctx(team, 0, &ctx);
      contexts.insert(ctx);
      if (i % 50 < 2) {
        own[i] = i + shmem_my_pe();
        shmem_long_sum_reduce(team, sums + i, own + i, 1);
        good &= PORT_TEST_CHECK(sums[i] == 2 * i + (i % 2 == 0 ? 1 : 3), port, sums[i]);
      }
      if (i % 3 != 0) shmem_ctx_destroy(ctx);
      shmem_team_destroy(team);
    }
    good &= PORT_TEST_CHECK(teams.size() < 300, port, teams.size());
    good &= PORT_TEST_CHECK(contexts.size() < 300, port, contexts.size());
    shmem_free(own);
    shmem_free(sums);
    shmem_finalize();
    return good;
  });
}

TEST_P(ShmemCollectives, of_teams) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    shmem_init();
    lci::Port& port = rank.port();
    const int me = shmem_my_pe();
    bool good = team_moves(port, SHMEM_TEAM_WORLD, 1) & team_moves(port, SHMEM_TEAM_WORLD, 5000);
    good &= reductions(port);
    // PEs 4, 2, 0, in this order.
    shmem_team_t some = SHMEM_TEAM_WORLD;
    shmem_team_config_t config = {3};
    good &= PORT_TEST_CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 4, -2, 3, &config,
                                                     SHMEM_TEAM_NUM_CONTEXTS, &some) == 0,
                            port, 0);
    good &= PORT_TEST_CHECK((some != SHMEM_TEAM_INVALID) == (me % 2 == 0), port, 1);
    good &= PORT_TEST_CHECK(shmem_team_my_pe(some) == (me % 2 == 0 ? 2 - me / 2 : -1), port, 2);
    // Expect: who is not in it comes to the same allocations
    good &= some != SHMEM_TEAM_INVALID
                ? team_moves(port, some, 100)
                : shmem_malloc(2 * kRanks * 100 * sizeof(long)) != nullptr &&
                      shmem_malloc(2 * kRanks * (100 + kRanks) * sizeof(long)) != nullptr;
    auto* const word = static_cast<long*>(shmem_calloc(1, sizeof(long)));
    if (some != SHMEM_TEAM_INVALID) {
      config.num_contexts = 0;
      shmem_team_get_config(some, SHMEM_TEAM_NUM_CONTEXTS, &config);
      good &= PORT_TEST_CHECK(config.num_contexts == 3, port, config.num_contexts);
      good &= PORT_TEST_CHECK(shmem_team_translate_pe(some, 0, SHMEM_TEAM_WORLD) == 4, port, 3);
      good &= PORT_TEST_CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 3, some) == -1, port, 4);
      // Expect: PEs of a context are its team's
      shmem_ctx_t ctx = SHMEM_CTX_INVALID;
      shmem_team_t its = SHMEM_TEAM_INVALID;
      good &= PORT_TEST_CHECK(shmem_team_create_ctx(some, 0, &ctx) == 0, port, 5);
      good &= PORT_TEST_CHECK(shmem_ctx_get_team(ctx, &its) == 0 && its == some, port, 6);
      if (me == 2) shmem_ctx_long_p(ctx, word, 44, 0);
      shmem_ctx_destroy(ctx);
      shmem_team_destroy(some);
    }
    shmem_barrier_all();
    good &= PORT_TEST_CHECK(*word == (me == 4 ? 44 : 0), port, *word);
    // Two rows: 0 1 2, 3 4.
    shmem_team_t row = SHMEM_TEAM_INVALID;
    shmem_team_t column = SHMEM_TEAM_INVALID;
    shmem_team_split_2d(SHMEM_TEAM_WORLD, 3, nullptr, 0, &row, nullptr, 0, &column);
    good &= PORT_TEST_CHECK(shmem_team_my_pe(row) == me % 3 && shmem_team_my_pe(column) == me / 3,
                            port, 7);
    good &= PORT_TEST_CHECK(
        shmem_team_n_pes(row) == (me < 3 ? 3 : 2) && shmem_team_n_pes(column) == (me == 2 ? 1 : 2),
        port, 8);
    *word = me;
    shmem_long_sum_reduce(column, word, word, 1);
    const long expected = me == 2 ? 2 : 2 * (me % 3) + 3;
    good &= PORT_TEST_CHECK(*word == expected, port, *word);
    shmem_team_sync(row);
    good &= PORT_TEST_CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) >= 1, port, 9);
    shmem_finalize();
    return good;
  });
}

// Where switches combine operands: what is sum, minimum, maximum or bits of numbers is theirs.
TEST(ShmemInSwitches, teams_reduce) {
  for (const char* const bytes : {"64", "2048"}) {
    run::WorldOptions options = options_of("infiniband-ndr", kRanks);
    options.set = {std::string("network.reduction_bytes=") + bytes};
    const Result<run::RunReport> report = run::run_world(options, [](run::Context& rank) {
      shmem_init();
      lci::Port& port = rank.port();
      bool good = PORT_TEST_CHECK(lci::reductions_of(port) != nullptr, port, 0);
      good &= team_moves(port, SHMEM_TEAM_WORLD, 3000);
      good &= reductions(port);
      shmem_finalize();
      return good ? 0 : 1;
    });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0);
    EXPECT_EQ(report.value().failure, "");
  }
}

TEST_P(ShmemCollectives, of_active_sets) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    shmem_init();
    lci::Port& port = rank.port();
    const int me = shmem_my_pe();
    auto* const sync = static_cast<long*>(shmem_calloc(SHMEM_SYNC_SIZE, sizeof(long)));
    auto* const source = static_cast<std::uint64_t*>(shmem_calloc(8, 8));
    auto* const dest = static_cast<std::uint64_t*>(shmem_calloc(64, 8));
    auto* const ints = static_cast<int*>(shmem_calloc(8, sizeof(int)));
    for (unsigned i = 0; i < 8; ++i) source[i] = static_cast<unsigned>(me) * 10 + i;
    shmem_barrier_all();
    bool good = true;
    if (me % 2 == 0) {  // 0, 2, 4
      shmem_broadcast64(dest, source, 4, 1, 0, 1, 3, sync);
      // Expect: the root's own is left
      good &= PORT_TEST_CHECK(dest[3] == (me == 2 ? 0 : 23), port, dest[3]);
      shmem_barrier(0, 1, 3, sync);
      shmem_fcollect64(dest, source, 2, 0, 1, 3, sync);
      good &= PORT_TEST_CHECK(dest[2] == 20 && dest[5] == 41, port, dest[5]);
      shmem_sync(0, 1, 3, sync);
      shmem_collect64(dest, source, static_cast<std::size_t>(me / 2), 0, 1, 3, sync);
      good &= PORT_TEST_CHECK(dest[0] == 20 && dest[1] == 40 && dest[2] == 41, port, dest[2]);
      shmem_sync(0, 1, 3, sync);
      shmem_alltoall64(dest, source, 1, 0, 1, 3, sync);
      good &= PORT_TEST_CHECK(dest[0] == static_cast<unsigned>(me / 2) &&
                                  dest[2] == 40u + static_cast<unsigned>(me / 2),
                              port, dest[2]);
      for (int i = 0; i < 4; ++i) ints[i] = me + i;
      shmem_int_max_to_all(ints, ints, 4, 0, 1, 3, ints, sync);
      good &= PORT_TEST_CHECK(ints[0] == 4 && ints[3] == 7, port, ints[3]);
    }
    shmem_finalize();
    return good;
  });
}

// As Elanlib's hgsync, which it is.
TEST(ShmemOnEngines, wait_in_a_barrier_without_packets) {
  run_ranks("nirx", kRanks, [](run::Context& rank) {
    const PortCounters& counts = rank.port().counters();
    shmem_init();
    shmem_sync_all();
    const std::uint64_t sent = counts.packets_sent;
    const std::uint64_t received = counts.packets_received;
    for (int i = 0; i < 20; ++i) shmem_sync_all();
    bool good = true;
    if (shmem_my_pe() != 0) {
      good &= PORT_TEST_CHECK(counts.packets_sent == sent, rank.port(), counts.packets_sent - sent);
      good &= PORT_TEST_CHECK(counts.packets_received == received, rank.port(),
                              counts.packets_received - received);
    }
    shmem_finalize();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
