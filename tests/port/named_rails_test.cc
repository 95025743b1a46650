// Puts, gets and sends that name a rail: what each world makes of it, and of rails that it lacks.
#include <cstring>
#include <vector>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::SegId kSegment = 40;
constexpr lci::Chan kChan = 5;
constexpr std::size_t kBytes = std::size_t{256} << 10;

class NamedRails : public PerWorld {};
INSTANTIATE_PORT_TESTS(NamedRails);

bool began(Post answer) { return answer == Post::done || answer == Post::pending; }
bool ends(lci::Port& port, const Counter& counter) {
  return port.wait({.counter = &counter, .at = 1, .what = "the test's operation"}) == Post::done;
}

// A put, a fence and a get by that rail; how long the put took until it was there. Negative: not
// all of it came, or one was refused.
Ps there_and_back(lci::Port& port, Rank peer, std::size_t size, std::uint32_t flags) {
  const std::vector<std::byte> data(size, static_cast<std::byte>(flags >> 8 | 1));
  std::vector<std::byte> back(size);
  const lci::PutPiece piece{64, data.data(), size};
  Counter put;
  Counter fenced;
  Counter got;
  const Ps begin = port.now();
  if (!began(port.put({peer}, kSegment, {&piece, 1}, &put, lci::kNoCounter, flags))) return Ps{-1};
  if (!began(port.fence({peer}, &fenced)) || !ends(port, fenced)) return Ps{-2};
  const Ps took = port.now() - begin;
  if (!began(port.get({peer, kSegment, 64}, back.data(), size, &got, flags))) return Ps{-3};
  if (!ends(port, got) || back != data) return Ps{-4};
  return took;
}

Post send_small(lci::Port& port, Rank peer, std::uint32_t flags) {
  return port.send_small({peer}, kChan, lci::Lane::request, lci::Words{}, {}, flags);
}
Post send(lci::Port& port, Rank peer, std::uint32_t flags) {
  lci::Packet* const packet = port.alloc({peer}, lci::Lane::request, 100, lci::kNoFlags);
  const Post answer = port.send(packet, kChan, lci::Words{}, 100, {}, nullptr, flags);
  if (answer != Post::done && answer != Post::pending) port.release(packet);
  return answer;
}

// Every rail that there is, and the first that there is not.
bool names_all(run::Context& rank) {
  lci::Port& port = rank.port();
  std::uint64_t came = 0;
  const auto count = [](void* counted, lci::Packet*, const lci::Arrival&) {
    ++*static_cast<std::uint64_t*>(counted);
    return Keep::no;
  };
  port.bind(kChan, {count, &came}, {});
  Meeting meeting(port);
  void* const memory = port.allocate(kSegment, kBytes + 64, lci::Place::host);
  if (!PORT_TEST_CHECK(memory != nullptr && meeting.meet(), port, 0)) return false;
  const Rank peer = 1 - port.self();
  const std::uint32_t rails = port.caps(peer).rails;
  bool good = true;
  for (std::uint32_t rail = 0; rail < rails && port.self() == 0; ++rail) {
    for (const std::size_t size : {std::size_t{8}, std::size_t{4096}, kBytes}) {
      good &= PORT_TEST_CHECK(there_and_back(port, peer, size, lci::on_rail(rail)) >= Ps{0}, port,
                              rail * 10);
    }
    good &= PORT_TEST_CHECK(send_small(port, peer, lci::on_rail(rail)) == Post::done, port, rail);
    good &= PORT_TEST_CHECK(began(send(port, peer, lci::on_rail(rail))), port, rail);
  }
  while (port.self() == 1 && came < rails * 2) {
    (void)port.wait({.any_packet = true, .what = "packets by each rail"});
  }
  // Expect: a rail that does not exist is an answer, and nothing was done
  for (const std::uint32_t none : {rails, rails + 1, lci::kRailsMax, lci::kRailsMax + 7}) {
    const std::uint32_t flags = lci::on_rail(none);
    std::uint64_t word = 0;
    const lci::PutPiece piece{0, &word, sizeof word};
    Counter done;
    good &= PORT_TEST_CHECK(
        port.put({peer}, kSegment, {&piece, 1}, &done, lci::kNoCounter, flags) == Post::no_rail,
        port, none);
    good &= PORT_TEST_CHECK(
        port.get({peer, kSegment, 0}, &word, sizeof word, &done, flags) == Post::no_rail, port,
        none);
    good &= PORT_TEST_CHECK(send_small(port, peer, flags) == Post::no_rail, port, none);
    good &= PORT_TEST_CHECK(send(port, peer, flags) == Post::no_rail, port, none);
    good &= PORT_TEST_CHECK(done.ok + done.failed == 0, port, none);
  }
  return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
}

TEST_P(NamedRails, carry_what_names_them) { run_ranks(GetParam(), 2, names_all); }

TEST(NamedRailsOfSeveral, carry_what_names_them) {
  for (const char* const on : {"udp", "nirx"}) {
    run::WorldOptions options = options_of(on, 2);
    options.address = "127.0.0.1,127.0.0.2";
    options.ranks_per_node = options.lci.empty() ? 0 : 1;
    const Result<run::RunReport> report =
        run::run_world(options, [](run::Context& rank) { return names_all(rank) ? 0 : 1; });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0) << on << " " << report.value().failure;
  }
}

// On Fire Link a rail is a link: each is as fast as the others, and one processor's stores are more
// than half a link, so that two that keep to one link take longer than by two.
TEST(NamedRailsOfFireLink, are_its_links) {
  run_ranks("firelink@2", 4, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    (void)port.allocate(kSegment, kBytes + 64, lci::Place::host);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    const auto both = [&](std::uint32_t mine) {
      Ps took{};
      if (port.self() < 2) took = there_and_back(port, port.self() + 2, kBytes, lci::on_rail(mine));
      good &= PORT_TEST_CHECK(took >= Ps{0} && meeting.meet(), port, took.count);
      return took;
    };
    const Ps together = both(0);
    const Ps apart = both(port.self() * 2);
    const Ps apart_too = both(1 + port.self() * 2);
    if (port.self() < 2) {
      good &= PORT_TEST_CHECK(together.count * 10 > apart.count * 11, port, together.count);
      const Ps most = std::max(apart, apart_too);
      const Ps least = std::min(apart, apart_too);
      good &= PORT_TEST_CHECK((most - least).count * 50 < most.count, port, (most - least).count);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

// A rail that is lost keeps nothing back.
TEST(NamedRailsOfFireLink, that_die_leave_their_puts_to_others) {
  run::WorldOptions options = options_of("firelink", 2);
  options.faults = "down=0-link0@20us+1s";
  const Result<run::RunReport> report =
      run::run_world(options, [](run::Context& rank) { return names_all(rank) ? 0 : 1; });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
}

}  // namespace
}  // namespace fairlead::port_test
