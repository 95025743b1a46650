// Runs a Split-C program in each world that has a Port.
#pragma once
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/systems/splitc/implementation.h"
#include "fairlead/systems/splitc/splitc.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {

// A world of port_worlds.h, or one with "amvia " before it: Split-C over Active Messages on virtual
// interfaces there.
inline std::string chosen(const std::string& world) {
  const std::size_t space = world.find(' ');
  ::setenv(splitc::kImplementationVariable,
           space == std::string::npos ? "direct" : world.substr(0, space).c_str(), 1);
  return space == std::string::npos ? world : world.substr(space + 1);
}
// Those, and those worlds again by every other implementation in which Active Messages over virtual
// interfaces are tested; amvia-shm where nodes have several ranks, and where each has one.
inline std::vector<std::string> with_implementations(std::vector<std::string> worlds) {
  for (std::size_t i = 1; i < splitc::kImplementationNames.size(); ++i) {
    const std::string name = splitc::kImplementationNames[i];
    std::vector<const char*> its = {"loop",
                                    "shm",
                                    "udp",
                                    "lossy",
                                    "nirx",
                                    "myrinet-p3/sdma",
                                    "myrinet-p3/pio@2",
                                    "myrinet-p3/hrx",
                                    "generic-hca"};
    if (name == "am") its = {"shm", "udp", "myrinet-p3/pio@2"};
    if (name == "amvia-shm") {
      its = {"loop",          "shm",        "udp", "nirx", "myrinet-p3/pio@2", "millennium/via@2",
             "generic-hca@2", "generic-hca"};
    }
    for (const char* world : its) worlds.push_back(name + " " + world);
  }
  return worlds;
}

// Those, and what implementations do beyond the paper.
inline std::vector<std::string> with_extras(std::vector<std::string> worlds) {
  for (const char* world :
       {"direct+aggregate shm", "direct+aggregate udp", "direct+aggregate lossy",
        "direct+aggregate myrinet-p3/sdma", "via+rdma shm", "via+rdma lossy",
        "via+rdma millennium/via", "via+gather udp", "via-unreliable+gather myrinet-p3/pio@2",
        "via-unreliable+selective lossy", "via-unreliable+selective myrinet-p3/sdma"}) {
    worlds.emplace_back(world);
  }
  return worlds;
}

// Runs a program of Split-C that returns whether all was well.
inline void run_splitc(const std::string& world, unsigned ranks,
                       const std::function<bool(lci::Port&)>& program) {
  run_ranks(chosen(world), ranks, [&program](run::Context& rank) {
    return splitc::start(&rank, [&] { return program(rank.port()) ? 0 : 1; }) == 0;
  });
}

}  // namespace fairlead::port_test
