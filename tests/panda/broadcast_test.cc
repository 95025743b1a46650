// Broadcasts of all ranks at once, unordered and in one order.
#include "tests/panda/panda_worlds.h"

namespace fairlead::panda_test {
namespace {

constexpr Service kData = 1;
constexpr Service kLog = 2;

class PandaBroadcast : public PerFlavour {};
INSTANTIATE_PANDA_TESTS(PandaBroadcast, "st", "mt");

struct Receiver {
  Panda& panda;
  std::vector<std::uint32_t> next;
  std::vector<std::uint64_t> seen;  // of ordered ones: source and index, in the order of handlers
  std::uint64_t first_order = 0;
  Counter came;
  bool good = true;

  explicit Receiver(Panda& own) : panda(own), next(own.size()) {}

  static std::size_t size_of(std::uint32_t index) { return index % 9 == 4 ? 9000 : index % 64; }

  std::uint32_t take(Incoming& message) {
    std::uint32_t index = 0;
    message.pop(&index, sizeof index);
    const Rank source = message.source();
    good &= PANDA_TEST_CHECK(index == next[source]++, panda, index) &&
            PANDA_TEST_CHECK(bytes_of(message) == pattern(size_of(index), source * 1000 + index),
                             panda, index);
    ++came.ok;
    return index;
  }
  static void on_data(void* self, Incoming message) { static_cast<Receiver*>(self)->take(message); }
  static void on_ordered(void* self, Incoming message) {
    auto& me = *static_cast<Receiver*>(self);
    me.good &= PANDA_TEST_CHECK(me.panda.order() == me.first_order + me.seen.size(), me.panda,
                                me.panda.order());
    const std::uint64_t source = message.source();
    me.seen.push_back(source << 32 | me.take(message));
  }
};

Message message_of(const std::vector<std::byte>& data, const std::uint32_t& index) {
  Message message(data.data(), data.size());
  message.push(&index, sizeof index);
  return message;
}

TEST_P(PandaBroadcast, ReachesEverybodyInOrderOfItsSource) {
  for (const unsigned ranks : {1u, 2u, 5u}) {
    run_panda(GetParam(), ranks, [](Panda& panda) {
      constexpr std::uint32_t kEach = 60;
      Receiver me(panda);
      panda.serve(kData, {&Receiver::on_data, &me});
      for (std::uint32_t i = 0; i < kEach; ++i) {
        const std::vector<std::byte> data = pattern(Receiver::size_of(i), panda.self() * 1000 + i);
        panda.broadcast(kData, message_of(data, i), panda.self() % 2 == 0);
      }
      const std::uint64_t sources = panda.size() - (panda.self() % 2 == 0 ? 0 : 1);
      panda.wait(me.came, sources * kEach, "all broadcasts");
      return me.good;
    });
  }
}

// Expect: every rank's handler sees the same order, the one of the numbers that senders got.
TEST_P(PandaBroadcast, OrderedOnesAreInOneOrder) {
  run_panda(GetParam(), 4, [](Panda& panda) {
    constexpr std::uint32_t kEach = 50;
    Receiver me(panda);
    Receiver logs(panda);
    panda.serve(kData, {&Receiver::on_ordered, &me});
    std::vector<std::uint64_t> mine;
    for (std::uint32_t i = 0; i < kEach; ++i) {
      const std::vector<std::byte> data = pattern(Receiver::size_of(i), panda.self() * 1000 + i);
      mine.push_back(panda.broadcast_ordered(kData, message_of(data, i)));
      if (i % 8 == panda.self()) panda.poll();
    }
    panda.wait(me.came, std::uint64_t{kEach} * panda.size(), "all ordered broadcasts");
    bool good = me.good;
    for (std::uint32_t i = 0; i < kEach; ++i) {
      good &=
          PANDA_TEST_CHECK(me.seen[mine[i]] == (std::uint64_t{panda.self()} << 32 | i), panda, i);
    }
    // What the others saw is compared at rank 0.
    struct Seen {
      std::vector<std::vector<std::byte>> of;
      Counter came;
      static void on_log(void* self, Incoming message) {
        auto& all = *static_cast<Seen*>(self);
        all.of.push_back(bytes_of(message));
        ++all.came.ok;
      }
    } all;
    panda.serve(kLog, {&Seen::on_log, &all});
    panda.send(0, kLog, Message(me.seen.data(), me.seen.size() * sizeof me.seen[0]));
    if (panda.self() != 0) return good;
    panda.wait(all.came, panda.size(), "what the others saw");
    for (const std::vector<std::byte>& each : all.of) {
      good &= PANDA_TEST_CHECK(each == all.of[0], panda, each.size());
    }
    return good;
  });
}

}  // namespace
}  // namespace fairlead::panda_test
