#include "fairlead/run/node/launched_job.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace fairlead::run {

void LaunchedJob::finish() {
  if (std::exchange(finished_, true)) return;
  if (watch_ != nullptr) {
    if (const Result<void> done = watch_->finished(); !done.ok()) {
      fmt::print(stderr, "fairlead: {}\n", done.error().text);
      abort(1, done.error().text);
      ::_exit(1);
    }
  }
  exchange_->finish();
}

void LaunchedJob::abort(int code, const std::string& reason) {
  // hydra ends its proxies at once, with what they have not passed on of the rank's last words.
  constexpr int kLastWordsMs = 100;
  (void)::poll(nullptr, 0, kLastWordsMs);
  // A job that was told to stop never looks like a success, whatever the code.
  exchange_->abort((code & 0xff) != 0 ? code & 0xff : 1, reason);
  constexpr int kLongestMs = 5000;
  (void)::poll(nullptr, 0, kLongestMs);
}

}  // namespace fairlead::run
