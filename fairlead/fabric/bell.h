// What a thread beside the endpoint's own sleeps on until something may have arrived, while that
// one makes no calls: filled by Nic::listen() in the endpoint's turn, slept on outside of it.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "fairlead/base/units.h"

namespace fairlead::fabric {

struct ShmDoorbell;

class Bell {
 public:
  static constexpr std::size_t kFdsMax = 4;
  // No sleep is longer: what rings nothing, as a peer of another node that was lost, is looked at
  // after so long.
  static constexpr Ps kLongest = milliseconds(50);

  // Each part of an endpoint adds what it has. A word in shared memory that moves from `seen`; at
  // most one.
  void add(ShmDoorbell& word, std::uint32_t seen) {
    word_ = &word;
    seen_ = seen;
  }
  // A descriptor that becomes readable; at most kFdsMax.
  void add(int fd);
  // Something that rings no bell is to be looked at after so long.
  void look_after(Ps length) { look_ = std::clamp(length, Ps{0}, look_); }

  // Sleeps until it rang, or at most kLongest. `nudge`: an eventfd that ends it too and is emptied.
  void sleep(int nudge) const;
  // Ends the sleep of another thread on what such bells have in shared memory, if anything.
  void ring() const;

 private:
  ShmDoorbell* word_ = nullptr;
  std::uint32_t seen_ = 0;
  std::array<int, kFdsMax> fds_{};
  std::size_t fd_count_ = 0;
  Ps look_ = kNever;
};

}  // namespace fairlead::fabric
