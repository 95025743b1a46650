#include "fairlead/fabric/shm/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace fairlead::fabric {

void shm_ring(ShmDoorbell& bell) {
  bell.rung.fetch_add(1);
  if (bell.sleeping.load() != 0)
    syscall(SYS_futex, &bell.rung, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void shm_sleep(ShmDoorbell& bell, std::uint32_t seen, Ps timeout) {
  const std::int64_t ns = std::clamp<std::int64_t>(timeout.count / 1000, 0, 1'000'000'000);
  timespec length{ns / 1'000'000'000, ns % 1'000'000'000};
  bell.sleeping.fetch_add(1);
  // The kernel compares again under its lock: a ring in between is not lost.
  if (bell.rung.load() == seen)
    syscall(SYS_futex, &bell.rung, FUTEX_WAIT, seen, &length, nullptr, 0);
  bell.sleeping.fetch_sub(1);
}

}  // namespace fairlead::fabric
