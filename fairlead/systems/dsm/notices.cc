#include "fairlead/systems/dsm/notices.h"

#include <algorithm>

namespace fairlead::dsm {

void NoticeLog::add(std::span<const Notice> notices) {
  for (const Notice& notice : notices) {
    time_[notice.writer] = std::max(time_[notice.writer], notice.seq);
  }
  notices_.insert(notices_.end(), notices.begin(), notices.end());
}

std::vector<Notice> NoticeLog::newer_than(std::span<const std::uint32_t> time) const {
  std::vector<Notice> newer;
  for (const Notice& notice : notices_) {
    if (notice.seq > time[notice.writer]) newer.push_back(notice);
  }
  return newer;
}

void NoticeLog::drop_covered(std::span<const std::uint32_t> time) {
  std::erase_if(notices_,
                [time](const Notice& notice) { return notice.seq <= time[notice.writer]; });
}

}  // namespace fairlead::dsm
