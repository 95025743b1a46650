// Postboxes as a sender fills and puts them.
#include "fairlead/systems/mpi/devices/rsm/out_queue.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "fairlead/systems/mpi/fake_port.h"

namespace fairlead::mpi::rsm {
namespace {

constexpr std::uint32_t kBoxes = 4;

struct Sender {
  explicit Sender(std::uint32_t atomic_bytes, bool raw = false)
      : port(0, 2), configured(configure(atomic_bytes, raw)) {
    port.peer_memory[9] = std::string(kBoxes * kBoxBytes, '\0');
  }
  Box there(std::size_t slot) const {
    Box box;
    std::memcpy(&box, port.peer_memory.at(9).data() + slot * kBoxBytes, sizeof box);
    return box;
  }
  void fill(char with) {
    std::memset(queue.next().body, with, sizeof queue.next().body);
    queue.fill(BoxKind::head, 32);
  }

  bool configure(std::uint32_t atomic_bytes, bool raw) {
    port.capabilities.put_atomic_bytes = atomic_bytes;
    port.capabilities.flags = raw ? std::uint64_t{lci::kRawPuts} : 0;
    return true;
  }
  std::string bodies() const {
    std::string all;
    for (std::size_t slot = 0; slot < kBoxes; ++slot) {
      all += there(slot).flag.generation == 0 ? '.' : static_cast<char>(there(slot).body[0]);
    }
    return all;
  }
  // As a device does: until all is put.
  void push_all() {
    for (int i = 0; i < 10 && !queue.settled(); ++i) (void)queue.push();
    EXPECT_TRUE(queue.settled());
  }

  FakePort port;
  bool configured;
  std::atomic<std::uint64_t> taken = 0;
  OutQueue queue{port, 1, 9, kBoxes, taken};
};

TEST(OutQueue, StoresWhereTheReceiversMemoryIsMapped) {
  for (const bool raw : {false, true}) {
    Sender s(8, raw);
    s.port.capabilities.flags |= lci::kMappable;
    std::byte* const mapped = static_cast<std::byte*>(s.port.allocate(9, kBoxes * kBoxBytes, {}));
    s.queue.opened(0);
    for (const char with : {'a', 'b', 'c', 'd'}) s.fill(with);
    s.push_all();
    s.taken = 2;
    EXPECT_EQ(s.queue.room(), 2u);
    s.fill('e');
    s.push_all();
    std::string stored;
    for (std::size_t slot = 0; slot < kBoxes; ++slot) {
      Box box;
      std::memcpy(&box, mapped + slot * kBoxBytes, sizeof box);
      stored += box.flag.generation == 0 ? '.' : static_cast<char>(box.body[0]);
    }
    // Expect: stores, but where they may be lost unseen
    EXPECT_EQ(stored, raw ? "...." : "ebcd");
    EXPECT_EQ(s.bodies(), raw ? "ebcd" : "....");
  }
}

TEST(OutQueue, PutsWhatIsFilledAroundTheEnd) {
  for (const std::uint32_t atomic_bytes : {8u, 64u}) {
    Sender s(atomic_bytes);
    EXPECT_EQ(s.queue.room(), kBoxes);
    for (const char with : {'a', 'b', 'c'}) s.fill(with);
    EXPECT_EQ(s.queue.push(), Post::done);
    EXPECT_EQ(s.queue.room(), 1u);
    s.taken = 3;
    EXPECT_EQ(s.queue.room(), kBoxes);
    for (const char with : {'d', 'e', 'f'}) s.fill(with);
    EXPECT_EQ(s.queue.push(), Post::done);
    EXPECT_TRUE(s.queue.all_pushed());
    // Expect: slots 3, 0, 1 are new
    const char expected[] = "efcd";
    const std::uint32_t generations[] = {2, 2, 1, 1};
    for (std::size_t slot = 0; slot < kBoxes; ++slot) {
      EXPECT_EQ(static_cast<char>(s.there(slot).body[0]), expected[slot]) << slot;
      EXPECT_EQ(s.there(slot).flag.generation, generations[slot]) << slot;
      EXPECT_EQ(s.there(slot).flag.count, 32u) << slot;
    }
  }
}

// A queue that does not begin its segment: nothing before it is touched.
TEST(OutQueue, LiesAnywhereInItsSegment) {
  constexpr std::size_t kBefore = 3;
  for (const std::uint32_t atomic_bytes : {8u, 64u}) {
    Sender s(atomic_bytes);
    s.port.peer_memory[9] = std::string((kBefore + kBoxes) * kBoxBytes, '\0');
    s.queue.opened(kBefore * kBoxBytes);
    for (const char with : {'a', 'b', 'c'}) s.fill(with);
    EXPECT_EQ(s.queue.push(), Post::done);
    s.taken = 3;
    EXPECT_EQ(s.queue.room(), kBoxes);
    for (const char with : {'d', 'e'}) s.fill(with);
    EXPECT_EQ(s.queue.push(), Post::done);
    for (std::size_t line = 0; line < kBefore + kBoxes; ++line) {
      EXPECT_EQ(s.there(line).flag.generation, line < kBefore ? 0u : line == kBefore ? 2u : 1u);
      if (line >= kBefore) {
        EXPECT_EQ(static_cast<char>(s.there(line).body[0]), "ebcd"[line - kBefore]);
      }
    }
  }
}

TEST(OutQueue, WhatHasNoRoomIsPutLater) {
  for (const std::uint32_t atomic_bytes : {8u, 64u}) {
    Sender s(atomic_bytes);
    s.port.room = 0;
    s.fill('a');
    EXPECT_EQ(s.queue.push(), Post::again_credit);
    EXPECT_FALSE(s.queue.all_pushed());
    EXPECT_EQ(s.there(0).flag.generation, 0u);
    s.port.room = 1;
    EXPECT_EQ(s.queue.push(), Post::done);
    EXPECT_EQ(s.there(0).flag.generation, 1u);
  }
}

TEST(OutQueue, MoreThanWasPutCannotBeTaken) {
  for (const std::uint64_t taken : {2u, 0u}) {
    Sender s(64);
    s.fill('a');
    EXPECT_EQ(s.queue.push(), Post::done);
    s.taken = 1;
    EXPECT_EQ(s.queue.room(), kBoxes);
    // Expect: neither more than there was, nor less than before
    s.taken = taken;
    EXPECT_EQ(s.queue.room(), 0u);
    EXPECT_TRUE(s.queue.broken());
  }
}

TEST(OutQueue, WhatIsLostIsPutAgain) {
  for (const std::uint32_t atomic_bytes : {8u, 64u}) {
    for (const int lost : {1, 2, 3}) {
      Sender s(atomic_bytes, true);
      s.port.puts_to_lose = lost;
      for (const char with : {'a', 'b', 'c'}) s.fill(with);
      EXPECT_EQ(s.queue.push(), Post::again_credit);
      EXPECT_FALSE(s.queue.settled());
      s.push_all();
      EXPECT_EQ(s.bodies(), "abc.");
      // Expect: so is what was there before, in slots that the receiver has not acknowledged
      s.taken = 1;
      EXPECT_EQ(s.queue.room(), 2u);
      s.port.peer_memory[9].assign(kBoxes * kBoxBytes, '\0');
      ++s.port.lost;
      EXPECT_TRUE(s.queue.stale());
      s.fill('d');
      s.push_all();
      EXPECT_EQ(s.bodies(), ".bcd");
      EXPECT_GE(s.queue.repeated(), 2u);
      s.taken = 4;
      EXPECT_EQ(s.queue.room(), kBoxes);
    }
  }
}

// A flag tells of nothing that is lost.
TEST(OutQueue, AFlagFollowsWhatIsThere) {
  Sender s(8, true);
  s.fill('a');
  s.port.puts_to_lose = 1;
  EXPECT_EQ(s.queue.push(), Post::again_credit);
  EXPECT_EQ(s.bodies(), "....");
  // Expect: nor of what may be lost yet
  s.port.holds_done = true;
  EXPECT_EQ(s.queue.push(), Post::again_credit);
  EXPECT_EQ(s.bodies(), "....");
  s.port.over.back()->ok.fetch_add(1);
  EXPECT_EQ(s.queue.push(), Post::done);
  EXPECT_EQ(s.bodies(), "a...");
}

// A line that was put twice may come behind the acknowledgment of the first.
TEST(OutQueue, ASlotThatWasPutAgainIsFreeOnceThatIsOver) {
  Sender s(64, true);
  s.port.holds_done = true;
  for (const char with : {'a', 'b', 'c', 'd'}) s.fill(with);
  EXPECT_EQ(s.queue.push(), Post::done);
  ++s.port.lost;
  // Expect: nothing is put before those under way are over
  EXPECT_EQ(s.queue.push(), Post::again_credit);
  EXPECT_EQ(s.port.over.size(), 1u);
  s.port.over[0]->ok.fetch_add(1);
  EXPECT_EQ(s.queue.push(), Post::done);
  EXPECT_EQ(s.port.over.size(), 2u);
  EXPECT_EQ(s.queue.repeated(), 4u);
  s.taken = 4;
  EXPECT_EQ(s.queue.room(), 0u);
  EXPECT_TRUE(s.queue.mends());
  s.port.over[1]->ok.fetch_add(1);
  EXPECT_EQ(s.queue.room(), kBoxes);
  EXPECT_FALSE(s.queue.mends());
}

// What was acknowledged meanwhile is not put a third time.
TEST(OutQueue, WhatWasThereAfterAllIsSkipped) {
  Sender s(64, true);
  for (const char with : {'a', 'b'}) s.fill(with);
  EXPECT_EQ(s.queue.push(), Post::done);
  ++s.port.lost;
  s.port.room = 0;
  EXPECT_EQ(s.queue.push(), Post::again_credit);
  s.taken = 2;
  EXPECT_EQ(s.queue.room(), kBoxes - 2);  // not before it is known that none is under way
  s.port.room = 1;
  s.port.peer_memory[9].assign(kBoxes * kBoxBytes, '\0');
  EXPECT_EQ(s.queue.push(), Post::done);
  EXPECT_EQ(s.bodies(), "....");
  EXPECT_EQ(s.queue.room(), kBoxes);
}

}  // namespace
}  // namespace fairlead::mpi::rsm
