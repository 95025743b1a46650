#include <cstring>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {
namespace {

std::uint64_t offset_of(int rank, std::uint64_t block) {
  return static_cast<std::uint64_t>(rank) * block;
}

// Step i: send to the rank i after this one, receive from the rank i before it.
template <class Group>
void alltoall_pairwise(Group& group, const void* from, void* to, std::uint64_t block) {
  const int size = group.size();
  for (int i = 1; i < size; ++i) {
    const int dest = (group.rank() + i) % size;
    const int source = (group.rank() - i + size) % size;
    group.exchange(dest, at(from, offset_of(dest, block)), block, source,
                   at(to, offset_of(source, block)), block);
  }
}

// In place a pair swaps its two blocks through a copy of one; each round pairs every rank once.
template <class Group>
void alltoall_in_place(Group& group, void* to, std::uint64_t block) {
  const int size = group.size();
  typename Group::Memory copy(group, block);
  for (int i = 0; i < size; ++i) {
    const int other = (i - group.rank() + size) % size;
    if (other == group.rank()) continue;
    std::byte* const place = at(to, offset_of(other, block));
    if (block != 0) group.copy(copy.data(), place, block);
    group.exchange(other, copy.data(), block, other, place, block);
  }
}

// Bruck: slot j holds the block for the rank j after this one. In step k all slots whose number has
// bit k set go 2^k ranks on, as one message; slot j then holds the block from the rank j before.
template <class Group>
void alltoall_bruck(Group& group, const void* from, void* to, std::uint64_t block) {
  const int size = group.size();
  const int rank = group.rank();
  typename Group::Memory slots(group, offset_of(size, block));
  typename Group::Memory out(group, offset_of((size + 1) / 2, block));
  typename Group::Memory in(group, offset_of((size + 1) / 2, block));
  for (int j = 0; j < size; ++j) {
    group.copy(slots.data() + offset_of(j, block), at(from, offset_of((rank + j) % size, block)),
               block);
  }
  for (int step = 1; step < size; step *= 2) {
    std::uint64_t packed = 0;
    for (int j = step; j < size; ++j) {
      if ((j & step) == 0) continue;
      group.copy(out.data() + packed, slots.data() + offset_of(j, block), block);
      packed += block;
    }
    group.exchange((rank + step) % size, out.data(), packed, (rank - step + size) % size, in.data(),
                   packed);
    std::uint64_t taken = 0;
    for (int j = step; j < size; ++j) {
      if ((j & step) == 0) continue;
      group.copy(slots.data() + offset_of(j, block), in.data() + taken, block);
      taken += block;
    }
  }
  for (int j = 0; j < size; ++j) {
    group.copy(at(to, offset_of((rank - j + size) % size, block)),
               slots.data() + offset_of(j, block), block);
  }
}

template <class Group>
void alltoall_by_messages(Group& group, const void* from, void* to, std::uint64_t block) {
  if (from == nullptr) {
    alltoall_in_place(group, to, block);
    return;
  }
  const std::uint64_t own = offset_of(group.rank(), block);
  if (choose_alltoall(block, group.size()) == Algorithm::bruck) {
    alltoall_bruck(group, from, to, block);
    return;
  }
  if (block != 0) group.copy(at(to, own), at(from, own), block);
  alltoall_pairwise(group, from, to, block);
}

// Each member enters all its blocks, and takes those for it.
void alltoall_on_board(Process& process, Comm& comm, const char* call, const void* from, void* to,
                       std::uint64_t block) {
  const void* const own = from != nullptr ? from : to;
  const BoardSlot* const slots = meet_on_board(process, comm, CollectiveKind::alltoall, call, own,
                                               offset_of(comm.size, block));
  for (int r = 0; block != 0 && r < comm.size; ++r) {
    std::memcpy(at(to, offset_of(r, block)), slots[r].data + offset_of(comm.rank, block), block);
  }
}

}  // namespace

void alltoall(Process& process, Comm& comm, const char* call, const void* from, void* to,
              std::uint64_t block) {
  if (block <= kBoardBytes && fits_board(comm, offset_of(comm.size, block))) {
    return alltoall_on_board(process, comm, call, from, to, block);
  }
  GroupCall group(process, comm, CollectiveKind::alltoall, call);
  alltoall_by_messages(group, from, to, block);
}

void record_alltoall(Recorder& group, const void* from, void* to, std::uint64_t block) {
  alltoall_by_messages(group, from, to, block);
}

}  // namespace fairlead::mpi
