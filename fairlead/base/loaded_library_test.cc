#include "fairlead/base/loaded_library.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <iterator>

namespace fairlead {
namespace {

TEST(LoadedLibrary, FindsFunctions) {
  Result<LoadedLibrary> library = LoadedLibrary::load("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.error().text;
  double (*size)(double) = nullptr;
  library.value().find("fabs", size);
  ASSERT_TRUE(library.value().complete().ok());
  EXPECT_EQ(size(-3), 3);
  // Expect: the first that is missing is named, whatever is found later
  void (*none)() = nullptr;
  library.value().find("no_such_function", none);
  library.value().find("nor_this", none);
  library.value().find("fabs", size);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(library.value().complete().error().text, "libm.so.6 has no no_such_function");
}

volatile sig_atomic_t ours = 0;
void count_signal(int) { ours = ours + 1; }

TEST(LoadedLibrary, TakesNoSignals) {
  struct sigaction before {};
  before.sa_handler = count_signal;
  struct sigaction usual {};
  ASSERT_EQ(::sigaction(SIGUSR1, &before, &usual), 0);
  const int signals[] = {SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV, SIGTERM};
  struct sigaction handled[std::size(signals)] = {};
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    ::sigaction(signals[i], nullptr, &handled[i]);
  }
  sigset_t mask_before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  Result<LoadedLibrary> library = LoadedLibrary::load(FAIRLEAD_TAKES_SIGNALS);
  ASSERT_TRUE(library.ok()) << library.error().text;
  int (*caught)() = nullptr;
  library.value().find("caught", caught);
  ASSERT_NE(caught, nullptr);
  // Expect: the one that came while the library was loaded reached our handler, afterwards.
  EXPECT_EQ(ours, 1);
  EXPECT_EQ(caught(), 0);
  // Expect: every signal is handled as before, and none is held back.
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    struct sigaction now {};
    ::sigaction(signals[i], nullptr, &now);
    EXPECT_EQ(now.sa_handler, handled[i].sa_handler) << signals[i];
  }
  ::raise(SIGUSR1);
  EXPECT_EQ(ours, 2);
  sigset_t mask_now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_now);
  EXPECT_EQ(sigismember(&mask_now, SIGTERM), sigismember(&mask_before, SIGTERM));
  ::sigaction(SIGUSR1, &usual, nullptr);
}

TEST(LoadedLibrary, SaysWhyThereIsNone) {
  const Result<LoadedLibrary> library = LoadedLibrary::load("libno_such_library.so.0");
  ASSERT_FALSE(library.ok());
  EXPECT_NE(library.error().text.find("libno_such_library.so.0"), std::string::npos);
}

}  // namespace
}  // namespace fairlead
