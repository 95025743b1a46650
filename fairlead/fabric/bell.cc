#include "fairlead/fabric/bell.h"

#include <poll.h>
#include <unistd.h>

#include <ctime>

#include "fairlead/base/check.h"
#include "fairlead/fabric/shm/doorbell.h"

namespace fairlead::fabric {
namespace {

// Where both a word and descriptors ring, no call waits for either: it sleeps on the word for so
// long at a time and looks at the descriptors in between.
constexpr Ps kSlice = microseconds(250);

}  // namespace

void Bell::add(int fd) {
  FAIRLEAD_CHECK(fd_count_ < kFdsMax, "more than {} descriptors ring one bell", kFdsMax);
  fds_[fd_count_++] = fd;
}

void Bell::sleep(int nudge) const {
  Ps length = std::min(look_, kLongest);
  if (word_ != nullptr) {
    if (fd_count_ > 0) length = std::min(length, kSlice);
    return shm_sleep(*word_, seen_, length);
  }
  std::array<pollfd, kFdsMax + 1> polls;
  for (std::size_t i = 0; i < fd_count_; ++i) polls[i] = {fds_[i], POLLIN, 0};
  polls[fd_count_] = {nudge, POLLIN, 0};
  const std::int64_t ns = length.count / 1000;
  const timespec limit{ns / 1'000'000'000, static_cast<long>(ns % 1'000'000'000)};
  (void)::ppoll(polls.data(), fd_count_ + 1, &limit, nullptr);
  std::uint64_t rings = 0;
  if (polls[fd_count_].revents != 0) (void)!::read(nudge, &rings, sizeof rings);
}

void Bell::ring() const {
  if (word_ != nullptr) shm_ring(*word_);
}

}  // namespace fairlead::fabric
