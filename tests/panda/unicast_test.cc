// Messages from rank to rank, of every size, and what handlers send.
#include <algorithm>
#include <utility>

#include "tests/panda/panda_worlds.h"

namespace fairlead::panda_test {
namespace {

constexpr Service kData = 3;
constexpr Service kEcho = 63;

class PandaUnicast : public PerFlavour {};
INSTANTIATE_PANDA_TESTS(PandaUnicast, "st", "mt");

std::vector<std::size_t> sizes_around(std::size_t mtu) {
  std::vector<std::size_t> sizes = {0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200};
  for (const std::size_t packets : {1, 2, 3, 16}) {
    for (const int near : {-17, -16, -1, 0, 1}) {
      sizes.push_back(packets * mtu + static_cast<std::size_t>(near));
    }
  }
  sizes.push_back(1 << 20);
  return sizes;
}

struct Sizes {
  Panda& panda;
  std::vector<std::size_t> sizes;
  Counter came;
  Counter echoed;
  bool good = true;

  // Rank 1: what came is as rank 0 sent it, and goes back.
  static void on_data(void* self, Incoming message) {
    auto& me = *static_cast<Sizes*>(self);
    const std::size_t index = me.came.ok++;
    std::uint32_t header = 0;
    message.pop(&header, sizeof header);
    const std::vector<std::byte> wanted = pattern(me.sizes[index], index);
    const std::size_t front = message.front().size();
    me.good &= PANDA_TEST_CHECK(header == index, me.panda, index) &&
               PANDA_TEST_CHECK(message.source() == 0, me.panda, index) &&
               PANDA_TEST_CHECK(message.size() == wanted.size(), me.panda, index) &&
               PANDA_TEST_CHECK(front >= std::min<std::size_t>(wanted.size(), 48), me.panda, index);
    // In two parts, the first of which ends in the middle of a packet, most often.
    std::vector<std::byte> bytes(message.size());
    const std::size_t part = bytes.size() / 3;
    message.pop(bytes.data(), part);
    const std::span<const std::byte> seen = message.front();
    me.good &= PANDA_TEST_CHECK(
        std::equal(seen.begin(), seen.end(), wanted.begin() + static_cast<std::ptrdiff_t>(part)),
        me.panda, index);
    message.pop(bytes.data() + part, bytes.size() - part);
    me.good &= PANDA_TEST_CHECK(bytes == wanted, me.panda, index);
    Message answer(bytes.data(), bytes.size());
    answer.push(&header, sizeof header);
    me.panda.send(0, kEcho, answer);
  }
  static void on_echo(void* self, Incoming message) {
    auto& me = *static_cast<Sizes*>(self);
    const std::size_t index = me.echoed.ok++;
    std::uint32_t header = 0;
    message.pop(&header, sizeof header);
    message.skip(message.size() / 2);
    const std::vector<std::byte> rest = bytes_of(message);
    std::vector<std::byte> wanted = pattern(me.sizes[index], index);
    wanted.erase(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(wanted.size() / 2));
    me.good &= PANDA_TEST_CHECK(header == index, me.panda, index) &&
               PANDA_TEST_CHECK(rest == wanted, me.panda, index);
  }
};

TEST_P(PandaUnicast, CarriesEverySizeBothWays) {
  run_panda(GetParam(), 3, [](Panda& panda) {
    Sizes me{panda, sizes_around(panda.port().caps(panda.self()).mtu_bytes), {}, {}};
    panda.serve(kData, {&Sizes::on_data, &me});
    panda.serve(kEcho, {&Sizes::on_echo, &me});
    // More goes out at once than Panda keeps for a service that is not there yet.
    panda.barrier();
    if (panda.self() == 0) {
      for (std::uint32_t i = 0; i < me.sizes.size(); ++i) {
        const std::vector<std::byte> bytes = pattern(me.sizes[i], i);
        // In three pieces, one of them empty.
        const std::size_t half = bytes.size() / 2;
        Message message(bytes.data(), half);
        message.add(bytes.data(), 0);
        message.add(bytes.data() + half, bytes.size() - half);
        message.push(&i, sizeof i);
        panda.send(1, kData, message);
      }
      panda.wait(me.echoed, me.sizes.size(), "the echoes");
    } else if (panda.self() == 1) {
      panda.wait(me.came, me.sizes.size(), "the messages");
    }
    panda.barrier();
    return me.good && PANDA_TEST_CHECK(panda.counts().dropped == 0, panda, 0);
  });
}

struct Flood {
  static constexpr std::uint32_t kEach = 200;
  Panda& panda;
  std::vector<std::uint32_t> next;
  Counter came;
  bool good = true;

  static std::size_t size_of(std::uint32_t index) { return index % 7 == 0 ? 5000 : index; }

  static void on_data(void* self, Incoming message) {
    auto& me = *static_cast<Flood*>(self);
    std::uint32_t index = 0;
    message.pop(&index, sizeof index);
    me.good &= PANDA_TEST_CHECK(index == me.next[message.source()]++, me.panda, index) &&
               PANDA_TEST_CHECK(message.size() == size_of(index), me.panda, index);
    ++me.came.ok;
  }
};

// Expect: whatever all send to all without looking at what comes arrives, in order of each source.
TEST_P(PandaUnicast, KeepsTheOrderOfASource) {
  run_panda(GetParam(), 4, [](Panda& panda) {
    Flood me{panda, std::vector<std::uint32_t>(panda.size()), {}};
    panda.serve(kData, {&Flood::on_data, &me});
    const std::vector<std::byte> data(5000);
    for (std::uint32_t i = 0; i < Flood::kEach; ++i) {
      for (Rank to = 0; to < panda.size(); ++to) {
        Message message(data.data(), Flood::size_of(i));
        message.push(&i, sizeof i);
        panda.send(to, kData, message);
      }
    }
    panda.wait(me.came, std::uint64_t{Flood::kEach} * panda.size(), "all messages");
    return me.good;
  });
}

struct Relay {
  explicit Relay(Panda& own) : panda(own) {}
  static constexpr std::uint32_t kMessages = 300;
  Panda& panda;
  std::vector<std::byte> data = std::vector<std::byte>(20'000);
  std::uint32_t next = 0;
  Counter came;
  bool good = true;

  // Each message makes the handler send more than there is room for.
  static void on_data(void* self, Incoming message) {
    auto& me = *static_cast<Relay*>(self);
    std::uint32_t index = 0;
    message.pop(&index, sizeof index);
    Message answer(me.data.data(), me.data.size());
    answer.push(&index, sizeof index);
    me.panda.send(message.source(), kEcho, answer);
    ++me.came.ok;
  }
  static void on_echo(void* self, Incoming message) {
    auto& me = *static_cast<Relay*>(self);
    std::uint32_t index = 0;
    message.pop(&index, sizeof index);
    me.good &= PANDA_TEST_CHECK(index == me.next++, me.panda, index) &&
               PANDA_TEST_CHECK(message.size() == me.data.size(), me.panda, index);
    ++me.came.ok;
  }
};

TEST_P(PandaUnicast, HandlersNeverWaitForRoom) {
  run_panda(GetParam(), 2, [](Panda& panda) {
    Relay me(panda);
    panda.serve(kData, {&Relay::on_data, &me});
    panda.serve(kEcho, {&Relay::on_echo, &me});
    for (std::uint32_t i = 0; panda.self() == 0 && i < Relay::kMessages; ++i) {
      Message message;
      message.push(&i, sizeof i);
      panda.send(1, kData, message);
    }
    panda.wait(me.came, Relay::kMessages, "the relay");
    return me.good;
  });
}

struct Late {
  Panda& panda;
  std::vector<Incoming> kept;
  Counter came;

  static void on_data(void* self, Incoming message) {
    auto& me = *static_cast<Late*>(self);
    me.kept.push_back(std::move(message));
    ++me.came.ok;
  }
};

// Expect: what comes before its service has a handler waits for it; what a handler keeps lives on.
TEST_P(PandaUnicast, WaitsForTheHandlerAndIsKept) {
  run_panda(GetParam(), 2, [](Panda& panda) {
    constexpr std::uint32_t kMessages = 100;
    const auto bytes = [](std::uint32_t i) { return pattern(i * 90, i); };
    for (std::uint32_t i = 0; panda.self() == 0 && i < kMessages; ++i) {
      const std::vector<std::byte> data = bytes(i);
      panda.send(1, kData, Message(data.data(), data.size()));
    }
    panda.barrier();
    Late me{panda, {}, {}};
    panda.serve(kData, {&Late::on_data, &me});
    if (panda.self() != 1) return true;
    panda.wait(me.came, kMessages, "what waited for its handler");
    bool good = true;
    // Given back in another order than they came.
    for (std::uint32_t i = kMessages; i-- > 0;) {
      good &= PANDA_TEST_CHECK(bytes_of(me.kept[i]) == bytes(i), panda, i);
      me.kept[i].clear();
    }
    return good;
  });
}

}  // namespace
}  // namespace fairlead::panda_test
