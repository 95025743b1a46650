// What a rank waits for: for errors, for a job that hangs in virtual time, and for who asks
// (run/node/told_wait.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "fairlead/lci/port.h"
#include "fairlead/run/node/told_wait.h"

namespace fairlead::dsm {

inline constexpr char kALock[] = "a lock";

struct Awaited {
  const char* what;             // as errors say it, and a job that hangs in virtual time
  const char* thing = nullptr;  // as it is told, in front of its number; nullptr: as errors say it
  std::optional<std::uint64_t> number = {};
  std::optional<Rank> rank = {};  // who is to bring it, where that is known

  // "page 7".
  std::string name() const;
  // Fills in what is told to who asks.
  void describe(run::CallFacts& facts) const;
  std::int32_t peer() const {
    return rank ? static_cast<std::int32_t>(*rank) : run::CallFacts::kNobody;
  }
};

}  // namespace fairlead::dsm
