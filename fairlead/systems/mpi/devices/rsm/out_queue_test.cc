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
  explicit Sender(std::uint32_t atomic_bytes) : port(0, 2) {
    port.capabilities.put_atomic_bytes = atomic_bytes;
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

  FakePort port;
  std::atomic<std::uint64_t> taken = 0;
  OutQueue queue{port, 1, 9, kBoxes, taken};
};

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

}  // namespace
}  // namespace fairlead::mpi::rsm
