#include "fairlead/systems/rsm/event_name.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <cstdint>

namespace fairlead::rsm {
namespace {

class EventNameTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (name_.kernel == 0) GTEST_SKIP() << "this kernel gives eventfds no names";
    if (!open_event(name_).valid()) GTEST_SKIP() << "this kernel hands no descriptors out";
  }
  // Whether another process gets hold of the event by `name`, and then writes into it.
  static bool another_writes(const EventName& name) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Fd event = open_event(name);
      const std::uint64_t three = 3;
      const bool wrote =
          event.valid() && ::write(event.get(), &three, sizeof three) == sizeof three;
      ::_exit(wrote ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  Fd event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  EventName name_ = name_event(event_.get());
};

TEST_F(EventNameTest, LetsAnotherProcessWrite) {
  pollfd fd{event_.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&fd, 1, 0), 0);
  // The child has descriptors of its own that the parent has not.
  ASSERT_TRUE(another_writes(name_));
  EXPECT_EQ(::poll(&fd, 1, 0), 1);
  std::uint64_t value = 0;
  ASSERT_EQ(::read(event_.get(), &value, sizeof value), static_cast<ssize_t>(sizeof value));
  EXPECT_EQ(value, 3u);
}

TEST_F(EventNameTest, GivesNothingThatItDoesNotName) {
  const Fd other(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  EventName wrong = name_;
  // Expect: another event's descriptor of that number, one of no event, and none at all
  wrong.descriptor = static_cast<std::uint32_t>(other.get());
  EXPECT_FALSE(open_event(wrong).valid());
  wrong.descriptor = 0;
  EXPECT_FALSE(open_event(wrong).valid());
  wrong.descriptor = 0xffffffff;
  EXPECT_FALSE(open_event(wrong).valid());
  // Expect: another machine, another process, none
  wrong = name_;
  ++wrong.kernel;
  EXPECT_FALSE(open_event(wrong).valid());
  wrong = name_;
  wrong.process = 0x7fffffff;
  EXPECT_FALSE(open_event(wrong).valid());
  EXPECT_FALSE(open_event({}).valid());
}

TEST_F(EventNameTest, EndsWithTheEvent) {
  event_.reset();
  EXPECT_FALSE(open_event(name_).valid());
}

TEST(EventNameOfNothing, IsNone) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(name_event(ends[0]).kernel, 0u);
  EXPECT_EQ(name_event(-1).kernel, 0u);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace fairlead::rsm
