#include "fairlead/base/background_file.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace fairlead {
namespace {

// Returns 0 or an errno.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

}  // namespace

void BackgroundFile::hand_over(std::vector<char>& piece, std::size_t bytes) {
  if (fd_ < 0 || bytes == 0) return;
  const bool beside = thread_.started()
                          ? thread_.runs()
                          : thread_.start("fairlead-file", [this] { write_pieces(); }) == 0;
  if (!beside) return write({piece.data(), bytes});
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !full_; });
    std::swap(piece, piece_);
    bytes_ = bytes;
    full_ = true;
  }
  changed_.notify_all();
  if (piece.size() < piece_.size()) piece.resize(piece_.size());
}

void BackgroundFile::write_pieces() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return full_ || stop_; });
    if (!full_) return;
    if (error_ == 0) {
      lock.unlock();
      const int error = write_all(fd_, {piece_.data(), bytes_});
      lock.lock();
      error_ = error;
    }
    full_ = false;
    changed_.notify_all();
  }
}

void BackgroundFile::wait_until_written() {
  if (!thread_.runs()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !full_; });
}

void BackgroundFile::write(std::string_view text) {
  wait_until_written();
  if (fd_ >= 0 && error_ == 0) error_ = write_all(fd_, text);
}

int BackgroundFile::close() {
  if (fd_ < 0) return error_;
  wait_until_written();
  if (thread_.runs()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
  }
  thread_.join();
  if (::close(std::exchange(fd_, -1)) != 0 && error_ == 0) error_ = errno;
  return error_;
}

}  // namespace fairlead
