// Writes to a file beside who makes what is written.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <vector>

#include "fairlead/base/library_thread.h"

namespace fairlead {

// Pieces of a file, written in order by a thread of their own, which the first one handed over
// starts: who makes them goes on while the file system takes the one before. Where there can be no
// thread, and in a child that the process forked, a piece is written at once.
// Thread: one at a time.
class BackgroundFile {
 public:
  // Owns `fd`, which is open for writing; -1: nothing is written.
  explicit BackgroundFile(int fd) : fd_(fd) {}
  BackgroundFile(const BackgroundFile&) = delete;
  BackgroundFile& operator=(const BackgroundFile&) = delete;
  ~BackgroundFile() { (void)close(); }

  // Takes the first `bytes` of `piece` and gives room as large for the next piece in its place,
  // whose contents mean nothing. Waits until the piece before has been written.
  void hand_over(std::vector<char>& piece, std::size_t bytes);
  // Writes `text` behind what was handed over, and returns when everything is in the file.
  void write(std::string_view text);
  // Closes once everything has been written; nothing may follow. Returns 0, or the errno of the
  // first write that failed, after which nothing more was written, or of closing.
  int close();

 private:
  void write_pieces();  // the thread's body
  void wait_until_written();

  int fd_;
  std::mutex mutex_;  // guards all below, but for a full piece, which is the thread's
  std::condition_variable changed_;
  std::vector<char> piece_;
  std::size_t bytes_ = 0;  // of the piece
  bool full_ = false;      // the piece is to be written
  bool stop_ = false;
  int error_ = 0;
  LibraryThread thread_;
};

}  // namespace fairlead
