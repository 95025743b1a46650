// Runs a body on every rank's Panda, in each world that has a Port.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/base/test_pattern.h"
#include "fairlead/systems/panda/panda.h"
#include "tests/port/port_worlds.h"

namespace fairlead::panda_test {

using panda::Incoming;
using panda::Message;
using panda::Panda;
using panda::Service;
using panda::Token;

#define PANDA_TEST_CHECK(condition, panda, detail)                      \
  ::fairlead::port_test::check((condition), #condition, (panda).self(), \
                               static_cast<long long>(detail))

// Expects that `body` answers true on every rank. Panda is stopped behind it.
inline void run_panda(const std::string& world, unsigned ranks,
                      const std::function<bool(Panda&)>& body, const panda::Options& options = {}) {
  port_test::run_ranks(world, ranks, [&](run::Context& context) {
    Result<Panda*> started = Panda::start(context, options);
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.error().text.c_str());
      return false;
    }
    const bool good = body(*started.value());
    started.value()->stop();
    return good;
  });
}

// All that is left of a message.
inline std::vector<std::byte> bytes_of(Incoming& message) {
  std::vector<std::byte> bytes(message.size());
  message.pop(bytes.data(), bytes.size());
  return bytes;
}

}  // namespace fairlead::panda_test
