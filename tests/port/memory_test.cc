// Memory that ranks let each other reach: puts of many pieces, second addresses, memory of the
// network interface, more segments than one table holds.
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <vector>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::SegId kPieces = 5;
constexpr lci::SegId kTwice = 6;
constexpr lci::SegId kInterface = 7;
constexpr lci::SegId kMany = 100;  // and those that follow
constexpr unsigned kManyCount = 1500;
constexpr std::size_t kBytes = 64 << 10;
constexpr Rank kOwner = 1;

class Memory : public PerWorld {};

template <class Call>
bool begin(lci::Port& port, Call&& call) {
  for (;;) {
    const Post answer = call();
    if (answer == Post::done || answer == Post::pending) return true;
    if (answer != Post::again_credit && answer != Post::again_buffer) return false;
    port.poll();
  }
}
bool get(lci::Port& port, lci::Remote from, void* to, std::size_t size) {
  Counter done;
  if (!begin(port, [&] { return port.get(from, to, size, &done, lci::kNoFlags); })) return false;
  (void)port.wait({.counter = &done, .at = 1, .what = "a get"});
  return done.ok == 1;
}
bool put(lci::Port& port, lci::Remote to, std::span<const lci::PutPiece> pieces) {
  Counter done;
  const auto call = [&] {
    return port.put({to.rank}, to.segment, pieces, nullptr, lci::kNoCounter, lci::kNoFlags);
  };
  if (!begin(port, call)) return false;
  if (!begin(port, [&] { return port.fence({to.rank}, &done); })) return false;
  (void)port.wait({.counter = &done, .at = 1, .what = "a fence"});
  return done.ok == 1;
}

constexpr std::byte pattern(std::size_t at) {
  return static_cast<std::byte>(at * 7 + at / 256 + 1);
}

// Pieces of 0 to 40 bytes, backwards among them, and one of several packets.
bool every_piece_arrives_and_nothing_else(lci::Port& port, bool packets) {
  std::vector<std::byte> wanted(kBytes);
  std::vector<std::byte> source(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) source[i] = pattern(i);
  std::vector<lci::PutPiece> pieces;
  const auto add = [&](std::size_t at, std::size_t size) {
    pieces.push_back({at, source.data() + at, size});
    std::memcpy(wanted.data() + at, source.data() + at, size);
  };
  for (std::size_t i = 0; i < 200; ++i) add((199 - i) * 64, i % 41);
  add(16 << 10, 20000);
  for (std::size_t i = 0; i < 100; ++i) add((40 << 10) + i * 16, 8);
  const std::uint64_t sent = port.counters().packets_sent;
  bool good = PORT_TEST_CHECK(put(port, {kOwner, kPieces, 0}, pieces), port, pieces.size());
  // Expect: many in a packet, where packets carry them
  const std::uint64_t used = port.counters().packets_sent - sent;
  good &= PORT_TEST_CHECK(!packets || used <= 60, port, used);
  std::vector<std::byte> seen(kBytes);
  good &= PORT_TEST_CHECK(get(port, {kOwner, kPieces, 0}, seen.data(), kBytes), port, 0);
  good &= PORT_TEST_CHECK(seen == wanted, port, 0);
  // Expect: one that is out of bounds is refused, and those beside it arrive
  const std::array<lci::PutPiece, 3> some = {
      {{0, source.data() + 1, 4}, {kBytes - 2, source.data(), 4}, {8, source.data() + 1, 4}}};
  good &= PORT_TEST_CHECK(!put(port, {kOwner, kPieces, 0}, some), port, 1);
  return good;
}

bool the_owner_has_a_second_address(lci::Port& port, std::byte* at, Meeting& meeting) {
  bool good = true;
  std::byte* const again =
      port.self() == kOwner ? static_cast<std::byte*>(port.alias(kTwice)) : nullptr;
  if (port.self() == kOwner) {
    good &=
        PORT_TEST_CHECK(again != nullptr && again != at && port.alias(kTwice) == again, port, 0);
    good &= PORT_TEST_CHECK(reinterpret_cast<std::uintptr_t>(again) % 4096 == 0, port, 0);
    good &= PORT_TEST_CHECK(port.alias(kMany) == nullptr, port, 0);
    if (!good) return false;
    again[100] = std::byte{11};
    // Expect: a protection of its own
    good &= PORT_TEST_CHECK(::mprotect(again, kBytes, PROT_READ) == 0, port, 0);
  }
  good &= PORT_TEST_CHECK(meeting.meet(), port, 0);
  if (port.self() == 0) {
    std::byte seen{};
    good &= PORT_TEST_CHECK(get(port, {kOwner, kTwice, 100}, &seen, 1), port, 0);
    good &= PORT_TEST_CHECK(seen == std::byte{11}, port, seen);
    const std::uint64_t word = 0x1122334455667788;
    const lci::PutPiece piece{8, &word, 8};
    good &= PORT_TEST_CHECK(put(port, {kOwner, kTwice, 0}, {&piece, 1}), port, 0);
  }
  good &= PORT_TEST_CHECK(meeting.meet(), port, 0);
  if (port.self() == kOwner) {
    std::uint64_t seen = 0;
    std::memcpy(&seen, again + 8, 8);
    good &= PORT_TEST_CHECK(seen == 0x1122334455667788, port, seen);
  }
  return good;
}

bool the_interface_has_memory_of_any_size(lci::Port& port) {
  std::array<std::byte, 300> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(i);
  const lci::PutPiece piece{15000, bytes.data(), bytes.size()};
  bool good = PORT_TEST_CHECK(put(port, {kOwner, kInterface, 0}, {&piece, 1}), port, 0);
  std::uint64_t old = 7;
  Counter done;
  good &= PORT_TEST_CHECK(
      begin(port,
            [&] {
              return port.atomic({kOwner, kInterface, 19992}, lci::Atomic::add, 5, 0, &old, &done);
            }),
      port, 0);
  (void)port.wait({.counter = &done, .at = 1, .what = "an atomic"});
  good &= PORT_TEST_CHECK(done.ok == 1 && old == 0, port, old);
  std::array<std::byte, 300> seen{};
  good &= PORT_TEST_CHECK(get(port, {kOwner, kInterface, 15000}, seen.data(), 300), port, 0);
  good &= PORT_TEST_CHECK(seen == bytes, port, 0);
  std::uint64_t word = 0;
  good &= PORT_TEST_CHECK(get(port, {kOwner, kInterface, 19992}, &word, 8), port, 0);
  good &= PORT_TEST_CHECK(word == 5, port, word);
  return good;
}

TEST_P(Memory, of_every_kind_and_any_number_of_segments) {
  const bool packets = GetParam() == "udp" || GetParam() == "nirx";
  run_ranks(GetParam(), 2, [packets](run::Context& rank) {
    lci::Port& port = rank.port();
    (void)port.allocate(kPieces, kBytes, lci::Place::host);
    auto* const twice = static_cast<std::byte*>(port.allocate(kTwice, kBytes, lci::Place::host));
    bool good = PORT_TEST_CHECK(reinterpret_cast<std::uintptr_t>(twice) % 4096 == 0, port, 0);
    good &= PORT_TEST_CHECK(port.allocate(kInterface, 20000, lci::Place::ni) != nullptr, port, 0);
    std::vector<std::uint32_t> words(kManyCount);
    for (unsigned i = 0; i < kManyCount; ++i) {
      words[i] = i * 3 + 1;
      good &= PORT_TEST_CHECK(
          port.expose(kMany + i, &words[i], 4, lci::kRead, nullptr, {}) == Post::done, port, i);
    }
    Meeting meeting(port);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 1);
    good &= the_owner_has_a_second_address(port, twice, meeting);
    if (port.self() == 0) {
      good &= every_piece_arrives_and_nothing_else(port, packets);
      good &= the_interface_has_memory_of_any_size(port);
      for (unsigned i = 0; i < kManyCount; i += 83) {
        std::uint32_t seen = 0;
        good &= PORT_TEST_CHECK(get(port, {kOwner, kMany + i, 0}, &seen, 4), port, i);
        good &= PORT_TEST_CHECK(seen == i * 3 + 1, port, seen);
      }
    }
    good &= PORT_TEST_CHECK(meeting.meet(), port, 2);
    // Expect: they end, and their names come again
    for (unsigned i = 0; i < kManyCount; ++i) {
      good &= PORT_TEST_CHECK(port.withdraw(kMany + i) == Post::done, port, i);
    }
    good &= PORT_TEST_CHECK(
        port.expose(kMany + 1400, words.data(), 4, lci::kRead, nullptr, {}) == Post::done, port, 0);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 3);
    return good;
  });
}

INSTANTIATE_PORT_TESTS(Memory);

}  // namespace
}  // namespace fairlead::port_test
