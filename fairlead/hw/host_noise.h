// What takes a processor away from its rank now and then: the operating system's clock tick, and a
// daemon that runs more rarely and longer. Each comes at equal distances; where the first one falls
// is drawn for each rank, so that the processors of a machine are not in step.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/prng.h"
#include "fairlead/base/units.h"

namespace fairlead::hw {

struct NoiseParams {
  struct Source {
    Ps period{};  // 0: it never comes
    Ps length{};  // shorter than the period
  };
  Source tick;
  Source daemon;
  std::uint64_t seed = 1;
};

class HostNoise {
 public:
  HostNoise() = default;
  // The noise on the processor of `rank`.
  HostNoise(const NoiseParams& params, std::uint32_t rank) {
    Prng draw(params.seed << 32 | rank);
    const NoiseParams::Source* const sources[kSources] = {&params.tick, &params.daemon};
    for (std::uint32_t i = 0; i < kSources; ++i) {
      const auto period = static_cast<std::uint64_t>(sources[i]->period.count);
      if (period == 0 || sources[i]->length == Ps{0}) continue;
      comings_[i] = {*sources[i], Ps{static_cast<std::int64_t>(draw.below(period))}};
      on_ = true;
    }
  }
  bool on() const { return on_; }

  // When `work` that begins at `from` is done; of no work: when the processor is the rank's. Two
  // parts of some work, one after the other, end when the whole does.
  Ps done(Ps from, Ps work) const {
    Ps at = from;
    for (;;) {
      at = given_back(at);
      if (work == Ps{0}) return at;
      const Ps taken = next(at);
      if (at + work <= taken) return at + work;
      work -= taken - at;
      at = taken;
    }
  }

 private:
  static constexpr std::uint32_t kSources = 2;
  struct Coming {
    NoiseParams::Source source;
    Ps first{};

    // Whether `at` is in one, which ends then.
    bool holds(Ps at, Ps* end) const {
      if (source.period == Ps{0} || at < first) return false;
      const Ps since{(at - first).count % source.period.count};
      if (since >= source.length) return false;
      *end = at - since + source.length;
      return true;
    }
    // The first one that begins behind `at`, which is in none.
    Ps next(Ps at) const {
      if (source.period == Ps{0}) return kNever;
      if (at < first) return first;
      return at + source.period - Ps{(at - first).count % source.period.count};
    }
  };

  Ps given_back(Ps at) const {
    for (std::uint32_t quiet = 0; quiet < kSources;) {
      Ps end{};
      if (comings_[quiet].holds(at, &end)) {
        at = end;
        quiet = 0;
      } else {
        ++quiet;
      }
    }
    return at;
  }
  Ps next(Ps at) const { return std::min(comings_[0].next(at), comings_[1].next(at)); }

  Coming comings_[kSources];
  bool on_ = false;
};

}  // namespace fairlead::hw
