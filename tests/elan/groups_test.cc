// What groups of processes do together: barriers, broadcasts, reductions.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/systems/elan/elan.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr unsigned kRanks = 6;

class ElanGroups : public PerWorld {};
INSTANTIATE_PORT_TESTS(ElanGroups);

// Expect: when a barrier ends, everybody's word has the number of the barrier or the next one.
bool barriers_hold(lci::Port& port, ELAN_BASE* base, ELAN_GROUP* group,
                   const std::vector<unsigned>& members, void (*barrier)(ELAN_GROUP*)) {
  auto* const words = static_cast<std::uint64_t*>(
      elan_gallocMain(base, group, 0, members.size() * sizeof(std::uint64_t)));
  bool good = true;
  std::memset(words, 0, members.size() * sizeof(std::uint64_t));
  elan_gsync(group);
  for (std::uint64_t number = 1; number <= 6; ++number) {
    if (elan_groupSelf(group) == number % members.size()) port.charge({.ops = 20'000});
    for (const unsigned vp : members) {
      elan_wait(elan_put(base->state, &number, &words[elan_groupSelf(group)], sizeof number, vp),
                base->waitType);
    }
    barrier(group);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::uint64_t seen = std::atomic_ref(words[i]).load();
      good &= PORT_TEST_CHECK(seen == number || seen == number + 1, port, seen);
    }
  }
  elan_gsync(group);
  elan_gallocFree(base, words);
  return good;
}

void add(const void* in, void* inout, std::size_t count, void* handle) {
  const auto* const a = static_cast<const std::uint64_t*>(in);
  auto* const b = static_cast<std::uint64_t*>(inout);
  for (std::size_t i = 0; i < count; ++i) b[i] += a[i];
  ++*static_cast<int*>(handle);
}
// Not commutative: 2 x 2 matrices.
void multiply(const void* in, void* inout, std::size_t count, void*) {
  const auto* a = static_cast<const std::uint64_t*>(in);
  auto* b = static_cast<std::uint64_t*>(inout);
  for (std::size_t i = 0; i < count; ++i, a += 4, b += 4) {
    const std::uint64_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    std::copy(c, c + 4, b);
  }
}

bool broadcasts_arrive(lci::Port& port, ELAN_BASE* base, ELAN_GROUP* group, std::size_t n) {
  auto* const global = static_cast<unsigned char*>(elan_gallocMain(base, group, 0, n));
  std::vector<unsigned char> local(n);
  bool good = true;
  const unsigned step = n < 10'000 ? 1 : 3;
  for (unsigned root = 0; root < elan_groupSize(group); root += step) {
    const struct {
      void (*call)(ELAN_GROUP*, void*, size_t, unsigned, unsigned);
      unsigned char* data;
      unsigned flags;
    } forms[] = {{elan_bcast, local.data(), ELAN_BCAST_SYSTEM},
                 {elan_hbcast, local.data(), ELAN_BCAST_SYSTEM},
                 {elan_bcast, global, ELAN_BCAST_GLOBAL},
                 {elan_hbcast, global, ELAN_BCAST_GLOBAL}};
    for (std::size_t form = 0; form < 4; ++form) {
      const auto value = static_cast<unsigned char>(root * 16 + form + 1);
      const bool sends = elan_groupSelf(group) == root;
      std::memset(forms[form].data, sends ? value : 0, n);
      forms[form].call(group, forms[form].data, n, root, forms[form].flags);
      // Expect: every byte is the root's
      good &= PORT_TEST_CHECK(
          std::count(forms[form].data, forms[form].data + n, value) == static_cast<long>(n), port,
          form);
    }
  }
  elan_gsync(group);
  elan_gallocFree(base, global);
  return good;
}

bool reductions_are_right(lci::Port& port, ELAN_GROUP* group, std::size_t count) {
  const std::uint64_t n = elan_groupSize(group);
  const std::uint64_t self = elan_groupSelf(group);
  std::vector<std::uint64_t> in(count), out(count, 5);
  for (std::size_t i = 0; i < count; ++i) in[i] = self * 1000 + i;
  int calls = 0;
  bool good = true;
  for (const unsigned flags : {ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL, ELAN_REDUCE_COMMUTE}) {
    elan_reduce(group, in.data(), out.data(), 8, count, add, &calls, flags);
    for (std::size_t i = 0; i < count; ++i) {
      const bool mine = (flags & ELAN_RESULT_ALL) != 0 || self == 0;
      good &= PORT_TEST_CHECK(!mine || out[i] == n * (n - 1) / 2 * 1000 + n * i, port, i);
    }
  }
  good &= PORT_TEST_CHECK(self != 0 || calls > 0, port, calls);
  // Expect: products in the members' order, in place
  std::uint64_t product[4] = {1, self + 1, self + 2, 1};
  std::uint64_t expected[4] = {1, 0, 0, 1};
  for (std::uint64_t i = n; i-- > 0;) {
    const std::uint64_t factor[4] = {1, i + 1, i + 2, 1};
    multiply(factor, expected, 1, nullptr);
  }
  elan_reduce(group, product, product, sizeof product, 1, multiply, nullptr, ELAN_RESULT_ALL);
  return good & PORT_TEST_CHECK(std::equal(product, product + 4, expected), port, product[0]);
}

TEST_P(ElanGroups, meet_broadcast_and_reduce) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    ELAN_BASE* const base = elan_baseInit(0);
    std::vector<unsigned> all, some;
    for (unsigned vp = 0; vp < kRanks; ++vp) {
      all.push_back(vp);
      if (vp != 1) some.insert(some.begin(), vp);
    }
    bool good = true;
    for (const auto barrier : {elan_gsync, elan_hgsync, elan_hgsyncEvent}) {
      good &= barriers_hold(port, base, base->allGroup, all, barrier);
    }
    for (const std::size_t n : {1, 4000, 150'000}) {
      good &= broadcasts_arrive(port, base, base->allGroup, n);
    }
    good &= reductions_are_right(port, base->allGroup, 1);
    good &= reductions_are_right(port, base->allGroup, 10'000);
    // Members in another order, without rank 1, which goes on meanwhile.
    ELAN_GROUP* const group = elan_groupMake(base->state, 77, kRanks - 1, some.data());
    good &= PORT_TEST_CHECK((group == nullptr) == (port.self() == 1), port, 0);
    if (group != nullptr) {
      good &= PORT_TEST_CHECK(some[elan_groupSelf(group)] == port.self(), port, 0);
      for (const auto barrier : {elan_gsync, elan_hgsync}) {
        good &= barriers_hold(port, base, group, some, barrier);
      }
      good &= broadcasts_arrive(port, base, group, 70'000);
      good &= reductions_are_right(port, group, 100);
      elan_groupFree(group);
    }
    // Expect: heaps that were used by some only still agree
    auto* const last = static_cast<char*>(elan_gallocMain(base, base->allGroup, 0, 100));
    elan_wait(elan_put(base->state, "all well", last + 10 * base->state->vp, 9, 1), 0);
    elan_gsync(base->allGroup);
    if (port.self() == 1) {
      for (unsigned vp = 0; vp < kRanks; ++vp) {
        good &= PORT_TEST_CHECK(std::strcmp(last + 10 * vp, "all well") == 0, port, vp);
      }
    }
    elan_fini();
    return good;
  });
}

// Groups of other members may have the same name: process 0 sends to both before process 1 asks for
// either, the other way round.
TEST_P(ElanGroups, of_one_name_are_told_apart_by_their_members) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    ELAN_BASE* const base = elan_baseInit(0);
    const unsigned few[] = {1, 0};
    const unsigned more[] = {1, 0, 2};
    ELAN_GROUP* const of_two = elan_groupMake(base->state, 7, 2, few);
    ELAN_GROUP* const of_three = elan_groupMake(base->state, 7, 3, more);
    int calls = 0;
    const auto sum = [&](ELAN_GROUP* group, std::uint64_t mine) {
      std::uint64_t all = 0;
      elan_reduce(group, &mine, &all, sizeof mine, 1, add, &calls, ELAN_REDUCE_COMMUTE);
      return all;
    };
    bool good = true;
    const unsigned self = port.self();
    if (self == 0) {
      (void)sum(of_two, 10);
      (void)sum(of_three, 100);
    } else if (self == 1) {
      // Expect: what each of them was told in that group
      const std::uint64_t three = sum(of_three, 1);
      const std::uint64_t two = sum(of_two, 2);
      good &= PORT_TEST_CHECK(three == 1101 && two == 12, port, three * 10'000 + two);
    } else if (self == 2) {
      (void)sum(of_three, 1000);
    }
    elan_gsync(base->allGroup);
    for (ELAN_GROUP* const group : {of_two, of_three}) {
      if (group != nullptr) elan_groupFree(group);
    }
    elan_fini();
    return good;
  });
}

// Where NI engines answer queries, who waits in a hardware barrier neither sends nor takes a
// packet.
TEST(ElanOnEngines, wait_in_hgsync_without_packets) {
  run_ranks("nirx", kRanks, [](run::Context& rank) {
    const PortCounters& counts = rank.port().counters();
    ELAN_BASE* const base = elan_baseInit(0);
    elan_gsync(base->allGroup);
    elan_hgsync(base->allGroup);
    const std::uint64_t sent = counts.packets_sent;
    const std::uint64_t received = counts.packets_received;
    for (int i = 0; i < 20; ++i) elan_hgsync(base->allGroup);
    bool good = true;
    if (base->state->vp != 0) {
      good &= PORT_TEST_CHECK(counts.packets_sent == sent, rank.port(), counts.packets_sent - sent);
      good &= PORT_TEST_CHECK(counts.packets_received == received, rank.port(),
                              counts.packets_received - received);
    } else {
      // Expect: a question and an answer each, at least
      good &= PORT_TEST_CHECK(counts.packets_sent >= sent + 20, rank.port(), sent);
    }
    elan_gsync(base->allGroup);
    elan_fini();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
