// Some members of a group, numbered anew in the order of a list. Algorithms are given it as they
// are given the group (GroupCall or Recorder): what they send there are messages of the same call.
#pragma once
#include <cstdint>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

template <class Group>
class Subgroup {
 public:
  using Pending = typename Group::Pending;
  class Memory : public Group::Memory {
   public:
    Memory(Subgroup& of, std::uint64_t size) : Group::Memory(of.group_, size) {}
  };

  // `list` outlives it; this member is its `rank`-th.
  Subgroup(Group& group, std::span<const Rank> list, int rank)
      : group_(group), list_(list), rank_(rank) {}
  // `member` of the group is there instead of the `place`-th of the list.
  void stand_in(int place, int member) {
    stand_in_place_ = place;
    stand_in_ = member;
  }

  Process& process() { return group_.process(); }
  int rank() const { return rank_; }
  int size() const { return static_cast<int>(list_.size()); }

  void send(int to, const void* from, std::uint64_t size) { group_.send(member(to), from, size); }
  void receive(int from, void* to, std::uint64_t size) { group_.receive(member(from), to, size); }
  void exchange(int to, const void* out, std::uint64_t out_size, int from, void* in,
                std::uint64_t in_size) {
    group_.exchange(member(to), out, out_size, member(from), in, in_size);
  }
  Pending begin_receive(int from, void* to, std::uint64_t size) {
    return group_.begin_receive(member(from), to, size);
  }
  void end(Pending receive, std::uint64_t size) { group_.end(receive, size); }
  Pending begin_send(int to, const void* from, std::uint64_t size) {
    return group_.begin_send(member(to), from, size);
  }
  void end_send(Pending send) { group_.end_send(send); }
  void copy(void* to, const void* from, std::uint64_t size) { group_.copy(to, from, size); }
  void combine(const Operand& operand, const void* lower, const void* higher, void* out,
               std::uint64_t count) {
    group_.combine(operand, lower, higher, out, count);
  }

 private:
  int member(int place) const {
    return place == stand_in_place_ ? stand_in_
                                    : static_cast<int>(list_[static_cast<std::size_t>(place)]);
  }

  Group& group_;
  const std::span<const Rank> list_;
  const int rank_;
  int stand_in_place_ = -1;
  int stand_in_ = -1;
};

}  // namespace fairlead::mpi
