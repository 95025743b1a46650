// Objects that move between a single copy and replicas while all ranks use them.
#include "tests/orca/orca_worlds.h"

namespace fairlead::orca_test {
namespace {

class OrcaAdaptive : public port_test::PerWorld {};
INSTANTIATE_PORT_TESTS(OrcaAdaptive);

struct Board {
  std::vector<std::uint32_t> by_rank;
  std::uint32_t written = 0;
  auto fields() { return std::tie(by_rank, written); }

  void write(std::uint32_t rank, std::uint32_t value) {
    if (by_rank.size() <= rank) by_rank.resize(rank + 1);
    by_rank[rank] = value;
    ++written;
  }
  std::uint32_t read(std::uint32_t rank) const { return rank < by_rank.size() ? by_rank[rank] : 0; }
  bool has(std::uint32_t count) const { return written >= count; }
  std::uint32_t count(std::uint32_t) const { return written; }
};

constexpr std::uint32_t kRounds = 4;
constexpr std::uint32_t kReads = 300;
constexpr std::uint32_t kWrites = 150;
constexpr std::uint32_t kOfAll = kRounds * (kWrites + 1);

// Reads much, then writes much, and so on. Each rank has its own phases, more or less: moves meet
// operations of both kinds, and operations that wait.
void player(Orca& me, Object<Report> report, Object<Board> board) {
  const std::uint32_t rank = me.self();
  bool good = true;
  std::uint32_t value = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    me.invoke<&Board::write>(board, rank, ++value);
    for (std::uint32_t i = 0; i < kReads; ++i) {
      good &= ORCA_TEST_CHECK(me.invoke<&Board::read>(board, rank) == value, me, value);
    }
    for (std::uint32_t i = 0; i < kWrites; ++i) {
      me.invoke<&Board::write>(board, rank, ++value);
      // Expect: its own write, wherever the object is by now.
      if (i % 16 == 0) good &= me.invoke<&Board::read>(board, rank) == value;
    }
  }
  const std::uint32_t all = kOfAll * me.size();
  good &= ORCA_TEST_CHECK(me.invoke<&Board::count>(board, all) == all, me, all);
  me.invoke<&Report::done>(report, good);
}

TEST_P(OrcaAdaptive, MoveUnderLoad) {
  Program program = with_report();
  program.type<Board>("board")
      .operation<&Board::write>("write")
      .operation<&Board::read>("read")
      .operation<&Board::count, &Board::has>("count");
  program.process<&player>("player");
  run_orca(GetParam(), 4, program, [](Job& job) {
    const Object<Board> board = job.me.create<Board>(Placement::adaptive);
    job.fork_everywhere<&player>(1, board);
    const bool good = job.all_good();
    // The owner alone writes: nothing speaks for replicas.
    for (std::uint32_t i = 0; i < 2 * kWrites; ++i) job.me.invoke<&Board::write>(board, 0, i);
    // Expect: to replicas and back at least once.
    const std::uint64_t moves = job.me.counts().moves;
    return good && ORCA_TEST_CHECK(moves >= 2, job.me, moves);
  });
}

}  // namespace
}  // namespace fairlead::orca_test
