// One kind's nodes of this rank in Split-C: their values, the copies of the other kind's nodes that
// their edges need, and what other ranks need of them lie in the heap.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "apps/em3d/part.h"
#include "fairlead/systems/splitc/splitc.h"

namespace em3d {

namespace splitc = fairlead::splitc;

class Side {
 public:
  // Made by all ranks, E before H.
  Side(const Shape& shape, Kind kind);
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  // By all ranks, once both sides are made: who needs which of this side's nodes, as the other
  // side's edges say.
  void learn(const Side& needy);
  // By all ranks: brings the values of the nodes that this side's edges need, whose side is `from`.
  void fetch(const Side& from, Variant variant);
  // New values of this rank's nodes.
  void compute(const Side& from) {
    part_.compute(values(), from.values().data(), splitc::tolocal(mine(copies_)));
  }

  std::span<double> values() const { return {splitc::tolocal(mine(values_)), shape_.nodes}; }
  splitc::global_ptr<double> values_of(std::uint32_t rank) const { return values_.on(rank); }

 private:
  // The nodes of this side that one other rank needs, and where its copies begin.
  struct Needed {
    std::uint32_t rank;
    std::uint32_t place;
    std::uint64_t packed_at;
    std::uint64_t count;
  };
  template <class T>
  static splitc::global_ptr<T> mine(splitc::global_ptr<T> place) {
    return place.on(splitc::my_proc());
  }
  void fetch_each(const Side& from) const;
  void fetch_blocks(const Side& from) const;
  void push(const Side& needy) const;
  std::size_t copies_most() const;

  Shape shape_;
  Part part_;
  splitc::global_ptr<double> values_;
  splitc::global_ptr<double> copies_;
  // What the part says of its copies, for all to read.
  splitc::global_ptr<std::uint32_t> starts_;
  splitc::global_ptr<std::uint32_t> wanted_;
  std::vector<Needed> needed_;
  std::vector<std::uint32_t> needed_nodes_;      // of all of them, one after the other
  splitc::global_ptr<double> packed_;            // what others need, by who needs it
  splitc::global_ptr<std::uint64_t> packed_at_;  // where each rank's part begins, by rank
  std::vector<std::uint64_t> theirs_at_;         // of every owner: where this rank's part begins
};

}  // namespace em3d
