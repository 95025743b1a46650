// What an unreliable network does to the packets of VIs of level 1, by a seeded plan: VIs lose
// nothing by themselves, as the Port under them is reliable. For tests of what stands above, and of
// programs that use such VIs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/base/result.h"

namespace fairlead::via {

// "drop=0.01,dup=0.01,reorder=0.01,corrupt=0.01,seed=1": probabilities of a packet; each is 0 where
// it is not named. Corrupt packets are dropped, as by the checksum of a network.
constexpr const char kLossVariable[] = "FAIRLEAD_VIA_LOSS";

struct LossPlan {
  double drop = 0;
  double dup = 0;
  double reorder = 0;
  double corrupt = 0;
  std::uint64_t seed = 1;

  bool any() const { return drop > 0 || dup > 0 || reorder > 0 || corrupt > 0; }
};
// Error: names what is wrong with the text.
Result<LossPlan> parse_loss_plan(const std::string& text);

class Loss {
 public:
  enum class Fate { deliver, drop, twice, later };

  Loss(const LossPlan& plan, std::uint32_t rank)
      : plan_(plan), prng_(plan.seed * 1'000'003 + rank) {}

  bool any() const { return plan_.any(); }
  Fate next() {
    if (prng_.chance(plan_.drop + plan_.corrupt)) return Fate::drop;
    if (prng_.chance(plan_.dup)) return Fate::twice;
    return prng_.chance(plan_.reorder) ? Fate::later : Fate::deliver;
  }

  // A packet that leaves after the next one.
  struct Held {
    std::uint32_t to;
    std::uint32_t words[4];
    std::vector<std::byte> body;
  };
  std::optional<Held> held;

 private:
  LossPlan plan_;
  Prng prng_;
};

}  // namespace fairlead::via
