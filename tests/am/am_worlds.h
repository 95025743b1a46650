// What tests of Active Messages share: one endpoint a rank, and a place for what its handlers see.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fairlead/systems/am/am.h"
#include "tests/port/port_worlds.h"

namespace fairlead::am_test {

// A world of port_worlds.h, or one with "amvia " before it: Active Messages over VIA there.
inline std::string chosen(const std::string& world) {
  const bool via = world.starts_with("amvia ");
  ::setenv("FAIRLEAD_AM", via ? "amvia" : "direct", 1);
  return via ? world.substr(6) : world;
}
inline std::vector<std::string> with_amvia(std::vector<std::string> worlds) {
  for (const char* world : {"loop", "shm", "udp", "lossy", "nirx", "myrinet-p3/sdma",
                            "myrinet-p3/pio@2", "myrinet-p3/hrx", "generic-hca"}) {
    worlds.push_back("amvia " + std::string(world));
  }
  return worlds;
}
inline run::RunReport run_ranks(const std::string& world, unsigned ranks,
                                const std::function<bool(run::Context&)>& body) {
  return port_test::run_ranks(chosen(world), ranks, body);
}

constexpr tag_t kTag = 0x5ca1ab1e;
constexpr std::size_t kSegment = 300'000;

// A handler has no argument of its own, and fibers share a process: what a rank's handlers see is
// found by its number.
struct Seen {
  std::uint32_t requests = 0;
  std::uint32_t replies = 0;
  std::uint32_t good_stops = 0;
  std::int64_t sum = 0;
  std::uint32_t bad = 0;
  int status = 0;  // of what came back
  std::uint32_t came_back = 0;
  am_returned_t back{};
  std::vector<std::byte> back_data;
};
inline Seen& seen() {
  static std::vector<Seen> all(64);
  return all[AM_Rank()];
}

// An endpoint that is mapped to every rank's, by rank.
struct Place {
  eb_t bundle = nullptr;
  ep_t endpoint = nullptr;
  std::vector<std::byte> segment = std::vector<std::byte>(kSegment);

  Place() {
    en_t name{};
    seen() = {};
    if (AM_AllocateBundle(AM_SEQ, &bundle) != AM_OK ||
        AM_AllocateEndpoint(bundle, &endpoint, &name) != AM_OK) {
      return;
    }
    (void)AM_SetTag(endpoint, kTag);
    (void)AM_SetSeg(endpoint, segment.data(), segment.size());
    for (unsigned rank = 0; rank < AM_Ranks(); ++rank) {
      (void)AM_Map(endpoint, static_cast<int>(rank), AM_NameOf(rank, name.endpoint), kTag);
    }
  }
  template <class Function>
  void handler(handler_t index, Function* function) const {
    (void)AM_SetHandler(endpoint, index, reinterpret_cast<am_handler_t>(function));
  }
  // Polls until it holds.
  template <class Condition>
  void until(Condition&& holds) const {
    while (!holds()) (void)AM_Poll(bundle);
  }
};

}  // namespace fairlead::am_test
