#include "fairlead/run/job/job_report.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "fairlead/run/run_report.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {
namespace {
std::string text_of(std::span<const char> field) {
  const Result<std::string_view> text = get_text(field, "a reason");
  return text.ok() ? std::string(text.value()) : std::string();
}
}  // namespace

Result<JobReport> JobReport::create(std::uint32_t ranks) {
  void* at =
      ::mmap(nullptr, bytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    return Error{fmt::format("cannot map the job's report: {}", std::strerror(errno))};
  }
  return JobReport(static_cast<Head*>(at), ranks);
}

JobReport::JobReport(JobReport&& other) noexcept
    : head_(std::exchange(other.head_, nullptr)), ranks_(other.ranks_) {}

JobReport::~JobReport() {
  if (head_ != nullptr) ::munmap(head_, bytes(ranks_));
}

void JobReport::set_end(std::uint32_t rank, int exit_code, int signal, const std::string& reason) {
  End& end = ends()[rank];
  end.exit_code = exit_code;
  end.signal = signal;
  set_text(end.reason, reason);
}

void JobReport::set_failure(int exit_code, const std::string& text) {
  if (failed()) return;
  head_->failed = 1;
  head_->exit_code = exit_code;
  set_text(head_->failure, text);
}

void JobReport::add_to_failure(const std::string& text) {
  set_text(head_->failure, text_of(head_->failure) + text);
}

RunReport JobReport::read() const {
  RunReport report;
  report.exit_code = head_->exit_code;
  report.failure = text_of(head_->failure);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const End& end = ends()[rank];
    RankEnd& copy = report.ranks.emplace_back();
    copy.exit_code = end.exit_code;
    copy.signal = end.signal;
    copy.reason = text_of(end.reason);
  }
  return report;
}

}  // namespace fairlead::run
