#include "fairlead/run/wire/bootstrap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "fairlead/base/prng.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

Welcome sample(std::uint32_t rank = 3) {
  WorldOptions options;
  options.ranks = 8;
  options.seed = 42;
  options.lci = "direct";
  options.trace_path = "/tmp/trace.json";
  const auto job = fabric::ShmJob::create({.ranks = 8});
  return make_welcome(options, {WorldKind::shm, -1, job.value()->nonce(), job.value()->epoch(), {}},
                      wait_plan_oversubscribed(), rank);
}

std::span<const std::byte> bytes_of(const Welcome& welcome) {
  return std::as_bytes(std::span(&welcome, 1));
}

TEST(WelcomeMessage, SurvivesTheTrip) {
  const auto parsed = parse_welcome(bytes_of(sample()));
  ASSERT_TRUE(parsed.ok()) << parsed.error().text;
  // Expect: what was put in
  EXPECT_EQ(parsed.value().head.rank, 3u);
  EXPECT_EQ(parsed.value().ranks, 8u);
  EXPECT_EQ(parsed.value().seed, 42u);
  EXPECT_EQ(get_text(parsed.value().lci, "").value(), "direct");
  EXPECT_EQ(get_text(parsed.value().trace_path, "").value(), "/tmp/trace.json");
  EXPECT_EQ(wait_plan_of(parsed.value()).spins, 0u);
}

TEST(WelcomeMessage, RefusesAnotherVersionWithTheWayOut) {
  Welcome welcome = sample();
  welcome.head.version = kBootstrapVersion + 1;
  const auto parsed = parse_welcome(bytes_of(welcome));
  // Expect: both versions and what to do
  ASSERT_FALSE(parsed.ok());
  const std::string ours = "version " + std::to_string(kBootstrapVersion);
  EXPECT_NE(parsed.error().text.find(ours), std::string::npos);
  EXPECT_NE(parsed.error().text.find("one installation"), std::string::npos);
}

TEST(WelcomeMessage, RefusesWhatCannotBe) {
  const auto refused = [](auto change) {
    Welcome welcome = sample();
    change(welcome);
    return !parse_welcome(bytes_of(welcome)).ok();
  };
  // Expect: each of these is refused, the unchanged one is not
  EXPECT_FALSE(refused([](Welcome&) {}));
  EXPECT_TRUE(refused([](Welcome& w) { w.head.magic ^= 1; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.head.kind = 2; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.head.bytes -= 1; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.head.rank = 8; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.ranks = 0; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.near_count = w.ranks + 1; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.near_first = w.head.rank + 1, w.near_count = 1; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.near_first = UINT32_MAX, w.near_count = 2; }));
  EXPECT_FALSE(refused([](Welcome& w) { w.near_first = w.head.rank, w.near_count = 1; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.ranks = 1u << 30; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.world = 77; }));
  EXPECT_TRUE(refused([](Welcome& w) { w.wait_sleep_ps = -1; }));
  EXPECT_TRUE(refused([](Welcome& w) { std::memset(w.lci, 'x', sizeof w.lci); }));
}

TEST(WelcomeMessage, RandomBytesNeverPassUnchecked) {
  const Welcome good = sample();
  Prng random(7);
  for (int i = 0; i < 20000; ++i) {
    Welcome bad = good;
    std::byte raw[sizeof bad];
    std::memcpy(raw, &bad, sizeof raw);
    for (int flips = 0; flips < 3; ++flips) {
      raw[random.below(sizeof raw)] = static_cast<std::byte>(random.next());
    }
    const auto parsed = parse_welcome({raw, random.below(sizeof raw + 1)});
    if (!parsed.ok()) continue;
    // Expect: what passes is within its bounds
    ASSERT_LT(parsed.value().head.rank, parsed.value().ranks);
    ASSERT_TRUE(get_text(parsed.value().faults, "").ok());
  }
}

TEST(OtherMessages, AreCheckedToo) {
  auto note = make_message<AbortNote>(1);
  EXPECT_TRUE(parse_abort(std::as_bytes(std::span(&note, 1))).ok());
  std::memset(note.reason, 'x', sizeof note.reason);
  // Expect: a reason without an end is refused
  EXPECT_FALSE(parse_abort(std::as_bytes(std::span(&note, 1))).ok());
  auto signal = make_message<SignalNote>(0);
  // Expect: signal 0 and signal 1000 do not exist
  EXPECT_FALSE(parse_signal(std::as_bytes(std::span(&signal, 1))).ok());
  signal.number = 1000;
  EXPECT_FALSE(parse_signal(std::as_bytes(std::span(&signal, 1))).ok());
  signal.number = 15;
  EXPECT_TRUE(parse_signal(std::as_bytes(std::span(&signal, 1))).ok());
}

TEST(BootstrapText, RoundTripAndNonsense) {
  const auto place = parse_bootstrap(bootstrap_text({7, 1234567, 31}));
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place.value().fd, 7);
  EXPECT_EQ(place.value().inode, 1234567u);
  EXPECT_EQ(place.value().rank, 31u);
  for (const char* text : {"", "7", "7:1", "7:1:", "7:1:2:3", "-1:1:2", "a:b:c", "7:1:2 "}) {
    // Expect: refused, with the variable's name
    const auto refused = parse_bootstrap(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_NE(refused.error().text.find(kBootstrapVariable), std::string::npos);
  }
}

class Handshake : public testing::Test {
 protected:
  Handshake() : pair_(std::move(socket_pair().value())) {
    place_ = {pair_.theirs.get(), socket_inode(pair_.theirs.get()).value(), 3};
  }
  void send() {
    const Fd a(::open("/dev/null", O_RDONLY)), b(::open("/dev/null", O_RDONLY)),
        c(::open("/dev/null", O_RDONLY));
    const std::array descriptors{a.get(), b.get(), c.get()};
    ASSERT_TRUE(send_welcome(pair_.ours.get(), sample(), descriptors).ok());
  }
  SocketPair pair_;
  BootstrapPlace place_;
};

TEST_F(Handshake, TheFirstProgramGetsTheMessageAndItsDescriptors) {
  send();
  const int again = ::fcntl(pair_.theirs.get(), F_DUPFD_CLOEXEC, 0);
  (void)pair_.theirs.release();
  auto joined = receive_welcome(place_);
  ASSERT_TRUE(joined.ok()) << joined.error().text;
  // Expect: three open descriptors that close at exec
  for (const Fd* fd : {&joined.value().job, &joined.value().board, &joined.value().life}) {
    EXPECT_EQ(::fcntl(fd->get(), F_GETFD), FD_CLOEXEC);
  }
  // Expect: a second program of the rank is told that it came late
  place_.fd = again;
  const auto late = receive_welcome(place_);
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().text.find("joined already"), std::string::npos);
  EXPECT_NE(late.error().text.find("rank 3"), std::string::npos);
}

TEST_F(Handshake, AnotherDescriptorUnderTheNumberIsLeftAlone) {
  send();
  SocketPair other = std::move(socket_pair().value());
  const std::uint32_t canary = 5;
  ASSERT_EQ(::write(other.ours.get(), &canary, sizeof canary), 4);
  place_.fd = other.theirs.get();
  const auto refused = receive_welcome(place_);
  // Expect: refused, and the stranger's message is still there
  ASSERT_FALSE(refused.ok());
  std::uint32_t seen = 0;
  EXPECT_EQ(::read(other.theirs.get(), &seen, sizeof seen), 4);
  EXPECT_EQ(seen, 5u);
}

}  // namespace
}  // namespace fairlead::run
