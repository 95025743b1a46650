// Barrier of all ranks by dissemination: in round k every rank tells the one 2^k after it; small
// messages on the Port alone. A bench of its own, and what others start together with.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

#include "fairlead/lci/port.h"

namespace fairlead::tools {

class Dissemination {
 public:
  // Binds `chan`, which nothing else uses. The port outlives it.
  Dissemination(lci::Port& port, lci::Chan chan);
  Dissemination(const Dissemination&) = delete;
  Dissemination& operator=(const Dissemination&) = delete;

  // Returns when every rank has entered as often as this one.
  void enter();

 private:
  static constexpr std::size_t kRoundsMax = 32;
  static Keep on_message(void* self, lci::Packet* packet, const lci::Arrival& arrival);

  lci::Port& port_;
  lci::Chan chan_;
  std::uint64_t epoch_ = 0;
  std::array<std::atomic<std::uint64_t>, kRoundsMax> heard_{};
};

}  // namespace fairlead::tools
