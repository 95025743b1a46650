// What the rsm device may be told, under the names that Sun MPI gave it: one table, from which come
// the checks, the docs and what MPI_PRINTENV prints. Every rank of a job has the same values.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::mpi::rsm {

struct Tunables {
  std::uint64_t boxes = 128;
  std::uint64_t short_bytes = 2000;
  std::uint64_t pipe_bytes = 16 << 10;
  std::uint64_t pool_bytes = 256 << 10;
  std::uint64_t connect_all = 0;

  struct Row {
    const char* name;  // of the environment variable
    std::uint64_t Tunables::*value;
    std::uint64_t least;
    std::uint64_t most;
    const char* help;
  };
  static const Row kRows[5];

  // As `value_of(name)` says, which is nullptr where nothing is said. An error names the variable
  // and what would do.
  using Source = const char* (*)(const char* name);
  static Result<Tunables> read(Source value_of);
  // All of them, a line each.
  std::string text() const;
  std::uint64_t area_bytes() const;

  friend bool operator==(const Tunables&, const Tunables&) = default;
};

}  // namespace fairlead::mpi::rsm
