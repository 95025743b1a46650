// Reductions that the network does: the hosts' own results, on machines whose switches or
// interfaces combine operands.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/base/reduction.h"
#include "fairlead/lci/network_reduction.h"
#include "fairlead/run/launch/world.h"
#include "fairlead/systems/elan/elan.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

// A machine, and who combines there.
struct Place {
  const char* on;
  const char* lci;
  const char* set;
  bool floats;
};
// Packets are short, so that reductions are of several.
const Place kSwitches = {"qsnet-es40", "elan", "network.reduction_bytes=64", true};
const Place kInterfaces = {"qsnet-es40", "elan-tree", "", false};
const Place kHosts = {"qsnet-es40", "elan-host", "network.reduction_bytes=64", false};
const Place kToday = {"infiniband-ndr", "direct", "network.reduction_bytes=64", true};
const Place kTodaysHosts = {"infiniband-ndr", "direct", "network.reduction_bytes=0", false};

run::WorldOptions options_for(const Place& place, unsigned ranks) {
  run::WorldOptions options = options_of(place.on, ranks);
  options.lci = place.lci;
  if (place.set[0] != '\0') options.set.emplace_back(place.set);
  return options;
}

run::RunReport run_on(const Place& place, unsigned ranks,
                      const std::function<bool(run::Context&, ELAN_BASE*)>& body) {
  const Result<run::RunReport> report =
      run::run_world(options_for(place, ranks), [&](run::Context& rank) {
        ELAN_BASE* const base = elan_baseInit(0);
        const bool good = body(rank, base);
        elan_fini();
        return good ? 0 : 1;
      });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  if (!report.ok()) return {};
  EXPECT_EQ(report.value().exit_code, 0) << place.on << " " << place.lci;
  EXPECT_EQ(report.value().failure, "");
  return report.value();
}

// Element `i` of a member's operand: small whole numbers, which every type has.
template <class T>
T element(std::uint64_t member, std::size_t i) {
  return static_cast<T>((member * 7 + i * 3) % 11 + 1);
}

template <class T>
bool reduces(lci::Port& port, ELAN_GROUP* group, std::size_t count, unsigned flags) {
  bool good = true;
  const std::uint64_t members = elan_groupSize(group);
  for (std::uint32_t op = 0; op < kReduceOps; ++op) {
    const ELAN_REDUCE_FN fn = elan_reduceFn(static_cast<ELAN_REDUCE_OP>(op),
                                            static_cast<ELAN_REDUCE_TYPE>(reduce_type_of<T>()));
    good &= PORT_TEST_CHECK(
        (fn != nullptr) == is_defined(static_cast<ReduceOp>(op), reduce_type_of<T>()), port, op);
    if (fn == nullptr) continue;
    std::vector<T> in(count);
    std::vector<T> out(count, T{99});
    std::vector<T> expected(count);
    std::vector<T> other(count);
    for (std::size_t i = 0; i < count; ++i) {
      in[i] = element<T>(elan_groupSelf(group), i);
      expected[i] = element<T>(0, i);
    }
    for (std::uint64_t member = 1; member < members; ++member) {
      for (std::size_t i = 0; i < count; ++i) other[i] = element<T>(member, i);
      fn(other.data(), expected.data(), count, nullptr);
    }
    elan_reduce(group, in.data(), out.data(), sizeof(T), count, fn, nullptr, flags);
    // Expect: what the host computes, where the result goes; operands are as they were
    const bool mine = (flags & ELAN_RESULT_ALL) != 0 || elan_groupSelf(group) == 0;
    if (!mine) expected.assign(count, T{99});
    good &=
        PORT_TEST_CHECK(std::memcmp(out.data(), expected.data(), count * sizeof(T)) == 0, port, op);
    good &=
        PORT_TEST_CHECK(in[count - 1] == element<T>(elan_groupSelf(group), count - 1), port, op);
    // Expect: in place as well
    elan_reduce(group, in.data(), in.data(), sizeof(T), count, fn, nullptr,
                flags | ELAN_RESULT_ALL);
    if (mine) {
      good &= PORT_TEST_CHECK(std::memcmp(in.data(), expected.data(), count * sizeof(T)) == 0, port,
                              op);
    }
  }
  return good;
}

template <class... T>
bool reduces_all(lci::Port& port, ELAN_GROUP* group, std::size_t count, unsigned flags) {
  return (reduces<T>(port, group, count, flags) & ...);
}

bool reduces_everything(run::Context& rank, ELAN_BASE* base, const Place& place) {
  lci::Port& port = rank.port();
  lci::NetworkReductions* const below = lci::reductions_of(port);
  const bool network = &place != &kHosts && &place != &kTodaysHosts;
  bool good = PORT_TEST_CHECK((below != nullptr) == network, port, 0);
  if (below != nullptr) {
    good &= PORT_TEST_CHECK(below->combines(ReduceOp::sum, ReduceType::float64) == place.floats,
                            port, 0);
    good &= PORT_TEST_CHECK(below->reaches(0, port.size()), port, 0);
    good &= PORT_TEST_CHECK(!below->reaches(0, port.size() + 1), port, 0);
  }
  for (const std::size_t count : {std::size_t{1}, std::size_t{9}, std::size_t{300}}) {
    for (const unsigned flags : {ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL, ELAN_REDUCE_COMMUTE, 0u}) {
      good &= reduces_all<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double>(
          port, base->allGroup, count, flags);
    }
  }
  // Some in a row, and some that are not.
  std::vector<unsigned> row;
  std::vector<unsigned> odd;
  for (unsigned vp = 1; vp + 1 < port.size(); ++vp) row.push_back(vp);
  for (unsigned vp = 1; vp < port.size(); vp += 2) odd.push_back(vp);
  for (const std::vector<unsigned>& members : {row, odd}) {
    ELAN_GROUP* const group = elan_groupMake(base->state, members.size(),
                                             static_cast<unsigned>(members.size()), members.data());
    if (group == nullptr) continue;
    for (int i = 0; i < 3; ++i) {
      good &=
          reduces_all<std::int64_t, double>(port, group, 20, ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL);
    }
    elan_groupFree(group);
  }
  elan_gsync(base->allGroup);
  return good;
}

TEST(NetworkReductions, AreTheHostsOwn) {
  for (const Place* place : {&kSwitches, &kInterfaces, &kHosts, &kToday, &kTodaysHosts}) {
    const auto once = [place] {
      return run_on(*place, 9, [place](run::Context& rank, ELAN_BASE* base) {
        return reduces_everything(rank, base, *place);
      });
    };
    // Expect: a run repeats
    EXPECT_EQ(once().digest, once().digest) << place->on << " " << place->lci;
  }
}

// The mean time of a sum, in us.
double sum_us(const Place& place, unsigned nodes, std::size_t bytes) {
  double us = 0;
  (void)run_on(place, nodes, [&](run::Context& rank, ELAN_BASE* base) {
    std::vector<std::uint64_t> data(bytes / 8, rank.port().self());
    constexpr int kRounds = 5;
    std::uint64_t from = 0;
    for (int i = 0; i <= kRounds; ++i) {
      if (i == 1) from = elan_clock(base->state);
      elan_reduce(base->allGroup, data.data(), data.data(), 8, data.size(),
                  elan_reduceFn(ELAN_REDUCE_SUM, ELAN_UINT64), nullptr,
                  ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL);
    }
    if (rank.port().self() == 0) {
      us = static_cast<double>(elan_clock(base->state) - from) / 1e3 / kRounds;
    }
    return true;
  });
  return us;
}

TEST(NetworkReductions, SwitchesAreFasterThanHostsAndInterfaces) {
  const Place switches = {"qsnet-es40", "elan", "network.reduction_bytes=256", true};
  const double in_switches = sum_us(switches, 64, 8);
  EXPECT_LT(in_switches * 2, sum_us(kInterfaces, 64, 8));
  EXPECT_LT(in_switches * 2, sum_us(kHosts, 64, 8));
  // Expect: less than twice as long for sixteen times the nodes (three switches up for one)
  EXPECT_LT(in_switches, sum_us(switches, 4, 8) * 2);
  const Place today = {"infiniband-ndr", "direct", "", true};
  EXPECT_LT(sum_us(today, 64, 8) * 2, sum_us(kTodaysHosts, 64, 8));
  // Expect: a barrier is such a reduction there
  double us = 0;
  (void)run_on(today, 64, [&us](run::Context&, ELAN_BASE* base) {
    elan_gsync(base->allGroup);
    const std::uint64_t from = elan_clock(base->state);
    elan_gsync(base->allGroup);
    us = static_cast<double>(elan_clock(base->state) - from) / 1e3;
    return true;
  });
  EXPECT_LT(us, 3);
}

// Broadcasts of all sizes from a root whose data may only be read. The time of one of 8 bytes, in
// us.
double broadcast_us(const Place& place, unsigned nodes) {
  double us = 0;
  (void)run_on(place, nodes, [&us](run::Context& rank, ELAN_BASE* base) {
    lci::Port& port = rank.port();
    bool good = true;
    constexpr std::size_t kMost = (64 << 10) + 5;
    std::vector<unsigned char> sent(kMost);
    for (std::size_t i = 0; i < kMost; ++i) sent[i] = static_cast<unsigned char>(i * 7 + 1);
    unsigned root = 0;
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{9},
                                std::size_t{300}, kMost}) {
      root = (root + 2) % port.size();
      for (const auto call : {elan_bcast, elan_hbcast}) {
        std::vector<unsigned char> mine(n + 1, 0xee);
        const bool sends = port.self() == root;
        call(base->allGroup, sends ? sent.data() : mine.data(), n, root, ELAN_BCAST_SYSTEM);
        // Expect: the root's bytes and none behind them
        good &= PORT_TEST_CHECK(sends || std::memcmp(mine.data(), sent.data(), n) == 0, port, n);
        good &= PORT_TEST_CHECK(mine[n] == 0xee, port, n);
      }
    }
    for (std::size_t i = 0; i < kMost; ++i) {
      good = good && PORT_TEST_CHECK(sent[i] == static_cast<unsigned char>(i * 7 + 1), port, i);
    }
    std::uint64_t word = 1;
    const std::uint64_t from = elan_clock(base->state);
    elan_bcast(base->allGroup, &word, sizeof word, 0, ELAN_BCAST_SYSTEM);
    if (port.self() == 0) us = static_cast<double>(elan_clock(base->state) - from) / 1e3;
    elan_gsync(base->allGroup);
    return good;
  });
  return us;
}

TEST(NetworkReductions, BroadcastsAreSuchWhereTheNetworkHasNoOther) {
  // Expect: a fraction of what trees of messages take
  EXPECT_LT(broadcast_us(kToday, 16) * 3, broadcast_us(kTodaysHosts, 16));
  for (const Place* place : {&kSwitches, &kInterfaces, &kHosts}) (void)broadcast_us(*place, 9);
}

// Without a conditional of the network's, asking all would take longer than their coming.
TEST(NetworkReductions, AnHgsyncWithoutConditionalIsAGsync) {
  for (const Place* place : {&kInterfaces, &kHosts, &kToday, &kTodaysHosts}) {
    double us[2] = {};
    (void)run_on(*place, 16, [&us](run::Context& rank, ELAN_BASE* base) {
      void (*const barriers[])(ELAN_GROUP*) = {elan_gsync, elan_hgsync};
      for (std::size_t which = 0; which < 2; ++which) {
        barriers[which](base->allGroup);
        const std::uint64_t from = elan_clock(base->state);
        for (int i = 0; i < 5; ++i) barriers[which](base->allGroup);
        if (rank.port().self() == 0)
          us[which] = static_cast<double>(elan_clock(base->state) - from);
      }
      return true;
    });
    EXPECT_LT(us[1], us[0] * 1.2) << place->on << " " << place->lci;
  }
}

TEST(NetworkReductions, WhoReducesSomethingElseIsToldSo) {
  for (const Place* place : {&kSwitches, &kInterfaces, &kToday}) {
    const Result<run::RunReport> report =
        run::run_world(options_for(*place, 5), [](run::Context& rank) {
          ELAN_BASE* const base = elan_baseInit(0);
          std::int64_t word = 1;
          const bool other = rank.port().self() == 3;
          elan_reduce(base->allGroup, &word, &word, 8, 1,
                      elan_reduceFn(other ? ELAN_REDUCE_MAX : ELAN_REDUCE_SUM, ELAN_INT64), nullptr,
                      ELAN_RESULT_ALL);
          elan_fini();
          return 0;
        });
    ASSERT_TRUE(report.ok());
    expect_words(report.value().failure, {"elan_reduce", "do not reduce the same"});
  }
}

}  // namespace
}  // namespace fairlead::port_test
