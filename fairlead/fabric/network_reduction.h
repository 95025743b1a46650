// What some networks can do for reductions: operands of consecutive nodes are combined on their
// way, by switches or by network interfaces, and the result comes back to all, whatever the hosts
// do meanwhile.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/base/reduction.h"

namespace fairlead::fabric {

// Endpoints first, first + NetworkReductions::apart(), and so on, `count` of them, the caller among
// them; each begins the reductions of the same endpoints in the same order, with the same `op`,
// `type` and `elements`.
struct NetworkReduction {
  Peer first = 0;
  std::uint32_t count = 1;
  ReduceOp op = ReduceOp::sum;
  ReduceType type = ReduceType::int64;
  const void* in = nullptr;  // the network's until it has ended
  void* out = nullptr;       // may be `in`, or does not overlap with it
  std::size_t elements = 1;
};

// Who combines.
enum class ReduceWhere : std::uint8_t { switches, interfaces };

// What one endpoint can do. Thread: the Nic's.
class NetworkReductions {
 public:
  virtual ~NetworkReductions() = default;

  // One endpoint of each node can take part, the first: those of neighbouring nodes are so many
  // numbers apart. 1: every node has one.
  virtual std::uint32_t apart() const { return 1; }
  // Whether one reduction reaches those endpoints, two at least.
  virtual bool reaches(Peer first, std::uint32_t count) const = 0;
  virtual bool combines(ReduceOp op, ReduceType type) const = 0;
  // The longest operand of one reduction.
  virtual std::size_t bytes_max() const = 0;
  // Begins it. done: `done` counts when the result is in `out`, or failed where the members did not
  // ask for the same. Also again_credit, and invalid for what it cannot do.
  virtual Post reduce(const NetworkReduction& reduction, Counter* done) = 0;
};

// A Nic that may have such a network.
class ReducingNic {
 public:
  // The Nic's. nullptr: those combine nothing.
  virtual NetworkReductions* network_reductions(ReduceWhere where) = 0;

 protected:
  ~ReducingNic() = default;
};

}  // namespace fairlead::fabric
