// What the guardian tells the command about the end of a job: memory the two share, written by the
// guardian, read by the command once the guardian is gone. Ranks that are programs never see it.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/run/run_report.h"

namespace fairlead::run {

class JobReport {
 public:
  static Result<JobReport> create(std::uint32_t ranks);
  JobReport(JobReport&& other) noexcept;
  JobReport& operator=(JobReport&&) = delete;
  ~JobReport();

  // The guardian's side.
  void set_end(std::uint32_t rank, int exit_code, int signal, const std::string& reason);
  // Only the first failure is kept.
  void set_failure(int exit_code, const std::string& text);
  bool failed() const { return head_->failed != 0; }
  void add_to_failure(const std::string& text);
  void complete() { head_->complete.store(1, std::memory_order_release); }

  // The command's side.
  bool is_complete() const { return head_->complete.load(std::memory_order_acquire) == 1; }
  // Ends, exit code and failure; the rest is left as it is made.
  RunReport read() const;

 private:
  struct End {
    std::int32_t exit_code;
    std::int32_t signal;
    char reason[248];
  };
  struct Head {
    std::atomic<std::uint32_t> complete;
    std::uint32_t failed;
    std::int32_t exit_code;
    char failure[2036];
  };
  static_assert(sizeof(End) == 256 && sizeof(Head) == 2048);

  JobReport(Head* head, std::uint32_t ranks) : head_(head), ranks_(ranks) {}
  static std::size_t bytes(std::uint32_t ranks) { return sizeof(Head) + ranks * sizeof(End); }
  End* ends() const { return reinterpret_cast<End*>(head_ + 1); }

  Head* head_;
  std::uint32_t ranks_;
};

}  // namespace fairlead::run
