// Queries of groups: conditions that hold on every member, and what is stored then.
#include <algorithm>
#include <atomic>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::SegId kWords = 5;
constexpr lci::SegId kReadOnly = 6;  // its first word is 1
constexpr unsigned kRanks = 5;

class Queries : public PerWorld {};

enum class Told { yes, no, failed, refused_at_once };

Told ask(lci::Port& port, const lci::Query& query) {
  bool all = false;
  Counter done;
  for (;;) {
    const Post answer = port.query(query, &all, &done);
    if (answer == Post::done || answer == Post::pending) break;
    if (answer != Post::again_credit && answer != Post::again_buffer) return Told::refused_at_once;
    port.poll();
  }
  (void)port.wait({.counter = &done, .at = 1, .what = "a query"});
  if (done.failed > 0) return Told::failed;
  return all ? Told::yes : Told::no;
}

std::uint64_t value(std::uint64_t& word) { return std::atomic_ref(word).load(); }
void set(std::uint64_t& word, std::uint64_t to) { std::atomic_ref(word).store(to); }

lci::Query query_of(std::uint16_t group, std::uint64_t word, lci::Cmp cmp, std::uint64_t value) {
  lci::Query query;
  query.group = group;
  query.segment = kWords;
  query.offset = 8 * word;
  query.cmp = cmp;
  query.value = value;
  return query;
}
lci::Query storing(lci::Query query, std::uint64_t word, std::uint64_t to) {
  query.stores = true;
  query.store_segment = kWords;
  query.store_offset = 8 * word;
  query.store_value = to;
  return query;
}

TEST_P(Queries, tell_whether_all_members_agree_and_store_only_then) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    auto* const words = static_cast<std::uint64_t*>(port.allocate(kWords, 64, lci::Place::host));
    const std::uint64_t constant = 1;
    bool good = PORT_TEST_CHECK(port.expose(kReadOnly, const_cast<std::uint64_t*>(&constant), 8,
                                            lci::kRead, nullptr, {}) == Post::done,
                                port, 0);
    Meeting meeting(port);
    set(words[0], 10 + port.self());
    good &= PORT_TEST_CHECK(meeting.meet(), port, 1);
    using lci::Cmp;
    for (Rank by = 0; by < kRanks && good; ++by) {
      if (port.self() == by) {
        // Expect: each comparison as it holds on the values 10 to 14
        const struct {
          Cmp cmp;
          std::uint64_t value;
          bool all;
        } rows[] = {{Cmp::ge, 10, true},  {Cmp::ge, 11, false}, {Cmp::gt, 9, true},
                    {Cmp::gt, 10, false}, {Cmp::le, 14, true},  {Cmp::le, 13, false},
                    {Cmp::lt, 15, true},  {Cmp::lt, 14, false}, {Cmp::ne, 15, true},
                    {Cmp::ne, 12, false}, {Cmp::eq, 10, false}};
        for (const auto& row : rows) {
          const lci::Query query = query_of(0, 0, row.cmp, row.value);
          good &= PORT_TEST_CHECK(ask(port, query) == (row.all ? Told::yes : Told::no), port,
                                  row.value * 10 + static_cast<std::uint64_t>(row.cmp));
          // Expect: what is to be stored, is where the condition held
          const lci::Query stores = storing(query, 1, 100 * by + (row.all ? 7 : 8));
          good &= PORT_TEST_CHECK(ask(port, stores) == (row.all ? Told::yes : Told::no), port, by);
        }
      }
      good &= PORT_TEST_CHECK(meeting.meet(), port, 2);
      good &= PORT_TEST_CHECK(value(words[1]) == 100 * by + 7, port, value(words[1]));
      good &= PORT_TEST_CHECK(meeting.meet(), port, 3);
    }
    if (port.self() == 2) {
      // Expect: refused for segment, offset, permission; nothing stored on any member
      lci::Query query = query_of(0, 0, Cmp::ge, 0);
      query.segment = 77;
      good &= PORT_TEST_CHECK(ask(port, storing(query, 2, 1)) == Told::failed, port, 4);
      query.segment = kReadOnly;
      good &= PORT_TEST_CHECK(ask(port, query) == Told::yes, port, 5);
      lci::Query into = storing(query, 0, 1);
      into.store_segment = kReadOnly;
      good &= PORT_TEST_CHECK(ask(port, into) == Told::failed, port, 6);
      good &= PORT_TEST_CHECK(ask(port, query_of(0, 8, Cmp::ge, 0)) == Told::failed, port, 7);
      good &= PORT_TEST_CHECK(ask(port, storing(query_of(0, 0, Cmp::ge, 0), 8, 1)) == Told::failed,
                              port, 8);
      query = query_of(0, 0, Cmp::ge, 0);
      query.offset = 4;
      good &= PORT_TEST_CHECK(ask(port, query) == Told::refused_at_once, port, 9);
      query = query_of(30, 0, Cmp::ge, 0);
      good &= PORT_TEST_CHECK(ask(port, query) == Told::refused_at_once, port, 10);
    }
    good &= PORT_TEST_CHECK(meeting.meet(), port, 11);
    good &= PORT_TEST_CHECK(value(words[2]) == 0 && constant == 1, port, value(words[2]));
    return PORT_TEST_CHECK(meeting.meet(), port, 12) && good;
  });
}

// Each member swaps a shared value by queries of its own until it has won so often: compare and
// swap on all members at once.
TEST_P(Queries, of_several_members_have_one_order) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    constexpr std::uint16_t kGroup = 12;
    // More sweeps than there are numbers for them.
    constexpr std::uint64_t kWins = 15;
    auto* const words = static_cast<std::uint64_t*>(port.allocate(kWords, 64, lci::Place::host));
    Meeting meeting(port);
    // The first member is not the first rank, and one rank is no member; some name it late.
    const Rank members[] = {3, 0, 4, 1};
    const bool member = port.self() != 2;
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    if (member && port.self() % 2 == 1) {
      for (int i = 0; i < 20; ++i) port.poll();
    }
    if (member) good &= PORT_TEST_CHECK(port.group(kGroup, members) == Post::done, port, 1);
    std::uint64_t won = 0;
    for (std::uint64_t seen = 0; member && won < kWins && good;) {
      // The word is `seen` on all: from then on this rank's.
      const std::uint64_t mine = (seen | 0xff) + 1 + port.self();
      const Told told = ask(port, storing(query_of(kGroup, 0, lci::Cmp::eq, seen), 0, mine));
      good &= PORT_TEST_CHECK(told == Told::yes || told == Told::no, port, int(told));
      if (told == Told::yes) {
        // Expect: nobody else won on that value, and this rank has it by now
        good &= PORT_TEST_CHECK(value(words[0]) >= mine, port, value(words[0]));
        ++won;
      }
      seen = value(words[0]);
    }
    good &= PORT_TEST_CHECK(meeting.meet(), port, 2);
    // Expect: as many steps as all members won, the same last one on each
    const std::uint64_t steps = value(words[0]) >> 8;
    good &= PORT_TEST_CHECK(steps == (member ? 4 * kWins : 0), port, steps);
    lci::Query same = query_of(kGroup, 0, lci::Cmp::eq, value(words[0]));
    if (member) good &= PORT_TEST_CHECK(ask(port, same) == Told::yes, port, 3);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 4);
    if (member) good &= PORT_TEST_CHECK(port.ungroup(kGroup) == Post::done, port, 5);
    // Expect: the id serves another group
    const Rank two[] = {2, 4};
    good &= PORT_TEST_CHECK(meeting.meet(), port, 6);
    set(words[3], port.self());
    if (port.self() == 2 || port.self() == 4) {
      good &= PORT_TEST_CHECK(port.group(kGroup, two) == Post::done, port, 7);
      good &=
          PORT_TEST_CHECK(ask(port, query_of(kGroup, 3, lci::Cmp::ge, 2)) == Told::yes, port, 8);
      good &= PORT_TEST_CHECK(ask(port, query_of(kGroup, 3, lci::Cmp::ge, 3)) == Told::no, port, 9);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 10) && good;
  });
}

// One member asks until all have come as far, and lets them go: a barrier.
TEST_P(Queries, let_a_member_wait_for_all_others) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    lci::Port& port = rank.port();
    auto* const words = static_cast<std::uint64_t*>(port.allocate(kWords, 64, lci::Place::host));
    Meeting meeting(port);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    for (std::uint64_t round = 1; round <= 50 && good; ++round) {
      set(words[0], round);
      if (port.self() == round % 3) {
        for (Told told = Told::no; told != Told::yes && good;) {
          told = ask(port, storing(query_of(0, 0, lci::Cmp::ge, round), 1, round));
          good &= PORT_TEST_CHECK(told == Told::yes || told == Told::no, port, round);
        }
      }
      while (value(words[1]) < round) port.poll();
      // Expect: nobody is let go twice, or for a later round
      good &= PORT_TEST_CHECK(value(words[1]) == round, port, round);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

// Members that make no call for a second, and say by a word when it is over.
TEST_P(Queries, are_answered_while_members_compute_where_the_network_does_it) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    lci::Port& port = rank.port();
    if ((port.caps(port.self()).flags & lci::kHwQuery) == 0) return true;
    constexpr std::uint64_t kRounds = 20;
    constexpr std::uint16_t kGroup = 3;
    constexpr lci::Dest kAll{kGroup, true};
    const Ps second = seconds(1);
    auto* const words = static_cast<std::uint64_t*>(port.allocate(kWords, 64, lci::Place::host));
    Meeting meeting(port);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    // Its first member computes.
    const Rank members[] = {2, 0, 1};
    good &= PORT_TEST_CHECK(port.group(kGroup, members) == Post::done, port, 1);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 2);
    const Ps begin = port.now();
    if (port.self() != 1) {
      if (modelled(GetParam())) {
        port.charge({.ops = 100'000'000});
        (void)port.poll();  // that time has passed for all then
      } else {
        while (port.now() - begin < second) cpu_pause();
      }
      // What came meanwhile is all that came.
      good &= PORT_TEST_CHECK(value(words[1]) == kRounds, port, value(words[1]));
      good &= PORT_TEST_CHECK(value(words[2]) == kRounds, port, value(words[2]));
      set(words[0], 1);
    } else {
      for (std::uint64_t round = 1; round <= kRounds && good; ++round) {
        // Expect: they have it, say so, and still compute
        const lci::PutPiece piece{8, &round, sizeof round};
        Counter fenced;
        good &= PORT_TEST_CHECK(port.put(kAll, kWords, {&piece, 1}, nullptr, lci::kNoCounter,
                                         lci::kNoFlags) != Post::invalid,
                                port, round);
        (void)port.fence(kAll, &fenced);
        good &= PORT_TEST_CHECK(
            port.wait({.counter = &fenced, .at = 1, .what = "the fence"}) == Post::done, port, 3);
        set(words[1], round);
        const lci::Query came = query_of(kGroup, 1, lci::Cmp::eq, round);
        good &= PORT_TEST_CHECK(ask(port, storing(came, 2, round)) == Told::yes, port, round);
        const lci::Query computes = query_of(kGroup, 0, lci::Cmp::eq, 0);
        good &= PORT_TEST_CHECK(ask(port, computes) == Told::yes, port, round);
      }
      good &= PORT_TEST_CHECK(port.now() - begin < second, port, (port.now() - begin).count);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 4) && good;
  });
}

INSTANTIATE_PORT_TESTS(Queries);

}  // namespace
}  // namespace fairlead::port_test
