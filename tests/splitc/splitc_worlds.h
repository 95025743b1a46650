// Runs a Split-C program in each world that has a Port.
#pragma once
#include <functional>
#include <string>

#include "fairlead/systems/splitc/splitc.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {

// Runs a program of Split-C that answers whether all was well.
inline void run_splitc(const std::string& world, unsigned ranks,
                       const std::function<bool(lci::Port&)>& program) {
  run_ranks(world, ranks, [&program](run::Context& rank) {
    return splitc::start(&rank, [&] { return program(rank.port()) ? 0 : 1; }) == 0;
  });
}

}  // namespace fairlead::port_test
