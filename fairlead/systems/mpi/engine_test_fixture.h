// An engine on a port of no network: what the tests of the engine share.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/fake_port.h"

namespace fairlead::mpi {

constexpr std::uint32_t kContext = 6;

inline std::uint32_t word(Kind kind) { return first_word(kind, kContext); }

inline std::string text(std::size_t size, char seed = 'a') {
  std::string made(size, ' ');
  for (std::size_t i = 0; i < size; ++i)
    made[i] = static_cast<char>(static_cast<std::size_t>(seed) + i % 23);
  return made;
}

inline std::string bytes_of(const auto& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct EngineTest : testing::Test {
  FakePort port{0, 4};
  Engine engine{port, {}};

  // A receive of up to `capacity` bytes, and where they go.
  Request* receive(std::string& buffer, std::size_t capacity, Rank source = 1, int tag = 5) {
    buffer.assign(capacity, '.');
    return engine.irecv(buffer.data(), capacity, kContext, source, tag);
  }
};

}  // namespace fairlead::mpi
