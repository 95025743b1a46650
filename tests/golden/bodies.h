// Programs for the modelled world that the golden tests share: on the low-level interface alone.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/run/world.h"

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
// after each; answers 0 when all came and the word ends at what all added.
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

inline run::WorldOptions modelled(const char* on, const char* lci, std::uint32_t ranks) {
  run::WorldOptions options;
  options.on = on;
  options.lci = lci;
  options.ranks = ranks;
  return options;
}

}  // namespace fairlead::golden
