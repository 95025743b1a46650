// Whether the buffers that a collective call sends from and receives in are apart, as the standard
// demands of a call that is not in place.
//
// Only data that begin at one address are found, which is the mistake that programs make: the check
// is one comparison on the path of every collective. Elements of types that differ may begin at one
// address and yet be apart, and a null pointer may be MPI_BOTTOM.
#pragma once
#include <cstdint>

#include "fairlead/systems/mpi/collective_arguments.h"

namespace fairlead::mpi {

// Raises MPI_ERR_BUFFER.
[[gnu::cold, gnu::noinline]] int fail_apart(const Call& call, const Comm* comm);

// MPI_SUCCESS, or an error raised: `count` elements of one type are sent and received.
inline int check_apart(const Call& call, const Comm* comm, const void* sent, const void* received,
                       std::uint64_t count) {
  if (sent != received || sent == nullptr || count == 0) [[likely]]
    return MPI_SUCCESS;
  return fail_apart(call, comm);
}

// As above, for buffers that were checked already. One that is absent (MPI_IN_PLACE) is empty.
inline int check_apart(const Call& call, const Comm* comm, const Buffer& sent,
                       const Buffer& received) {
  if (sent.at != received.at || sent.type != received.type) [[likely]]
    return MPI_SUCCESS;
  return check_apart(call, comm, sent.at, received.at,
                     received.bytes == 0 ? received.bytes : sent.bytes);
}

// The block of `member` in a buffer of one block a member, whose first is `first`.
inline Buffer block_of(const Buffer& first, int member) {
  Buffer block = first;
  const std::uint64_t step = first.type == nullptr
                                 ? first.bytes
                                 : first.count * static_cast<std::uint64_t>(first.type->extent());
  block.at = reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(first.at) +
                                           static_cast<std::uint64_t>(member) * step);
  return block;
}

}  // namespace fairlead::mpi
