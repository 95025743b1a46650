// The collective operations on bytes, over the point-to-point engine. Arguments are checked by the
// caller. Every algorithm gives the same bits for the same number of ranks, whatever the timing.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/comm.h"
#include "fairlead/systems/mpi/operation.h"
#include "fairlead/systems/mpi/process.h"

namespace fairlead::mpi {

// Which call a collective message belongs to; travels in its tag, so that ranks that entered
// different calls are told, not given each other's bytes.
enum class CollectiveKind : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  comm_dup,
  comm_split,
  comm_free,
  finalize,
  count  // not a kind
};

// What a reduction combines: `count` elements of `element` bytes.
struct Operand {
  Combine combine;
  std::uint64_t count;
  std::uint64_t element;
  std::uint64_t bytes() const { return count * element; }
};

// Consecutive elements of a vector.
struct Part {
  std::uint64_t first;
  std::uint64_t count;
};
// The i-th of `parts` of about the same length.
inline Part part_of(const Operand& operand, int i, int parts) {
  const std::uint64_t each =
      (operand.count + static_cast<std::uint64_t>(parts) - 1) / static_cast<std::uint64_t>(parts);
  const auto begin_of = [&](int part) {
    return std::min(operand.count, static_cast<std::uint64_t>(part) * each);
  };
  return {begin_of(i), begin_of(i + 1) - begin_of(i)};
}

void barrier(Process& process, Comm& comm, CollectiveKind kind, const char* call);
void bcast(Process& process, Comm& comm, const char* call, void* buffer, std::uint64_t size,
           int root);
// `own` may be `result`; `result` is used at the root only.
void reduce(Process& process, Comm& comm, const char* call, const void* own, void* result,
            const Operand& operand, int root);
void allreduce(Process& process, Comm& comm, const char* call, const void* own, void* result,
               const Operand& operand);
// `block` bytes a rank. `own` nullptr at the root: its block is in place already.
void gather(Process& process, Comm& comm, const char* call, const void* own, void* all,
            std::uint64_t block, int root);
void scatter(Process& process, Comm& comm, const char* call, const void* all, void* own,
             std::uint64_t block, int root);
// This rank's block is in place already.
void allgather(Process& process, Comm& comm, CollectiveKind kind, const char* call, void* all,
               std::uint64_t block);
// `from` nullptr: in place.
void alltoall(Process& process, Comm& comm, const char* call, const void* from, void* to,
              std::uint64_t block);

}  // namespace fairlead::mpi
