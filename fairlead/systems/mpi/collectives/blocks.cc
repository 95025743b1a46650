// Collectives of blocks of different lengths. Only their two ranks know a block's length, so blocks
// go straight from one to the other.
#include <cstring>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {
namespace {

void move_block(void* to, const void* from, std::uint64_t size) {
  if (size != 0 && to != from) std::memmove(to, from, size);
}

// One step of an all-to-all: either block may be empty.
void trade(GroupCall& group, int to, const void* out, std::uint64_t out_size, int from, void* in,
           std::uint64_t in_size) {
  Request* const receive = in_size == 0 ? nullptr : group.begin_receive(from, in, in_size);
  if (out_size != 0) group.send(to, out, out_size);
  if (receive != nullptr) group.end(receive, in_size);
}

// A pair swaps its two blocks through a copy of one; each round pairs every rank once.
void swap_in_place(GroupCall& group, const Blocks& to) {
  const int size = group.size();
  for (int i = 0; i < size; ++i) {
    const int other = (i - group.rank() + size) % size;
    const std::uint64_t bytes = to.bytes(other);
    if (other == group.rank() || bytes == 0) continue;
    Scratch held(group.process(), bytes);
    std::memcpy(held.data(), to.at(other), bytes);
    group.exchange(other, held.data(), bytes, other, to.at(other), bytes);
  }
}

}  // namespace

// All receives are there before the first wait, so that the members need not come in rank order.
void gatherv(Process& process, Comm& comm, const char* call, const void* own, std::uint64_t size,
             const Blocks& all, int root) {
  GroupCall group(process, comm, CollectiveKind::gatherv, call);
  if (group.rank() != root) {
    if (size != 0) group.send(root, own, size);
    return;
  }
  std::vector<std::pair<Request*, std::uint64_t>> receives;
  for (int i = 0; i < group.size(); ++i) {
    if (i == root || all.bytes(i) == 0) continue;
    receives.emplace_back(group.begin_receive(i, all.at(i), all.bytes(i)), all.bytes(i));
  }
  if (own != nullptr) move_block(all.at(root), own, size);
  for (const auto& [receive, bytes] : receives) group.end(receive, bytes);
}

void scatterv(Process& process, Comm& comm, const char* call, const Blocks& all, void* own,
              std::uint64_t size, int root) {
  GroupCall group(process, comm, CollectiveKind::scatterv, call);
  if (group.rank() != root) {
    if (size != 0) group.receive(root, own, size);
    return;
  }
  std::vector<Request*> sends;
  for (int i = 0; i < group.size(); ++i) {
    if (i == root || all.bytes(i) == 0) continue;
    Request* const send = group.begin_send(i, all.at(i), all.bytes(i));
    if (send != nullptr) sends.push_back(send);
  }
  if (own != nullptr) move_block(own, all.at(root), size);
  for (Request* const send : sends) group.end_send(send);
}

// Ring: every rank knows all lengths.
void allgatherv(Process& process, Comm& comm, const char* call, const Blocks& all) {
  GroupCall group(process, comm, CollectiveKind::allgatherv, call);
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
void alltoallv(Process& process, Comm& comm, CollectiveKind kind, const char* call,
               const Blocks* from, const Blocks& to) {
  GroupCall group(process, comm, kind, call);
  if (from == nullptr) return swap_in_place(group, to);
  const int size = group.size();
  const int rank = group.rank();
  move_block(to.at(rank), from->at(rank), from->bytes(rank));
  for (int i = 1; i < size; ++i) {
    const int dest = (rank + i) % size;
    const int source = (rank - i + size) % size;
    trade(group, dest, from->at(dest), from->bytes(dest), source, to.at(source), to.bytes(source));
  }
}

}  // namespace fairlead::mpi
