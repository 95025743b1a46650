// The collective operations on bytes, over the engine. Arguments are checked by the caller. Every
// algorithm gives the same bits for the same ranks on the same nodes, whatever the timing.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/arguments.h"
#include "fairlead/systems/mpi/comm.h"
#include "fairlead/systems/mpi/datatype.h"
#include "fairlead/systems/mpi/operation.h"
#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/user_operation.h"

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
  gatherv,
  scatterv,
  allgatherv,
  alltoallv,
  alltoallw,
  scan,
  exscan,
  reduce_scatter,
  reduce_scatter_block,
  comm_create,
  comm_split_type,
  cart_create,
  cart_sub,
  win_create,
  win_free,
  win_fence,
  intercomm_create,
  intercomm_merge,
  graph_create,
  dist_graph_create,
  count  // not a kind
};

// What a reduction combines: `count` elements of `element` bytes.
struct Operand {
  Combine kernel;  // nullptr: `user` does it
  std::uint64_t count;
  std::uint64_t element;
  const UserOperation* user = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;  // for `user`
  // For `user`, where `element` is not the type's extent: elements begin so far from their type's
  // address, and go to the function one by one.
  std::int64_t shift = 0;
  bool one_by_one = false;

  std::uint64_t bytes() const { return count * element; }
  bool commutes() const { return user == nullptr || user->commutes; }
  // out[i] = lower[i] op higher[i] for `n` elements; `out` may be one of the others.
  void combine(const void* lower, const void* higher, void* out, std::uint64_t n) const {
    if (kernel != nullptr) [[likely]]
      kernel(lower, higher, out, n);
    else
      user->combine({type, element, shift, one_by_one}, lower, higher, out, n);
  }
};

// One block a member: where it lies and how long it is. The program's arrays, of 32 or 64 bits.
class Blocks {
 public:
  // All blocks have one type; displacements are in elements.
  Blocks(const void* base, Counts counts, Counts displacements, MPI_Datatype type)
      : Blocks(base, counts, displacements, nullptr, size_of_type(type)) {}
  // Each member's block has a type of its own; displacements are in bytes.
  Blocks(const void* base, Counts counts, Counts displacements, const MPI_Datatype* types)
      : Blocks(base, counts, displacements, types, 1) {}

  std::uint64_t bytes(int member) const {
    return static_cast<std::uint64_t>(counts_[member]) *
           (types_ == nullptr ? unit_ : size_of_type(types_[member]));
  }
  // The block may be read only; then nobody writes there.
  std::byte* at(int member) const {
    return const_cast<std::byte*>(base_) + displacements_[member] * static_cast<MPI_Aint>(unit_);
  }

 private:
  Blocks(const void* base, Counts counts, Counts displacements, const MPI_Datatype* types,
         std::uint64_t unit)
      : base_(static_cast<const std::byte*>(base)),
        counts_(counts),
        displacements_(displacements),
        types_(types),
        unit_(unit) {}

  const std::byte* base_;
  Counts counts_;
  Counts displacements_;
  const MPI_Datatype* types_;
  std::uint64_t unit_;
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
// This rank's block is in its place, and at `own`, too, unless that is nullptr.
void allgather(Process& process, Comm& comm, CollectiveKind kind, const char* call, const void* own,
               void* all, std::uint64_t block);
// `from` nullptr: in place.
void alltoall(Process& process, Comm& comm, const char* call, const void* from, void* to,
              std::uint64_t block);

// With blocks of different lengths; an empty one takes no message. A root's own block, and `from`,
// nullptr: in place.
void gatherv(Process& process, Comm& comm, const char* call, const void* own, std::uint64_t size,
             const Blocks& all, int root);
void scatterv(Process& process, Comm& comm, const char* call, const Blocks& all, void* own,
              std::uint64_t size, int root);
// This rank's block is in place already.
void allgatherv(Process& process, Comm& comm, const char* call, const Blocks& all);
void alltoallv(Process& process, Comm& comm, CollectiveKind kind, const char* call,
               const Blocks* from, const Blocks& to);

// The result of a rank is the operands of the ranks up to it combined, its own with or
// (`exclusive`) without. `own` may be `result`; exclusive, rank 0 has none.
void scan(Process& process, Comm& comm, const char* call, const void* own, void* result,
          const Operand& operand, bool exclusive);
// The whole vector combined; part i of it, counts[i] elements, goes to rank i. `own` may begin
// where `result` does.
void reduce_scatter(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                    const void* own, void* result, const Operand& operand, const Counts& counts);

}  // namespace fairlead::mpi
