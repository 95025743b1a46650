#include "fairlead/base/library_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

#include "fairlead/base/sanitized.h"

namespace fairlead {
namespace {

TEST(LibraryThread, HasItsNameAndNoSignals) {
  std::array<char, 16> name{};
  sigset_t mask;
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  LibraryThread thread;
  EXPECT_FALSE(thread.started());
  ASSERT_EQ(thread.start("fairlead-test",
                         [&] {
                           ::pthread_getname_np(::pthread_self(), name.data(), name.size());
                           ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
                         }),
            0);
  thread.join();
  EXPECT_FALSE(thread.started());
  EXPECT_EQ(std::string(name.data()), "fairlead-test");
  EXPECT_EQ(::sigismember(&mask, SIGINT), 1);
  EXPECT_EQ(::sigismember(&mask, SIGUSR1), 1);
  // Expect: the starter handles what it handled before
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  for (const int signal : {SIGINT, SIGUSR1, SIGTERM}) {
    EXPECT_EQ(::sigismember(&now, signal), ::sigismember(&before, signal));
  }
}

TEST(LibraryThread, IsWaitedForAtTheEnd) {
  std::atomic<bool> go = false;
  bool done = false;
  {
    LibraryThread thread;
    ASSERT_EQ(thread.start("fairlead-test",
                           [&] {
                             go.wait(false);
                             done = true;
                           }),
              0);
    EXPECT_TRUE(thread.runs());
    go = true;
    go.notify_one();
  }
  EXPECT_TRUE(done);
}

TEST(LibraryThread, InAForkedChildNobodyIsWaitedFor) {
#ifdef FAIRLEAD_TSAN
  GTEST_SKIP() << "ThreadSanitizer knows no thread of the parent's in the child";
#endif
  std::atomic<bool> go = false;
  LibraryThread thread;
  ASSERT_EQ(thread.start("fairlead-test", [&] { go.wait(false); }), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    const bool right = thread.started() && !thread.runs();
    thread.join();
    ::_exit(right && !thread.started() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  go = true;
  go.notify_one();
}

TEST(LibraryThread, TheThreadItselfMayForgetIt) {
  std::atomic<bool> done = false;
  LibraryThread thread;
  std::atomic<bool> ready = false;
  ASSERT_EQ(thread.start("fairlead-test",
                         [&] {
                           ready.wait(false);
                           const bool current = thread.is_current();
                           thread.join();
                           done = current;
                           done.notify_one();
                         }),
            0);
  EXPECT_FALSE(thread.is_current());
  ready = true;
  ready.notify_one();
  done.wait(false);
  EXPECT_FALSE(thread.started());
}

}  // namespace
}  // namespace fairlead
