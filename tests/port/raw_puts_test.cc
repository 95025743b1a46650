// Raw puts: where the fabric loses some, each that is lost is told, and none else.

#include <cstring>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr std::size_t kBytes = 65536;
constexpr lci::SegId kSegment = 7;

struct World {
  const char* name;
  const char* on;
  const char* faults;
};

bool wait_for(lci::Port& port, const Counter& counter) {
  lci::Until until;
  until.counter = &counter;
  until.at = 1;
  return port.wait(until) != Post::peer_down;
}

// A put and a fence behind it; what `done` said: 1 it was lost, 0 not; -1: something is wrong.
int put(lci::Port& port, const std::vector<std::byte>& data, std::uint32_t flags, bool counted) {
  const std::uint64_t lost_before = port.path(1).lost;
  Counter done;
  Counter fenced;
  const lci::PutPiece piece{0, data.data(), data.size()};
  const Post answer =
      port.put({1}, kSegment, {&piece, 1}, counted ? &done : nullptr, lci::kNoCounter, flags);
  if (answer != Post::done && answer != Post::pending) return -1;
  if (port.fence({1}, &fenced) == Post::invalid) return -1;
  if (counted && !wait_for(port, done)) return -1;
  if (!wait_for(port, fenced)) return -1;
  const bool told = counted ? done.failed > 0 : fenced.failed > 0;
  if (counted && fenced.failed > 0) return -1;
  if (told && port.path(1).lost == lost_before) return -1;
  return told ? 1 : 0;
}

bool body(run::Context& rank, bool some_are_lost) {
  lci::Port& port = rank.port();
  Meeting meeting(port);
  auto* const memory = static_cast<std::byte*>(port.allocate(kSegment, kBytes, lci::Place::host));
  if (!PORT_TEST_CHECK(memory != nullptr && meeting.meet(), port, 0)) return false;
  bool right = true;
  int lost = 0;
  for (int i = 1; i <= 60; ++i) {
    const std::vector<std::byte> data(kBytes, static_cast<std::byte>(i));
    if (port.self() == 0) {
      for (;;) {
        const int told = put(port, data, lci::kRaw, i % 2 == 0);
        right &= PORT_TEST_CHECK(told >= 0, port, i);
        if (told <= 0) break;
        ++lost;
      }
    }
    right &= PORT_TEST_CHECK(meeting.meet(), port, i);
    if (port.self() == 1) {
      right &= PORT_TEST_CHECK(std::memcmp(memory, data.data(), kBytes) == 0, port, i);
    }
    right &= PORT_TEST_CHECK(meeting.meet(), port, i);
    // Expect: no other put is lost
    if (port.self() == 0) right &= PORT_TEST_CHECK(put(port, data, 0, true) == 0, port, i);
  }
  if (port.self() == 0) right &= PORT_TEST_CHECK((lost > 0) == some_are_lost, port, lost);
  return PORT_TEST_CHECK(meeting.meet(), port, 61) && right;
}

TEST(RawPuts, AreToldWhenTheyAreLost) {
  for (const World& world :
       {World{"shm", "shm", "drop=0.1"}, World{"shm", "shm", ""}, World{"loop", "loop", ""},
        World{"firelink", "firelink", ""},
        World{"firelink", "firelink", "down=0-link0@50us+2ms,down=0-ni1@60us+1ms"}}) {
    run::WorldOptions options = options_of(world.name, 2);
    options.faults = world.faults;
    const bool lossy = *world.faults != '\0';
    const Result<run::RunReport> report =
        run::run_world(options, [lossy](run::Context& rank) { return body(rank, lossy) ? 0 : 1; });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0)
        << world.on << " " << world.faults << " " << report.value().failure;
  }
}

}  // namespace
}  // namespace fairlead::port_test
