#include "fairlead/run/job/job.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <utility>

#include "fairlead/run/wire/bootstrap.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {
namespace {

TEST(GuardianLink, TheEndIsSeenBehindNotesThatNobodyTook) {
  Result<SocketPair> sockets = socket_pair();
  ASSERT_TRUE(sockets.ok());
  const auto note = make_message<AddressNote>(3);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(::send(sockets.value().theirs.get(), &note, sizeof note, 0), ssize_t{sizeof note});
  }
  auto ended = std::async(std::launch::async,
                          [&] { GuardianLink(sockets.value().ours.get(), -1).await_end(); });
  // Expect: it waits for the guardian's end, not for its notes
  EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  sockets.value().theirs.reset();
  // Expect: and sees it
  EXPECT_EQ(ended.wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

}  // namespace
}  // namespace fairlead::run
