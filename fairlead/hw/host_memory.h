// A node's memory where several processors and the interface's DMA use it at once: as long as what
// they move fits its rate nobody waits, beyond that all of them slow down alike. Settled when a use
// starts, by what the others are at then; a node of one processor needs none of it, as the rates of
// its platform's file are what was measured there.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fairlead/base/units.h"

namespace fairlead::hw {

class HostMemory {
 public:
  // `users`: the processors, and whatever else reaches it; each does one thing at a time. `rate`:
  // of the memory, whoever uses it.
  HostMemory(std::uint32_t users, BytesPerSec rate) : rate_(rate), users_(users) {}

  // From `at` on `user` moves `bytes`, which takes `alone` where nobody else moves any. Answers how
  // long it takes.
  Ps use(std::uint32_t user, Ps at, Ps alone, std::uint64_t bytes) {
    if (bytes == 0 || alone <= Ps{0}) return alone;
    Ps wanted = time_for(Bytes{bytes}, rate_);  // of the memory's time, while `alone` passes
    for (std::uint32_t other = 0; other < users_.size(); ++other) {
      if (other == user || users_[other].until <= at) continue;
      wanted += part_of(users_[other], std::min(alone, users_[other].until - at));
    }
    const Ps takes = wanted <= alone ? alone : wanted;
    Use& mine = users_[user];
    mine.until = at + takes;
    mine.alone = alone;
    mine.memory = time_for(Bytes{bytes}, rate_);
    return takes;
  }

 private:
  struct Use {
    Ps until{};
    Ps alone{Ps{1}};
    Ps memory{};  // of the memory's time, in `alone`
  };
  // Returns what `use` wants of the memory's time while `time` passes.
  static Ps part_of(const Use& use, Ps time) {
    __extension__ using Wide = __int128;
    return Ps{static_cast<std::int64_t>(Wide{use.memory.count} * time.count / use.alone.count)};
  }

  BytesPerSec rate_;
  std::vector<Use> users_;
};

}  // namespace fairlead::hw
