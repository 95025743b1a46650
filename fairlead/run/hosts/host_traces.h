// The trace of a job of several hosts: the ranks' parts as the agents send them, gathered beside
// the file that is asked for, and joined.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "fairlead/base/result.h"
#include "fairlead/run/job/job_plan.h"

namespace fairlead::run {

class HostTraces {
 public:
  // Error: nothing can be written there.
  static Result<HostTraces> open(const std::string& path);

  HostTraces() = default;
  HostTraces(HostTraces&& from) noexcept;
  HostTraces& operator=(HostTraces&& from) noexcept;
  ~HostTraces();

  bool wanted() const { return !folder_.empty(); }
  // More of what `rank` wrote.
  void add(std::uint32_t rank, std::string_view bytes);
  // The times of these ranks are off by at most `error_ns`: said where they are drawn.
  void say_error(const RankRange& ranks, std::int64_t error_ns);
  // Error: something could not be written.
  Result<void> join(std::uint32_t ranks);

 private:
  void append(const std::string& file, std::string_view bytes);

  std::string folder_;
  std::string failed_;  // the first file that could not be written
};

}  // namespace fairlead::run
