// A thread that a part of the library runs for itself, beside the program's own threads.
#pragma once
#include <sys/types.h>

#include <functional>
#include <thread>

namespace fairlead {

// The program's signals are handled by its own threads: none is delivered to this one. A process
// that the program forks has the object, but not the thread.
// Thread: one at a time.
class LibraryThread {
 public:
  LibraryThread() = default;
  LibraryThread(const LibraryThread&) = delete;
  LibraryThread& operator=(const LibraryThread&) = delete;
  ~LibraryThread() { join(); }

  // Runs `body` in the thread, which debuggers show as `name` (at most 15 letters). Returns 0, or
  // the errno that says why there can be no thread. Error: it was started before (ends the rank).
  int start(const char* name, std::function<void()> body);
  // Started, and not joined since; in a forked child as well.
  bool started() const { return thread_.joinable(); }
  // Started by this process, so that there is somebody to tell and to wait for.
  bool runs() const;
  // The caller is the thread.
  bool is_current() const { return thread_.get_id() == std::this_thread::get_id(); }
  // Waits until `body` has returned. In a forked child, and in the thread itself, there is nothing
  // to wait for: then it is only no longer started.
  void join();

 private:
  std::thread thread_;
  pid_t process_ = 0;  // that started it
};

}  // namespace fairlead
