// Split-C in every world: what all ranks do together, and functions that run at another rank.
#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/splitc/splitc_worlds.h"

namespace fairlead::port_test {
namespace {

class Together : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(Together, ::testing::ValuesIn(with_implementations(worlds())));

using splitc::global_ptr;

bool reductions(lci::Port& port) {
  const auto me = static_cast<int>(splitc::my_proc());
  const auto procs = static_cast<int>(splitc::procs());
  bool good = true;
  for (int turn = 0; turn < 20; ++turn) {
    good &= PORT_TEST_CHECK(splitc::all_reduce_sum(me + turn) == 10 + 5 * turn, port, turn);
    good &= PORT_TEST_CHECK(splitc::all_scan_sum(std::int64_t{me + 1}) == (me + 1) * (me + 2) / 2,
                            port, turn);
    const std::uint32_t root = static_cast<std::uint32_t>(turn % procs);
    good &= PORT_TEST_CHECK(splitc::broadcast(me * 10.5, root) == root * 10.5, port, turn);
  }
  good &= PORT_TEST_CHECK(splitc::all_reduce_min(me * 0.5) == 0.0, port, 0);
  good &= PORT_TEST_CHECK(splitc::all_reduce_max(me * 0.5) == 2.0, port, 0);
  good &= PORT_TEST_CHECK(splitc::all_reduce_and(me | 8) == 8, port, 0);
  good &= PORT_TEST_CHECK(splitc::all_reduce_or(1 << me) == 31, port, 0);
  good &= PORT_TEST_CHECK(splitc::all_scan_max(me == 1 ? 9 : me) == (me < 1 ? 0 : 9), port, me);
  good &= PORT_TEST_CHECK(splitc::all_scan_min(-me) == -me, port, me);
  for (const std::size_t count : std::vector<std::size_t>{0, 1, 30'000}) {
    std::vector<std::uint32_t> data(count);
    if (me == 2) std::iota(data.begin(), data.end(), 5u);
    splitc::bulk_broadcast(data.data(), count, 2);
    good &=
        PORT_TEST_CHECK(count == 0 || (data[0] == 5 && data[count - 1] == count + 4), port, count);
  }
  std::size_t mine = 0;
  for (const std::size_t i : splitc::for_my(13)) {
    good &= PORT_TEST_CHECK(i % splitc::procs() == splitc::my_proc(), port, i);
    ++mine;
  }
  return PORT_TEST_CHECK(splitc::all_reduce_sum(mine) == 13, port, mine) && good;
}

// What only one rank at a time may do to a pair of words.
std::uint64_t add_to_both(global_ptr<std::uint64_t> place, std::uint64_t n) {
  std::uint64_t* const words = splitc::tolocal(place);
  words[0] += n;
  words[1] += 2 * n;
  return words[0];
}

bool functions(lci::Port& port) {
  const global_ptr<std::uint64_t> place = splitc::all_malloc<std::uint64_t>(2);
  const std::uint32_t me = splitc::my_proc();
  bool good = true;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    for (std::uint32_t rank = 0; rank < splitc::procs(); ++rank) {
      const std::uint64_t sum = splitc::atomic<&add_to_both>(rank, place.on(rank), i);
      good &= PORT_TEST_CHECK(sum >= i, port, sum);
    }
    const global_ptr<std::uint64_t> zero = place.on(0);
    splitc::atomic(
        0, [zero, me](std::uint64_t n) { splitc::tolocal(zero)[1] += n * me; }, std::uint64_t{0});
  }
  splitc::barrier();
  // Expect: no addition was lost.
  good &= PORT_TEST_CHECK(splitc::tolocal(place.on(me))[0] == 5 * 210, port, me);
  good &= PORT_TEST_CHECK(splitc::tolocal(place.on(me))[1] == 10 * 210, port, me);
  const std::uint32_t there = splitc::atomic((me + 1) % 5, [] { return splitc::my_proc(); });
  return PORT_TEST_CHECK(there == (me + 1) % 5, port, there) && good;
}

void set(global_ptr<std::uint32_t> flag, std::uint32_t value) { *splitc::tolocal(flag) = value; }

// A rank that only looks at memory serves others meanwhile.
bool memory(lci::Port& port) {
  bool good = true;
  for (int turn = 0; turn < 4; ++turn) {
    const splitc::spread_array<std::uint32_t> blocks(5, 100);
    good &= PORT_TEST_CHECK(blocks.at(3, 7).rank() == 3 % splitc::procs(), port, turn);
    const global_ptr<std::uint32_t> flag = blocks.at(1, 99);
    const std::uint32_t at_first = splitc::read(flag);
    good &= PORT_TEST_CHECK(at_first == 0 || at_first == 5, port, at_first);
    if (splitc::my_proc() == 0) {
      turn % 2 == 0 ? splitc::atomic<&set>(flag.rank(), flag, 5u) : splitc::write(flag, 5u);
    } else {
      while (splitc::read(flag) == 0) {
      }
    }
    const std::uint32_t* const mine = blocks.local(splitc::my_proc());
    const global_ptr<const std::uint32_t> place = splitc::toglobal(mine);
    good &= PORT_TEST_CHECK(place.offset() == blocks[splitc::my_proc()].offset(), port, turn);
  }
  const splitc::spread_ptr<int> row = splitc::all_spread_malloc<int>(10);
  good &= PORT_TEST_CHECK((row + 7) - (row + 2) == 5 && (row + 5 - 4).rank() == 1, port, 0);
  splitc::spread_ptr<int> walk = row;
  for (int i = 0; i < 10; ++i, ++walk) {
    good &= PORT_TEST_CHECK(walk == row + i && walk == (row + 9) - (9 - i), port, i);
  }
  splitc::all_spread_free(row);
  return good;
}

TEST_P(Together, reductions_functions_and_memory) {
  run_splitc(GetParam(), 5, [](lci::Port& port) {
    bool good = reductions(port);
    good &= functions(port);
    return memory(port) && good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
