// A 64-bit hash over what a simulation executed: equal digests mean the same run, whatever the
// compiler, optimisation level or load address. Pointers never enter it.
#pragma once
#include <bit>
#include <cstdint>

#include "fairlead/sim/event.h"

namespace fairlead::sim {

class Digest {
 public:
  // Two independent multiplications; only a rotate, an xor and one multiply wait for the event
  // before (about 1 ns an event). The order of events enters.
  void add(Ps at, EventKey key, std::uint64_t id) {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t left =
        (static_cast<std::uint64_t>(at.count) ^ kSalt0) + std::rotl(id * kOdd0, 32);
    const Wide product = static_cast<Wide>(left) * (key.word() ^ kSalt1);
    const std::uint64_t folded =
        static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    state_ = (std::rotl(state_, 23) ^ folded) * kOdd1;
  }
  std::uint64_t value() const { return state_ ^ (state_ >> 32); }

 private:
  static constexpr std::uint64_t kSalt0 = 0x2d358dccaa6c78a5u;
  static constexpr std::uint64_t kSalt1 = 0x8bb84b93962eacc9u;
  static constexpr std::uint64_t kOdd0 = 0x9e3779b97f4a7c15u;
  static constexpr std::uint64_t kOdd1 = 0xd6e8feb86659fd93u;

  std::uint64_t state_ = 0x243f6a8885a308d3u;
};

}  // namespace fairlead::sim
