#include "fairlead/run/node/node_meeting.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "fairlead/base/prng.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

using std::chrono::milliseconds;
using Ranks = std::vector<std::uint32_t>;
constexpr milliseconds kSoon(300);
constexpr milliseconds kLong(20000);

NodeHello hello_of(std::uint32_t rank, const NodeCard& card) {
  auto hello = make_message<NodeHello>(rank);
  hello.secret = card.secret;
  return hello;
}

// A connection that says nothing yet.
Fd connect_to(const NodeCard& card) {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::size_t size = std::strlen(card.socket);
  std::memcpy(name.sun_path + 1, card.socket, size);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&name),
                      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size)),
            0)
      << std::strerror(errno);
  return socket;
}

void say(const Fd& socket, const void* bytes, std::size_t size) {
  EXPECT_EQ(::send(socket.get(), bytes, size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
}

class Meeting : public testing::Test {
 protected:
  Meeting() : leader_(std::move(NodeLeader::listen(0, "job 7", "host").value())) {}

  const NodeCard& card() const { return leader_.card(); }
  Fd member(std::uint32_t rank) {
    auto socket = call_leader(card(), hello_of(rank, card()), kLong);
    EXPECT_TRUE(socket.ok()) << socket.error().text;
    return std::move(socket.value());
  }
  std::string failure(const Ranks& ranks, milliseconds limit) {
    const auto members = leader_.gather(ranks, limit);
    return members.ok() ? "" : members.error().text;
  }

  NodeLeader leader_;
};

TEST_F(Meeting, EachMemberGetsItsWelcomeAndTheDescriptors) {
  auto follower = std::async(std::launch::async,
                             [this] { return join_leader(card(), hello_of(2, card()), kLong); });
  auto members = leader_.gather({2}, kLong);
  ASSERT_TRUE(members.ok()) << members.error().text;
  // Expect: the rank and, from the kernel, its process
  EXPECT_EQ(members.value()[0].hello.head.rank, 2u);
  EXPECT_EQ(members.value()[0].pid, ::getpid());
  WorldOptions options;
  options.ranks = 4;
  const Welcome welcome = make_welcome(options, {}, wait_plan_dedicated(), 2);
  const Fd a(::dup(0)), b(::dup(0));
  const std::array descriptors{a.get(), b.get()};
  ASSERT_TRUE(send_welcome(members.value()[0].socket.get(), welcome, descriptors).ok());
  auto joined = follower.get();
  ASSERT_TRUE(joined.ok()) << joined.error().text;
  EXPECT_EQ(joined.value().welcome.head.rank, 2u);
  EXPECT_TRUE(joined.value().job.valid());
  EXPECT_TRUE(joined.value().board.valid());
  EXPECT_FALSE(joined.value().life.valid());
}

TEST_F(Meeting, NamesTheRanksThatDidNotCome) {
  const Fd one = member(1);
  const std::string text = failure({1, 2, 3, 7}, kSoon);
  EXPECT_NE(text.find("3 of 4 ranks"), std::string::npos) << text;
  EXPECT_NE(text.find(": 2-3, 7"), std::string::npos) << text;
}

TEST_F(Meeting, AMemberThatDiesMeanwhileIsNamed) {
  member(1).reset();
  const std::string text = failure({1, 2}, kLong);
  EXPECT_NE(text.find("rank 1"), std::string::npos) << text;
  EXPECT_NE(text.find("ended before"), std::string::npos) << text;
}

TEST_F(Meeting, AnotherVersionIsAnErrorWithBoth) {
  const Fd socket = connect_to(card());
  NodeHello hello = hello_of(1, card());
  hello.head.version = kBootstrapVersion + 6;
  say(socket, &hello, sizeof hello);
  const std::string text = failure({1}, kLong);
  EXPECT_NE(text.find("rank 1"), std::string::npos) << text;
  for (const int version : {kBootstrapVersion + 6, kBootstrapVersion + 0}) {
    EXPECT_NE(text.find("version " + std::to_string(version)), std::string::npos) << text;
  }
}

TEST_F(Meeting, StrangersAreCountedAndNeverWaitedFor) {
  const Fd silent = connect_to(card());
  const Fd garbage = connect_to(card());
  say(garbage, "GET / HTTP/1.1\r\n\r\n", 18);
  const Fd gone = connect_to(card());
  const_cast<Fd&>(gone).reset();
  NodeHello wrong = hello_of(1, card());
  wrong.secret.words[1] ^= 1;
  const Fd other_job = connect_to(card());
  say(other_job, &wrong, sizeof wrong);
  const Fd unknown_rank = member(9);
  const Fd real = member(1);
  const Fd twice = member(1);
  const auto members = leader_.gather({1}, kLong);
  // Expect: the rank came, and everybody else is refused, but for who said nothing
  ASSERT_TRUE(members.ok()) << members.error().text;
  ASSERT_EQ(members.value().size(), 1u);
  EXPECT_EQ(members.value()[0].hello.head.rank, 1u);
  EXPECT_EQ(leader_.refused(), 5u);
}

TEST_F(Meeting, ManySilentCallersDoNotKeepARankOut) {
  std::vector<Fd> silent;
  auto follower = std::async(std::launch::async, [&] {
    for (int i = 0; i < 700; ++i) silent.push_back(connect_to(card()));
    return member(1);
  });
  const auto members = leader_.gather({1}, kLong);
  const Fd socket = follower.get();
  ASSERT_TRUE(members.ok()) << members.error().text;
  // Expect: the first ones had to give way
  EXPECT_GE(leader_.refused(), 700u - 256u);
}

TEST_F(Meeting, WhoIsHungUpOnCallsAgainWhileTheLeaderListens) {
  auto refused = std::async(std::launch::async,
                            [this] { return join_leader(card(), hello_of(9, card()), kLong); });
  auto late = std::async(std::launch::async, [this] {
    std::this_thread::sleep_for(kSoon);
    return member(2);
  });
  ASSERT_TRUE(leader_.gather({2}, kLong).ok());
  const auto joined = refused.get();
  // Expect: several calls, and an end to them when nobody listens
  EXPECT_GE(leader_.refused(), 2u);
  ASSERT_FALSE(joined.ok());
  EXPECT_NE(joined.error().text.find("rank 9: cannot reach rank 0"), std::string::npos);
}

TEST_F(Meeting, RandomBytesAreRefused) {
  const NodeHello good = hello_of(1, card());
  Prng random(3);
  for (int i = 0; i < 100; ++i) {
    std::byte raw[sizeof good];
    std::memcpy(raw, &good, sizeof raw);
    // Somewhere in the magic number or the secret.
    raw[random.below(2) == 0 ? random.below(4) : 16 + random.below(16)] ^= std::byte{0x40};
    const Fd socket = connect_to(card());
    say(socket, raw, 1 + random.below(sizeof raw));
  }
  const std::string text = failure({1}, kSoon);
  EXPECT_NE(text.find("1 of 1 ranks"), std::string::npos) << text;
  EXPECT_EQ(leader_.refused(), 100u);
  EXPECT_NE(text.find("100 other connections"), std::string::npos) << text;
}

TEST_F(Meeting, AnotherUserIsRefusedOnBothSides) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const NodeHello hello = hello_of(1, card());
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    // Calls with the right secret, and must be told that this leader is not its user's.
    const bool changed =
        ::setresgid(65534, 65534, 65534) == 0 && ::setresuid(65534, 65534, 65534) == 0;
    const auto socket = call_leader(card(), hello, kLong);
    const bool told = !socket.ok() && socket.error().text.find("another user") != std::string::npos;
    const Fd insists = connect_to(card());
    (void)::send(insists.get(), &hello, sizeof hello, MSG_NOSIGNAL);
    char nothing = 0;
    ::_exit(changed && told && ::recv(insists.get(), &nothing, 1, 0) <= 0 ? 0 : 1);
  }
  int status = -1;
  auto real = std::async(std::launch::async, [&] {
    EXPECT_EQ(::waitpid(stranger, &status, 0), stranger);
    return member(1);
  });
  const auto members = leader_.gather({1}, kLong);
  const Fd socket = real.get();
  // Expect: both sides refused, and rank 1 is this process
  EXPECT_EQ(status, 0);
  EXPECT_EQ(leader_.refused(), 2u);
  ASSERT_TRUE(members.ok()) << members.error().text;
  EXPECT_EQ(members.value()[0].pid, ::getpid());
}

TEST(CallLeader, NobodyThereIsAnErrorAtOnce) {
  std::optional<NodeLeader> leader(std::move(NodeLeader::listen(3, "job", "host").value()));
  const NodeCard card = leader->card();
  leader.reset();
  const auto socket = call_leader(card, hello_of(4, card), kLong);
  ASSERT_FALSE(socket.ok());
  EXPECT_NE(socket.error().text.find("rank 4: cannot reach rank 3"), std::string::npos);
}

TEST(NodeCards, SurviveTheTripAndRefuseNonsense) {
  const NodeCard card = NodeLeader::listen(3, std::string(500, 'j'), "a host").value().card();
  const auto bytes = std::as_bytes(std::span(&card, 1));
  ASSERT_TRUE(parse_card(bytes).ok());
  EXPECT_EQ(parse_card(bytes).value().secret, card.secret);
  EXPECT_STREQ(parse_card(bytes).value().host, "a host");
  Prng random(5);
  for (int i = 0; i < 20000; ++i) {
    std::byte raw[sizeof card];
    std::memcpy(raw, &card, sizeof raw);
    for (int flips = 0; flips < 3; ++flips) {
      raw[random.below(sizeof raw)] = static_cast<std::byte>(random.next());
    }
    const auto parsed = parse_card({raw, random.below(sizeof raw + 1)});
    if (!parsed.ok()) continue;
    // Expect: what passes has ends to its texts
    ASSERT_TRUE(get_text(parsed.value().socket, "").ok());
    ASSERT_TRUE(get_text(parsed.value().host, "").ok());
  }
}

TEST(RankList, Ranges) {
  EXPECT_EQ(rank_list({}), "");
  EXPECT_EQ(rank_list(Ranks{3}), "3");
  EXPECT_EQ(rank_list(Ranks{0, 2, 3, 4, 9}), "0, 2-4, 9");
}

}  // namespace
}  // namespace fairlead::run
