// What a job's kind of world does beside the guardian.
#pragma once
#include <cstdint>

namespace fairlead::run {

class GuardianLink;

class JobWatch {
 public:
  virtual ~JobWatch() = default;
  // In the guardian, before it starts the ranks: closes what only the command may have open.
  virtual void guardian_begins() {}
  // In the guardian, after a rank's process has ended and the failure, if it is one, is on record.
  virtual void rank_ended(std::uint32_t rank) = 0;
  // In the command, once the guardian is at work. The command stands by when it returns.
  virtual void run(GuardianLink& link) = 0;
};

}  // namespace fairlead::run
