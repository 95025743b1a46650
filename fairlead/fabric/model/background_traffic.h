// What another job's process on a node sends (hw/background_params.h): to whom, and when. The
// network interface moves it.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/base/prng.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/background_params.h"
#include "fairlead/hw/keys.h"
#include "fairlead/hw/network_params.h"

namespace fairlead::fabric::model {

class BackgroundTraffic {
 public:
  // Outlived by all it is given.
  BackgroundTraffic(const hw::BackgroundParams& params, const hw::NetworkParams& network, Peer self)
      : params_(params), network_(network), self_(self), draw_(params.seed << 32 | self) {}

  // Whether this node sends, of so many.
  bool sends(std::uint32_t nodes) const {
    if (params_.pattern == hw::BackgroundParams::kNone || nodes < 2) return false;
    // Only where their number is odd: the one in the middle.
    return params_.pattern != hw::BackgroundParams::kComplement || nodes - 1 - self_ != self_;
  }
  // When one of the first messages leaves: they do not leave together.
  Ps first() {
    return Ps{static_cast<std::int64_t>(draw_.below(static_cast<std::uint64_t>(kBegins.count)))};
  }
  void end() { ends_ = true; }
  bool ended() const { return ends_; }

  // From when on the next message may leave.
  Ps due() const { return due_; }
  // One leaves at `now`: the node it goes to.
  Peer leaves(Ps now, std::uint32_t nodes) {
    if (params_.load < 1) {
      Ps pace = time_for(Bytes{params_.bytes}, network_.link);
      hw::shorter(pace, params_.load);
      due_ = now + pace;
    }
    if (params_.pattern != hw::BackgroundParams::kUniform) return nodes - 1 - self_;
    const auto to = static_cast<Peer>(draw_.below(nodes - 1));
    return to >= self_ ? to + 1 : to;
  }

 private:
  static constexpr Ps kBegins = microseconds(10);

  const hw::BackgroundParams& params_;
  const hw::NetworkParams& network_;
  Peer self_;
  Prng draw_;
  Ps due_{};
  bool ends_ = false;
};

}  // namespace fairlead::fabric::model
