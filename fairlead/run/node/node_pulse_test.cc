#include "fairlead/run/node/node_pulse.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "fairlead/base/wait_ladder.h"

namespace fairlead::run {
namespace {

constexpr std::uint32_t kRanks = 4;
const std::vector<std::uint32_t> kNodeOf = {0, 0, 1, 1};

// A node with its own memory, as it would be on a host of its own; its first rank speaks.
struct Node {
  std::unique_ptr<fabric::ShmJob> job =
      std::move(fabric::ShmJob::create({.ranks = kRanks}).value());
  Board board = std::move(Board::create(kRanks).value());
  RankCard where;
  std::unique_ptr<NodePulse> pulse;

  explicit Node(std::uint32_t first, fabric::JobKey key = {7}, Ps silence = seconds(2)) {
    Fd socket = std::move(NodePulse::open("127.0.0.1", &where).value());
    pulse = std::make_unique<NodePulse>(std::move(socket), *job, board,
                                        PulseOptions{first, NodeMap(kNodeOf), key, silence}, Ps{});
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      board.slot(rank).began = system_bit(System::mpi);
    }
    pulse->take_over(Ps{});
  }
  NodeState says(std::uint32_t first) const {
    return static_cast<NodeState>(board.slot(first).state.load());
  }
};

void introduce(Node& a, Node& b) {
  NodePulse::set_place(a.board, 2, b.where);
  NodePulse::set_place(b.board, 0, a.where);
}
// Datagrams of the loopback are there at once.
void turn(Node& a, Node& b, Ps now) {
  a.pulse->turn(now);
  b.pulse->turn(now);
  a.pulse->turn(now);
}

TEST(NodePulse, TellsThatItRunsAndWhoHasDied) {
  Node a(0), b(2);
  introduce(a, b);
  turn(a, b, milliseconds(1));
  EXPECT_EQ(a.says(2), NodeState::running);
  EXPECT_EQ(b.says(0), NodeState::running);
  // Expect: a death is told at once, and only to who does not know it
  b.job->mark_dead(3);
  turn(a, b, milliseconds(2));
  EXPECT_TRUE(a.job->dead(3));
  EXPECT_STREQ(a.board.slot(3).reason, "its process ended, says its node");
  EXPECT_FALSE(a.job->dead(2) || a.job->dead(0) || a.job->dead(1));
}

TEST(NodePulse, ItsEnginesEndIsItsRanks) {
  Node a(0), b(2);
  introduce(a, b);
  b.pulse->engine_ended();
  turn(a, b, milliseconds(1));
  EXPECT_TRUE(a.job->dead(2) && a.job->dead(3));
  EXPECT_FALSE(b.job->dead(2));
}

TEST(NodePulse, IsDoneWhenAllItsRanksAre) {
  Node a(0), b(2);
  introduce(a, b);
  b.board.slot(2).ended = system_bit(System::mpi);
  b.pulse->say_done();
  turn(a, b, milliseconds(1));
  EXPECT_EQ(a.says(2), NodeState::running);
  EXPECT_FALSE(a.pulse->others_over());
  b.board.slot(3).ended = system_bit(System::mpi);
  b.pulse->say_done();
  a.pulse->turn(milliseconds(2));
  EXPECT_EQ(a.says(2), NodeState::done);
  EXPECT_TRUE(a.pulse->others_over());
  // Expect: its silence is no death
  for (int i = 1; i < 100; ++i) a.pulse->turn(milliseconds(100 * i));
  EXPECT_FALSE(a.job->dead(2) || a.job->dead(3));
}

TEST(NodePulse, SilenceIsDeathAndSaysWhy) {
  Node a(0), b(2);
  introduce(a, b);
  turn(a, b, milliseconds(1));
  Ps now{};
  for (; now < milliseconds(1900); now = now + milliseconds(100)) a.pulse->turn(now);
  EXPECT_FALSE(a.job->dead(2));
  for (; now < milliseconds(2300); now = now + milliseconds(100)) a.pulse->turn(now);
  EXPECT_TRUE(a.job->dead(2) && a.job->dead(3));
  EXPECT_FALSE(a.job->dead(1));
  EXPECT_TRUE(a.pulse->others_over());
  EXPECT_STREQ(a.board.slot(2).reason, "nothing was heard of its node for 2 s");
}

TEST(NodePulse, AnotherJobsAreDropped) {
  Node a(0), stranger(2, {8});
  introduce(a, stranger);
  stranger.job->mark_dead(3);
  turn(a, stranger, milliseconds(1));
  EXPECT_EQ(a.says(2), NodeState::unheard);
  EXPECT_FALSE(a.job->dead(3));
  // Expect: garbage of any length is dropped too
  const fabric::SocketAddress to = socket_address(a.where.rails[0]);
  std::array<std::byte, 2048> garbage{};
  for (const std::size_t size : {std::size_t{0}, std::size_t{1},
                                 sizeof(fabric::JobTag) + sizeof(PulseNote), garbage.size()}) {
    EXPECT_EQ(::sendto(stranger.pulse->fd(), garbage.data(), size, 0, &to.any, address_bytes(to)),
              static_cast<ssize_t>(size));
  }
  a.pulse->turn(milliseconds(2));
  EXPECT_EQ(a.says(2), NodeState::unheard);
}

TEST(NodePulse, EveryBitCounts) {
  Node a(0), b(2);
  // Setup: what b says to a comes here
  RankCard here;
  const Fd socket = std::move(NodePulse::open("127.0.0.1", &here).value());
  NodePulse::set_place(b.board, 0, here);
  b.pulse->turn(milliseconds(1));
  std::array<std::byte, 1024> bytes;
  const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  ASSERT_GT(got, static_cast<ssize_t>(sizeof(PulseNote)));
  const auto size = static_cast<std::size_t>(got);
  const fabric::SocketAddress to = socket_address(a.where.rails[0]);
  const auto hears = [&] {
    EXPECT_EQ(::sendto(socket.get(), bytes.data(), size, 0, &to.any, address_bytes(to)), got);
    a.pulse->turn(milliseconds(2));
    return a.says(2) != NodeState::unheard;
  };
  for (std::size_t bit = 0; bit < size * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(hears()) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
  }
  // Expect: as it was said it is believed
  EXPECT_TRUE(hears());
}

TEST(NodePulse, ANoteIsChecked) {
  PulseNote note{};
  note.magic = PulseNote::kMagic;
  note.state = static_cast<std::uint32_t>(NodeState::running);
  const auto good = [&](std::uint32_t nodes) {
    return parse_pulse(std::as_bytes(std::span(&note, 1)), nodes).has_value();
  };
  EXPECT_TRUE(good(1));
  EXPECT_FALSE(parse_pulse(std::as_bytes(std::span(&note, 1)).first(20), 1).has_value());
  for (std::uint32_t PulseNote::*field :
       {&PulseNote::magic, &PulseNote::state, &PulseNote::node, &PulseNote::dead_count}) {
    const std::uint32_t before = note.*field;
    note.*field = 1u << 20;
    EXPECT_FALSE(good(1));
    note.*field = before;
  }
}

}  // namespace
}  // namespace fairlead::run
