// One block a member of a communicator whose members share nodes, packed node by node.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/nodes.h"

namespace fairlead::mpi {

// The blocks of the nodes from node `first` on, those of a node by rank. The i-th node here is
// `first` + i, counted around.
class NodeBlocks {
 public:
  NodeBlocks(const CommNodes& nodes, int first, std::uint64_t block)
      : nodes_(nodes), first_(first), block_(block), begins_{0} {
    for (int i = 0; i < nodes.count(); ++i) {
      begins_.push_back(begins_.back() + members_of(i).size() * block);
    }
  }
  std::span<const Rank> members_of(int i) const {
    return nodes_.members_of((first_ + i) % nodes_.count());
  }
  // Where the bytes of the i-th node begin; with i the number of nodes it is the end of all.
  std::uint64_t begin_of(int i) const { return begins_[static_cast<std::size_t>(i)]; }

  // Between `packed`, where the `count` nodes from the i-th on lie, and `all`, where each member's
  // block has its place; blocks that follow each other in both go by one copy.
  template <class Group>
  void unpack(Group& group, int i, int count, const std::byte* packed, void* all) const {
    each_run(i, count, [&](std::uint64_t place, std::uint64_t bytes) {
      group.copy(at(all, place), packed, bytes);
      packed += bytes;
    });
  }
  template <class Group>
  void pack(Group& group, int i, int count, const void* all, std::byte* packed) const {
    each_run(i, count, [&](std::uint64_t place, std::uint64_t bytes) {
      group.copy(packed, at(all, place), bytes);
      packed += bytes;
    });
  }

 private:
  template <class Run>
  void each_run(int i, int count, Run&& run) const {
    for (const int end = i + count; i < end; ++i) {
      const std::span<const Rank> members = members_of(i);
      for (std::size_t k = 0; k < members.size();) {
        std::size_t blocks = 1;
        while (k + blocks < members.size() && members[k + blocks] == members[k] + blocks) ++blocks;
        run(members[k] * block_, blocks * block_);
        k += blocks;
      }
    }
  }

  const CommNodes& nodes_;
  const int first_;
  const std::uint64_t block_;
  std::vector<std::uint64_t> begins_;
};

}  // namespace fairlead::mpi
