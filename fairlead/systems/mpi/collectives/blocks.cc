// Collectives of blocks of different lengths. Only their two ranks know a block's length, so blocks
// go straight from one to the other.
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {
namespace {

// One step of an all-to-all: either block may be empty.
template <class Group>
void trade(Group& group, int to, const void* out, std::uint64_t out_size, int from, void* in,
           std::uint64_t in_size) {
  typename Group::Pending const receive =
      in_size == 0 ? nullptr : group.begin_receive(from, in, in_size);
  if (out_size != 0) group.send(to, out, out_size);
  if (receive != nullptr) group.end(receive, in_size);
}

// A pair swaps its two blocks through a copy of one; each round pairs every rank once.
template <class Group>
void swap_in_place(Group& group, const Blocks& to) {
  const int size = group.size();
  for (int i = 0; i < size; ++i) {
    const int other = (i - group.rank() + size) % size;
    const std::uint64_t bytes = to.bytes(other);
    if (other == group.rank() || bytes == 0) continue;
    typename Group::Memory held(group, bytes);
    group.copy(held.data(), to.at(other), bytes);
    group.exchange(other, held.data(), bytes, other, to.at(other), bytes);
  }
}

// All receives are there before the first wait, so that the members need not come in rank order.
template <class Group>
void gatherv_by_messages(Group& group, const void* own, std::uint64_t size, const Blocks& all,
                         int root) {
  if (group.rank() != root) {
    if (size != 0) group.send(root, own, size);
    return;
  }
  std::vector<std::pair<typename Group::Pending, std::uint64_t>> receives;
  for (int i = 0; i < group.size(); ++i) {
    if (i == root || all.bytes(i) == 0) continue;
    receives.emplace_back(group.begin_receive(i, all.at(i), all.bytes(i)), all.bytes(i));
  }
  if (own != nullptr) group.copy(all.at(root), own, size);
  for (const auto& [receive, bytes] : receives) group.end(receive, bytes);
}

template <class Group>
void scatterv_by_messages(Group& group, const Blocks& all, void* own, std::uint64_t size,
                          int root) {
  if (group.rank() != root) {
    if (size != 0) group.receive(root, own, size);
    return;
  }
  std::vector<typename Group::Pending> sends;
  for (int i = 0; i < group.size(); ++i) {
    if (i == root || all.bytes(i) == 0) continue;
    const auto send = group.begin_send(i, all.at(i), all.bytes(i));
    if (send != nullptr) sends.push_back(send);
  }
  if (own != nullptr) group.copy(own, all.at(root), size);
  for (const auto send : sends) group.end_send(send);
}

// Ring: every rank knows all lengths.
template <class Group>
void allgatherv_by_messages(Group& group, const Blocks& all) {
  const int size = group.size();
  const int to = (group.rank() + 1) % size;
  const int from = (group.rank() - 1 + size) % size;
  for (int i = 0; i < size - 1; ++i) {
    const int out = (group.rank() - i + size) % size;
    const int in = (group.rank() - i - 1 + size) % size;
    trade(group, to, all.at(out), all.bytes(out), from, all.at(in), all.bytes(in));
  }
}

// Step i: send to the rank i after this one, receive from the rank i before it.
template <class Group>
void alltoallv_by_messages(Group& group, const Blocks* from, const Blocks& to) {
  if (from == nullptr) return swap_in_place(group, to);
  const int size = group.size();
  const int rank = group.rank();
  group.copy(to.at(rank), from->at(rank), from->bytes(rank));
  for (int i = 1; i < size; ++i) {
    const int dest = (rank + i) % size;
    const int source = (rank - i + size) % size;
    trade(group, dest, from->at(dest), from->bytes(dest), source, to.at(source), to.bytes(source));
  }
}

}  // namespace

void gatherv(Process& process, Comm& comm, const char* call, const void* own, std::uint64_t size,
             const Blocks& all, int root) {
  GroupCall group(process, comm, CollectiveKind::gatherv, call);
  gatherv_by_messages(group, own, size, all, root);
}
void record_gatherv(Recorder& group, const void* own, std::uint64_t size, const Blocks& all,
                    int root) {
  gatherv_by_messages(group, own, size, all, root);
}

void scatterv(Process& process, Comm& comm, const char* call, const Blocks& all, void* own,
              std::uint64_t size, int root) {
  GroupCall group(process, comm, CollectiveKind::scatterv, call);
  scatterv_by_messages(group, all, own, size, root);
}
void record_scatterv(Recorder& group, const Blocks& all, void* own, std::uint64_t size, int root) {
  scatterv_by_messages(group, all, own, size, root);
}

void allgatherv(Process& process, Comm& comm, const char* call, const Blocks& all) {
  GroupCall group(process, comm, CollectiveKind::allgatherv, call);
  allgatherv_by_messages(group, all);
}
void record_allgatherv(Recorder& group, const Blocks& all) { allgatherv_by_messages(group, all); }

void alltoallv(Process& process, Comm& comm, CollectiveKind kind, const char* call,
               const Blocks* from, const Blocks& to) {
  GroupCall group(process, comm, kind, call);
  alltoallv_by_messages(group, from, to);
}
void record_alltoallv(Recorder& group, const Blocks* from, const Blocks& to) {
  alltoallv_by_messages(group, from, to);
}

}  // namespace fairlead::mpi
