// What the rsm device may be told, under the names that Sun MPI gave it: one table, from which come
// the checks, the docs and what MPI_PRINTENV prints. Every rank of a job has the same values.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/systems/mpi/devices/rsm/postbox.h"

namespace fairlead::mpi::rsm {

// How connections between two ranks are made and used: MPI_SHM_* says it of ranks on one node,
// MPI_RSM_* of others.
struct Protocol {
  std::uint64_t boxes = 128;
  std::uint64_t short_bytes = 2000;
  std::uint64_t pipe_bytes = 16 << 10;
  std::uint64_t pool_bytes = 256 << 10;  // of a connection
  std::uint64_t shared_pool_bytes = 0;   // of an area (area.h); 0: each connection has a pool

  bool shares() const { return shared_pool_bytes != 0; }
  // Bytes of the pool that a connection takes its blocks from.
  std::uint64_t pool() const { return shares() ? shared_pool_bytes : pool_bytes; }

  friend bool operator==(const Protocol&, const Protocol&) = default;
};

struct Tunables {
  Protocol rsm;
  Protocol shm;
  std::uint64_t max_stripe = kStripes;
  std::uint64_t connect_all = 0;
  std::uint64_t poll_all = 1;
  std::uint64_t flow_control = 0;

  struct Row {
    const char* name;  // of the environment variable
    std::uint64_t least;
    std::uint64_t most;
    const char* help;
    std::uint64_t Tunables::*whole = nullptr;  // either this
    Protocol Tunables::*of = nullptr;          // or a part of a protocol
    std::uint64_t Protocol::*part = nullptr;
    bool may_be_none = false;  // 0 stands for what nobody has set

    std::uint64_t& value(Tunables& in) const { return whole != nullptr ? in.*whole : in.*of.*part; }
    std::uint64_t value(const Tunables& in) const {
      return whole != nullptr ? in.*whole : in.*of.*part;
    }
  };
  static std::span<const Row> rows();

  // As `value_of(name)` says, which is nullptr where nothing is said: then MPI_SHM_X is MPI_RSM_X.
  // An error names the variable and what would do.
  using Source = const char* (*)(const char* name);
  static Result<Tunables> read(Source value_of);
  // Whether a shared pool has a block for each of so many ranks of a node. An error as read()'s.
  Result<void> check(std::uint64_t ranks_on_node) const;
  // All of them, a line each.
  std::string text() const;

  friend bool operator==(const Tunables&, const Tunables&) = default;
};

}  // namespace fairlead::mpi::rsm
