// Split-C in every world: accesses of all kinds to all heaps, and what completes them.
#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/splitc/splitc_worlds.h"

namespace fairlead::port_test {
namespace {

class Access : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(Access, ::testing::ValuesIn(with_extras(with_implementations(worlds()))));

using splitc::global_ptr;
using splitc::spread_ptr;

bool values_and_blocks(lci::Port& port) {
  const std::uint32_t me = splitc::my_proc();
  const std::uint32_t procs = splitc::procs();
  bool good = true;
  const spread_ptr<std::int64_t> words = splitc::all_spread_malloc<std::int64_t>(procs * procs);
  // Row r of the square is at place r of every rank.
  for (std::uint32_t to = 0; to < procs; ++to) {
    const global_ptr<std::int64_t> at = words[static_cast<std::int64_t>(me) * procs + to];
    good &= PORT_TEST_CHECK(at.rank() == to, port, at.rank());
    to % 2 == 0 ? splitc::put(at, me * 100 + to) : splitc::write(at, me * 100 + to);
  }
  splitc::sync();
  splitc::barrier();
  std::vector<std::int64_t> seen(procs * procs);
  for (std::uint32_t i = 0; i < procs * procs; ++i) {
    i % 2 == 0 ? splitc::get(&seen[i], words[i]) : void(seen[i] = splitc::read(words[i]));
  }
  splitc::sync();
  for (std::uint32_t i = 0; i < procs * procs; ++i) {
    good &= PORT_TEST_CHECK(seen[i] == i / procs * 100 + i % procs, port, seen[i]);
  }
  // Blocks, of a few bytes and of many packets.
  const std::size_t most = 20'000;
  const global_ptr<std::uint32_t> blocks =
      splitc::all_malloc<std::uint32_t>(most * splitc::procs());
  std::vector<std::uint32_t> mine(most);
  std::iota(mine.begin(), mine.end(), me * 1'000'000);
  const auto its = static_cast<std::int64_t>(most * me);
  for (std::uint32_t to = 0; to < procs; ++to) {
    const std::size_t count = to == 0 ? 3 : most;
    splitc::bulk_put(blocks.on(to) + its, mine.data(), count);
  }
  splitc::sync();
  splitc::barrier();
  for (std::uint32_t from = 0; from < procs; ++from) {
    for (std::uint32_t rank = 0; rank < procs; ++rank) {
      std::vector<std::uint32_t> there(most);
      splitc::bulk_get(there.data(), blocks.on(rank) + static_cast<std::int64_t>(most * from),
                       most);
      splitc::sync();
      const std::size_t count = rank == 0 ? 3 : most;
      good &= PORT_TEST_CHECK(there[count - 1] == from * 1'000'000 + count - 1, port, rank);
      good &= PORT_TEST_CHECK(rank != 0 || there[3] == 0, port, there[3]);
    }
  }
  splitc::all_spread_free(words);
  splitc::all_free(blocks);
  return good;
}

bool stores_count_bytes(lci::Port& port) {
  const std::uint32_t me = splitc::my_proc();
  const std::uint32_t procs = splitc::procs();
  const std::uint32_t next = (me + 1) % procs;
  const std::uint32_t before = (me + procs - 1) % procs;
  bool good = true;
  const global_ptr<std::uint64_t> place = splitc::all_malloc<std::uint64_t>(2000);
  // A ring of stores, each waited for by its target alone.
  for (std::uint64_t turn = 1; turn <= 20; ++turn) {
    splitc::store(place.on(next) + 1, turn * 10 + me);
    splitc::store(place.on(next).as<std::uint32_t>(), static_cast<std::uint32_t>(turn));
    splitc::store_sync(12);
    good &= PORT_TEST_CHECK(splitc::read(place.on(me) + 1) == turn * 10 + before, port, turn);
    good &= PORT_TEST_CHECK(splitc::read(place.on(me).as<std::uint32_t>()) == turn, port, turn);
    splitc::barrier();
  }
  std::vector<std::uint64_t> many(500, me + 1);
  for (std::uint32_t to = 0; to < procs; ++to) {
    splitc::bulk_store(place.on(to) + static_cast<std::int64_t>(500 * me), many.data(),
                       many.size());
  }
  splitc::all_store_sync();
  const std::uint64_t* const here = splitc::tolocal(place.on(me));
  for (std::uint32_t from = 0; from < procs; ++from) {
    good &= PORT_TEST_CHECK(here[500 * from] == from + 1 && here[500 * from + 499] == from + 1,
                            port, from);
  }
  splitc::barrier();
  splitc::store(place.on(next), std::uint64_t{7});
  splitc::store_sync(8);
  good &= PORT_TEST_CHECK(*here == 7, port, *here);
  splitc::barrier();
  // Expect: bytes that came before a reset do not end a wait after it.
  splitc::store(place.on(next) + 1, std::uint64_t{99});
  // By a call that waits, as ranks of one process take turns at waits.
  while (splitc::read(place.on(me) + 1) != 99) (void)splitc::atomic(next, [] { return 0; });
  splitc::barrier();
  splitc::reset_store_sync();
  splitc::barrier();
  for (const Ps begin = port.now(); port.now() < begin + microseconds(200);) splitc::poll();
  splitc::store(place.on(next), std::uint64_t{8});
  splitc::store_sync(8);
  good &= PORT_TEST_CHECK(*here == 8, port, *here);
  splitc::barrier();
  // One waits for all, who store one after the other.
  if (me > 0) {
    const Ps begin = port.now();
    while (port.now() < begin + microseconds(200) * me) splitc::poll();
    splitc::store(place.on(0) + me, std::uint64_t{9});
  } else {
    splitc::store_sync(8 * std::uint64_t{procs - 1});
    for (std::uint32_t from = 1; from < procs; ++from) {
      good &= PORT_TEST_CHECK(here[from] == 9, port, from);
    }
  }
  splitc::barrier();
  return good;
}

// Stores of all sizes, near and far from each other; their target waits for nothing but their
// bytes, while their source waits for something else.
bool stores_come_whatever_their_source_does(lci::Port& port) {
  const std::uint32_t me = splitc::my_proc();
  constexpr std::uint32_t kWords = 3000;
  const global_ptr<std::uint32_t> place = splitc::all_malloc<std::uint32_t>(kWords);
  const global_ptr<std::uint32_t> said = splitc::all_malloc<std::uint32_t>(1);
  bool good = true;
  for (std::uint32_t turn = 1; turn <= 3; ++turn) {
    if (me == 0) {
      std::vector<std::uint32_t> block(1199, turn * 1'000'000);
      for (std::uint32_t i = 0; i < 1800; i += turn) splitc::store(place.on(1) + i, turn * 100 + i);
      splitc::bulk_store(place.on(1) + 1800, block.data(), block.size());
      std::fill(block.begin(), block.end(), 0);
      splitc::store(place.on(1) + (kWords - 1), turn);
      // Where ranks share a thread, a read of mapped memory lets nobody else run: a wait does.
      while (splitc::read(said) != turn) {
        (void)port.wait({.any_packet = true, .deadline = port.now() + microseconds(10)});
      }
    } else if (me == 1) {
      splitc::store_sync(4 * ((1800 + turn - 1) / turn + 1199 + 1));
      const std::uint32_t* const here = splitc::tolocal(place.on(1));
      for (std::uint32_t i = 0; i < 1800; i += turn) {
        good &= here[i] == turn * 100 + i;
      }
      good &= here[1800] == turn * 1'000'000 && here[2998] == turn * 1'000'000;
      good = PORT_TEST_CHECK(good && here[kWords - 1] == turn, port, turn);
      splitc::write(said, turn);
    }
  }
  splitc::all_free(said);
  splitc::all_free(place);
  return good;
}

TEST_P(Access, values_blocks_and_stores_to_all_ranks) {
  run_splitc(GetParam(), 3, [](lci::Port& port) {
    bool good = values_and_blocks(port);
    good = stores_count_bytes(port) && good;
    return stores_come_whatever_their_source_does(port) && good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
