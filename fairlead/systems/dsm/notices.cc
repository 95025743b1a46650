#include "fairlead/systems/dsm/notices.h"

#include <algorithm>
#include <tuple>

#include "fairlead/systems/dsm/mutants.h"

namespace fairlead::dsm {

void keep_newest(std::vector<Notice>& notices, std::size_t& most) {
  if (notices.size() < most) return;
  std::sort(notices.begin(), notices.end(), [](const Notice& a, const Notice& b) {
    return std::tie(a.page, a.writer, b.seq) < std::tie(b.page, b.writer, a.seq);
  });
  const auto end = std::unique(
      notices.begin(), notices.end(),
      [](const Notice& a, const Notice& b) { return a.page == b.page && a.writer == b.writer; });
  notices.erase(end, notices.end());
  most = std::max(kNoticesLeast, 2 * notices.size());
}

std::span<const Notice> NoticeLog::add(std::span<const Notice> notices) {
  keep_newest(notices_, most_);
  const std::size_t before = notices_.size();
  for (const Notice& notice : notices) {
    if (notice.seq > time_[notice.writer]) notices_.push_back(notice);
    if (mutated(Mutant::interval_torn)) time_[notice.writer] = notice.seq;
  }
  for (std::size_t i = before; i < notices_.size(); ++i) {
    time_[notices_[i].writer] = std::max(time_[notices_[i].writer], notices_[i].seq);
  }
  return std::span(notices_).subspan(before);
}

std::vector<Notice> NoticeLog::newer_than(std::span<const std::uint32_t> time) const {
  std::vector<Notice> newer;
  for (const Notice& notice : notices_) {
    if (notice.seq > time[notice.writer]) newer.push_back(notice);
  }
  return newer;
}

std::span<const Notice> NoticeLog::newest() {
  most_ = 0;
  keep_newest(notices_, most_);
  return notices_;
}

void NoticeLog::drop_covered(std::span<const std::uint32_t> time) {
  std::erase_if(notices_,
                [time](const Notice& notice) { return notice.seq <= time[notice.writer]; });
}

}  // namespace fairlead::dsm
