// Who tells whom at a barrier at which every rank hears what every other one has to say. It goes in
// rounds: in each a rank tells what it has heard so far to a few others, at distances that grow by
// that number and one, so that `ranks` ranks need log(ranks) rounds. It is the dissemination
// barrier (Hensgen, Finkel and Manber 1988), with the concatenation of Bruck and others (1997),
// which brings each rank's words to each other rank once. No rank has more to do than another.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/base/post.h"

namespace fairlead::dsm {

class Dissemination {
 public:
  // Ranks that one tells in a round, at most. A message takes some times longer to arrive than to
  // be sent, on all networks here, so that few rounds of several messages end sooner than many of
  // one; more than three come late behind each other.
  static constexpr std::uint32_t kToldMost = 3;

  struct Step {
    std::uint32_t round;
    Rank to;    // is told by this rank
    Rank from;  // tells this rank
    // What is told are the words of so many ranks: the one that tells, the one below it, and on,
    // rank size - 1 being below rank 0.
    std::uint32_t ranks;
  };

  // self < size.
  Dissemination(Rank self, std::uint32_t size);

  // In the order of their rounds; none for one rank. All `from` differ.
  std::span<const Step> steps() const { return steps_; }
  // Those of the round that begins with steps()[first].
  std::span<const Step> round_at(std::size_t first) const;
  // The number of the step that has this `from`; steps().size(): none.
  std::size_t step_from(Rank from) const;
  // Whether what this rank tells in `step` includes the words of `rank`.
  bool tells(const Step& step, Rank rank) const {
    return (self_ + size_ - rank) % size_ < step.ranks;
  }

 private:
  Rank self_;
  std::uint32_t size_;
  std::vector<Step> steps_;
};

}  // namespace fairlead::dsm
