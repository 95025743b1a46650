// Programs for the modelled world that the golden tests share: on the low-level interface alone.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "fairlead/run/launch/world.h"

namespace fairlead::golden {

constexpr lci::Chan kChan = 1;
constexpr lci::SegId kWord = 7;

inline Keep count_one(void* counter, lci::Packet*, const lci::Arrival&) {
  ++static_cast<Counter*>(counter)->ok;
  return Keep::no;
}

// Rank 0 sends `bytes` to rank 1 and back, `rounds` times.
inline int ping_pong(run::Context& context, std::size_t bytes, std::uint64_t rounds) {
  lci::Port& port = context.port();
  Counter received;
  port.bind(kChan, {count_one, &received}, {});
  const std::vector<std::byte> data(bytes);
  const Piece piece{data.data(), data.size()};
  const auto send = [&] {
    const lci::Dest dest{1 - port.self()};
    lci::Packet* packet = port.alloc(dest, lci::Lane::request, bytes, 0);
    return packet != nullptr &&
           port.send(packet, kChan, {}, 0, {&piece, 1}, nullptr, 0) == Post::done;
  };
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (port.self() == 0 && !send()) return 1;
    if (port.wait({.counter = &received, .at = round, .what = "a ball"}) != Post::done) return 2;
    if (port.self() == 1 && !send()) return 3;
  }
  return 0;
}

// Every rank sends `count` packets of 100 bytes to every other and adds 1 to a word of rank 0's NI
// after each; returns 0 when all came and the word ends at what all added.
inline int all_to_all(run::Context& context, std::uint64_t count) {
  lci::Port& port = context.port();
  Counter received;
  Counter added;
  port.bind(kChan, {count_one, &received}, {});
  if (port.allocate(kWord, 8, lci::Place::ni) == nullptr) return 1;
  const std::vector<std::byte> data(100);
  const Piece piece{data.data(), data.size()};
  std::uint64_t adds = 0;
  std::uint64_t old = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (Rank step = 1; step < port.size(); ++step) {
      const lci::Dest dest{(port.self() + step) % port.size()};
      lci::Packet* packet = port.alloc(dest, lci::Lane::request, data.size(), 0);
      if (packet == nullptr) return 2;
      if (port.send(packet, kChan, {}, 0, {&piece, 1}, nullptr, 0) != Post::done) return 3;
    }
    const Post answer = port.atomic({0, kWord, 0}, lci::Atomic::add, 1, 0, &old, &added);
    if (answer != Post::done && answer != Post::pending) return 4;
    (void)port.wait({.counter = &added, .at = ++adds, .what = "fetch-and-add"});
  }
  (void)port.wait(
      {.counter = &received, .at = count * (port.size() - 1), .what = "everybody's packets"});
  return old < count * port.size() ? 0 : 5;
}

// Packets that carry their number: `expected` per source, `wrong` where one was lost, came twice or
// passed another.
struct Numbered {
  std::vector<std::uint32_t> expected;
  Counter received;
  std::uint64_t wrong = 0;

  static Keep take(void* self, lci::Packet*, const lci::Arrival& arrival) {
    auto* me = static_cast<Numbered*>(self);
    if (arrival.words[0] != me->expected[arrival.source]++) ++me->wrong;
    std::uint32_t filled = 0;
    for (const std::byte b : arrival.data) filled += b == static_cast<std::byte>(arrival.words[0]);
    if (filled != arrival.data.size()) ++me->wrong;
    ++me->received.ok;
    return Keep::no;
  }
};

// Sends packet number `number` of `bytes` bytes.
inline bool send_numbered(lci::Port& port, lci::Dest dest, std::uint32_t number,
                          std::size_t bytes) {
  lci::Packet* packet = port.alloc(dest, lci::Lane::request, bytes, 0);
  if (packet == nullptr) return false;
  std::memset(port.body(packet).data(), static_cast<int>(number & 0xff), bytes);
  const lci::Words words = {number, 0, 0, 0};
  return port.send(packet, kChan, words, bytes, {}, nullptr, 0) == Post::done;
}

// Every rank sends `count` packets to every other, of sizes from nothing to a full packet; answers
// 0 when each came once, whole and in order.
inline int numbered_all_to_all(run::Context& context, std::uint32_t count) {
  lci::Port& port = context.port();
  Numbered numbered;
  numbered.expected.resize(port.size());
  port.bind(kChan, {Numbered::take, &numbered}, {});
  for (std::uint32_t i = 0; i < count; ++i) {
    for (Rank step = 1; step < port.size(); ++step) {
      const std::size_t bytes = i % 7 == 3 ? port.caps(0).mtu_bytes : i * 37 % 200;
      if (!send_numbered(port, {(port.self() + step) % port.size()}, i, bytes)) return 1;
    }
  }
  const std::uint64_t all = std::uint64_t{count} * (port.size() - 1);
  (void)port.wait({.counter = &numbered.received, .at = all, .what = "everybody's packets"});
  return numbered.wrong == 0 && numbered.received.ok == all ? 0 : 2;
}

// Every rank multicasts `count` packets to all, at once.
inline int all_broadcast(run::Context& context, std::uint32_t count, std::size_t bytes) {
  lci::Port& port = context.port();
  Numbered numbered;
  numbered.expected.resize(port.size());
  port.bind(kChan, {Numbered::take, &numbered}, {});
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!send_numbered(port, {.id = 0, .group = true}, i, bytes)) return 1;
  }
  const std::uint64_t all = std::uint64_t{count} * (port.size() - 1);
  (void)port.wait({.counter = &numbered.received, .at = all, .what = "everybody's multicasts"});
  return numbered.wrong == 0 && numbered.received.ok == all ? 0 : 2;
}

inline run::WorldOptions modelled(const char* on, const char* lci, std::uint32_t ranks) {
  run::WorldOptions options;
  options.on = on;
  options.lci = lci;
  options.ranks = ranks;
  return options;
}

}  // namespace fairlead::golden
