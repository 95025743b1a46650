#include <algorithm>
#include <cstring>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/node_blocks.h"
#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {
namespace {

// `place(member)`: where that member's block is. The own one is sent from `own`: where that is not
// its place among all, which has just been written, the other processor reads it from its own cache
// if the program sends the same again.
template <class Group, class Place>
void allgather_ring(Group& group, const void* own, std::uint64_t block, Place&& place) {
  const int size = group.size();
  const int to = (group.rank() + 1) % size;
  const int from = (group.rank() - 1 + size) % size;
  for (int i = 0; i < size - 1; ++i) {
    const int out = (group.rank() - i + size) % size;
    const int in = (group.rank() - i - 1 + size) % size;
    group.exchange(to, i == 0 ? own : place(out), block, from, place(in), block);
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

// The first member of each node takes its node's blocks. Those among themselves go on as Bruck
// has it: after step k each holds the blocks of the 2^k nodes from its own on. All then go to the
// members of the node.
template <class Group>
void allgather_in_levels(Group& group, const CommNodes& nodes, void* all, std::uint64_t block) {
  const NodeBlocks blocks(nodes, nodes.own(), block);
  const int count = nodes.count();
  typename Group::Memory held(group, blocks.begin_of(count));
  Subgroup<Group> here = in_node(group, nodes);
  const std::byte* const own = at(all, static_cast<std::uint64_t>(group.rank()) * block);
  gather_flat(here, own, held.data(), block, 0);
  if (nodes.leads()) {
    Subgroup<Group> leaders = among_leaders(group, nodes);
    for (int have = 1; have < count; have *= 2) {
      const int more = std::min(have, count - have);
      leaders.exchange((nodes.own() - have + count) % count, held.data(), blocks.begin_of(more),
                       (nodes.own() + have) % count, held.data() + blocks.begin_of(have),
                       blocks.begin_of(have + more) - blocks.begin_of(have));
    }
  }
  bcast_binomial(here, held.data(), blocks.begin_of(count), 0);
  blocks.unpack(group, 0, count, held.data(), all);
}

template <class Group>
void allgather_by_messages(Group& group, const void* own, void* all, std::uint64_t block) {
  if (group.size() == 1) return;
  if (own == nullptr) own = at(all, static_cast<std::uint64_t>(group.rank()) * block);
  const CommNodes* const nodes = group.nodes();
  const auto place_of = [&](int rank) { return at(all, static_cast<std::uint64_t>(rank) * block); };
  switch (choose_allgather(block, group.size(), spread_of(nodes))) {
    case Algorithm::levels:
      return allgather_in_levels(group, *nodes, all, block);
    case Algorithm::bruck:
      return allgather_bruck(group, all, block);
    case Algorithm::node_ring: {
      Subgroup<Group> members = by_node(group, *nodes);
      return allgather_ring(members, own, block, [&](int i) {
        return place_of(static_cast<int>(nodes->by_node()[static_cast<std::size_t>(i)]));
      });
    }
    default:
      return allgather_ring(group, own, block, place_of);
  }
}

}  // namespace

void allgather(Process& process, Comm& comm, CollectiveKind kind, const char* call, const void* own,
               void* all, std::uint64_t block) {
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
  allgather_by_messages(group, own, all, block);
}

void record_allgather(Recorder& group, void* all, std::uint64_t block) {
  allgather_by_messages(group, nullptr, all, block);
}

}  // namespace fairlead::mpi
