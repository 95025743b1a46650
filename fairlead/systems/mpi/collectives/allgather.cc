#include <algorithm>
#include <cstring>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {
namespace {

template <class Group>
void allgather_ring(Group& group, void* all, std::uint64_t block) {
  const int size = group.size();
  const int to = (group.rank() + 1) % size;
  const int from = (group.rank() - 1 + size) % size;
  const auto place = [&](int rank) { return at(all, static_cast<std::uint64_t>(rank) * block); };
  for (int i = 0; i < size - 1; ++i) {
    const int out = (group.rank() - i + size) % size;
    const int in = (group.rank() - i - 1 + size) % size;
    group.exchange(to, place(out), block, from, place(in), block);
  }
}

// Bruck: after step k this rank holds the blocks of the 2^k ranks from itself on; at the end they
// are turned into rank order.
template <class Group>
void allgather_bruck(Group& group, void* all, std::uint64_t block) {
  const int size = group.size();
  const int rank = group.rank();
  const auto bytes = [&](int blocks) { return static_cast<std::uint64_t>(blocks) * block; };
  typename Group::Memory held(group, bytes(size));
  group.copy(held.data(), at(all, bytes(rank)), block);
  for (int have = 1; have < size; have *= 2) {
    const int more = std::min(have, size - have);
    group.exchange((rank - have + size) % size, held.data(), bytes(more), (rank + have) % size,
                   held.data() + bytes(have), bytes(more));
  }
  group.copy(at(all, bytes(rank)), held.data(), bytes(size - rank));
  if (rank != 0) group.copy(all, held.data() + bytes(size - rank), bytes(rank));
}

template <class Group>
void allgather_by_messages(Group& group, void* all, std::uint64_t block) {
  if (group.size() == 1) return;
  if (choose_allgather(block, group.size()) == Algorithm::bruck) {
    allgather_bruck(group, all, block);
  } else {
    allgather_ring(group, all, block);
  }
}

}  // namespace

void allgather(Process& process, Comm& comm, CollectiveKind kind, const char* call, void* all,
               std::uint64_t block) {
  if (kind == CollectiveKind::allgather && fits_board(comm, block)) {
    const auto place = [&](int rank) { return at(all, static_cast<std::uint64_t>(rank) * block); };
    const BoardSlot* const slots =
        meet_on_board(process, comm, kind, call, place(comm.rank), block);
    for (int r = 0; block != 0 && r < comm.size; ++r) {
      if (r != comm.rank) std::memcpy(place(r), slots[r].data, block);
    }
    return;
  }
  GroupCall group(process, comm, kind, call);
  allgather_by_messages(group, all, block);
}

void record_allgather(Recorder& group, void* all, std::uint64_t block) {
  allgather_by_messages(group, all, block);
}

}  // namespace fairlead::mpi
