#include "fairlead/fabric/ofi/ofi_nic.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fairlead/base/test_pattern.h"
#include "fairlead/base/wait_ladder.h"

namespace fairlead::fabric {
namespace {

constexpr Ps kLongest = seconds(5);

PacketHeader header_of(Peer source, std::uint32_t lane, std::uint32_t word, std::size_t size) {
  PacketHeader header{};
  header.client.lane = static_cast<std::uint8_t>(lane);
  header.client.source = source;
  header.client.size = static_cast<std::uint32_t>(size);
  header.client.words[3] = word;
  return header;
}

// Endpoints of one job on this machine, and what each received.
class OfiTest : public testing::TestWithParam<const char*> {
 protected:
  struct Got {
    PacketHeader header;
    std::vector<std::byte> payload;
    std::span<const std::byte> place;
    std::uint64_t token;
  };
  struct Side {
    OfiTest* test = nullptr;
    std::unique_ptr<OfiNic> nic{};
    std::vector<Got> got{};
    std::vector<Peer> lost{};
    std::vector<std::string> causes{};
    std::vector<std::pair<std::uint64_t, Post>> copied{};  // tokens and results
    bool keep = false;
  };

  void SetUp() override {
    if (const auto here = ofi_providers(GetParam(), "127.0.0.1"); !here.ok()) {
      GTEST_SKIP() << here.error().text;
    }
    for (Peer peer = 0; peer < sides_.size(); ++peer) open(peer, 0x1234'5678'9abc'def0u);
  }
  void open(Peer peer, std::uint64_t secret) {
    OfiOptions options;
    options.self = peer;
    options.peers = static_cast<Peer>(sides_.size());
    options.secret = secret;
    options.provider = GetParam();
    options.address = "127.0.0.1";
    options.find_context = this;
    options.find = [](void* self, Peer whose, OfiAddress* address) {
      const auto& nic = static_cast<OfiTest*>(self)->sides_[whose].nic;
      if (nic == nullptr) return false;
      *address = nic->address();
      return true;
    };
    options.deaths = {
        &deaths_,
        [](void* self, Peer whose) { return static_cast<Side*>(self)->test->dead_[whose]; },
        &sides_[peer]};
    options.left = [](void* self, Peer whose) {
      return static_cast<Side*>(self)->test->left_[whose];
    };
    options.explain = [](void* self, Peer, const std::string& cause) {
      static_cast<Side*>(self)->causes.push_back(cause);
    };
    Side& side = sides_[peer];
    side.test = this;
    options.context = &side;
    auto nic = open_ofi(options);
    ASSERT_TRUE(nic.ok()) << nic.error().text;
    side.nic = std::move(nic.value());
    Sink sink{&OfiTest::on_arrived, &OfiTest::on_lost, &side};
    sink.copied = [](void* self, std::uint64_t token, Post result) {
      static_cast<Side*>(self)->copied.emplace_back(token, result);
    };
    side.nic->attach(sink);
  }
  static Keep on_arrived(void* self, const Incoming& in) {
    auto& side = *static_cast<Side*>(self);
    side.got.push_back({*in.header, {in.payload.begin(), in.payload.end()}, in.payload, in.token});
    return side.keep && in.keepable ? Keep::yes : Keep::no;
  }
  static void on_lost(void* self, Peer peer) { static_cast<Side*>(self)->lost.push_back(peer); }

  void reap_all() {
    for (Side& side : sides_) {
      if (side.nic != nullptr) side.nic->reap(64, kAllLanes);
    }
  }
  template <class Condition>
  bool until(Condition&& condition) {
    const std::int64_t give_up = monotonic_ns() + kLongest.count / 1000;
    while (!condition()) {
      if (monotonic_ns() > give_up) return false;
      reap_all();
    }
    return true;
  }
  Post send(Peer from, Peer to, std::uint32_t lane, std::uint32_t word,
            const std::vector<std::byte>& data) {
    const Piece piece{data.data(), data.size()};
    return sides_[from].nic->post(to, header_of(from, lane, word, data.size()), {&piece, 1});
  }
  // Until there is room.
  void push(Peer from, Peer to, std::uint32_t lane, std::uint32_t word,
            const std::vector<std::byte>& data) {
    Post answer = Post::invalid;
    ASSERT_TRUE(until([&] {
      answer = send(from, to, lane, word, data);
      return answer == Post::done;
    })) << "answer "
        << static_cast<int>(answer);
  }

  std::atomic<std::uint32_t> deaths_{0};
  std::array<bool, 3> dead_{};
  std::array<bool, 3> left_{};
  std::array<Side, 3> sides_;
};

TEST_P(OfiTest, PacketsOfEverySizeArriveWholeAndInOrder) {
  const std::uint32_t mtu = sides_[0].nic->caps(1).mtu_bytes;
  const std::vector<std::size_t> sizes = {0, 1, 8, 16, 100, 1400, 4096, 9000, mtu - 1, mtu};
  for (std::uint32_t i = 0; i < sizes.size(); ++i) push(0, 1, i % kLanes, i, pattern(sizes[i], i));
  auto& got = sides_[1].got;
  ASSERT_TRUE(until([&] { return got.size() == sizes.size(); })) << got.size();
  for (std::uint32_t i = 0; i < sizes.size(); ++i) {
    // Expect: the client's header and the payload as they were sent, nothing else of the header
    EXPECT_EQ(got[i].header.client.words[3], i);
    EXPECT_EQ(got[i].header.client.source, 0u);
    EXPECT_EQ(got[i].header.client.lane, i % kLanes);
    EXPECT_EQ(got[i].header.client.stamp, 0u);
    EXPECT_EQ(got[i].header.sequence, 0u);
    EXPECT_EQ(got[i].header.job, 0u);
    EXPECT_EQ(got[i].payload, pattern(sizes[i], i));
  }
  EXPECT_EQ(send(0, 1, 0, 0, pattern(mtu + 1, 1)), Post::invalid);
  EXPECT_EQ(send(0, 3, 0, 0, {}), Post::invalid);
  EXPECT_EQ(send(0, 1, kLanes, 0, {}), Post::invalid);
}

TEST_P(OfiTest, ManyPacketsOfManyPeersKeepTheirOrder) {
  constexpr std::uint32_t kEach = 3000;
  for (std::uint32_t i = 0; i < kEach; ++i) {
    for (const Peer from : {0u, 1u}) push(from, 2, i % kLanes, i, pattern(i % 300, i));
  }
  auto& got = sides_[2].got;
  ASSERT_TRUE(until([&] { return got.size() == 2 * kEach; })) << got.size();
  std::array<std::array<std::uint32_t, kLanes>, 2> next{};
  for (auto& lanes : next) lanes = {0, 1, 2};
  for (const Got& one : got) {
    const ClientHeader& client = one.header.client;
    ASSERT_EQ(client.words[3], next[client.source][client.lane]);
    next[client.source][client.lane] += kLanes;
    ASSERT_EQ(one.payload, pattern(client.words[3] % 300, client.words[3]));
  }
  EXPECT_EQ(sides_[2].nic->counters().corrupt_dropped, 0u);
  EXPECT_EQ(sides_[2].nic->counters().foreign_dropped, 0u);
}

TEST_P(OfiTest, RepliesDrainWhileRequestsAreNotTaken) {
  // Requests until there is no room, at a receiver that takes replies only.
  std::uint32_t requests = 0;
  const std::vector<std::byte> data = pattern(2000, 1);
  const auto reap_replies = [this] {
    sides_[0].nic->reap(64, kAllLanes);
    sides_[1].nic->reap(64, kAllLanes & ~1u);
  };
  for (int fruitless = 0; fruitless < 1000;) {
    const bool went = send(0, 1, 0, requests, data) == Post::done;
    requests += went ? 1 : 0;
    fruitless += went ? 0 : 1;
    reap_replies();
  }
  // Expect: a bounded number went, none was delivered, and replies still pass
  EXPECT_GT(requests, 16u);
  EXPECT_LT(requests, 1000u);
  EXPECT_TRUE(sides_[1].got.empty());
  for (std::uint32_t i = 0; i < 500; ++i) {
    for (int turn = 0; turn < 100'000 && send(0, 1, 1, i, data) != Post::done; ++turn) {
      reap_replies();
    }
  }
  for (int turn = 0; turn < 100'000 && sides_[1].got.size() < 500; ++turn) reap_replies();
  ASSERT_EQ(sides_[1].got.size(), 500u);
  // Expect: the requests come when they may, in order
  sides_[1].got.clear();
  ASSERT_TRUE(until([&] { return sides_[1].got.size() == requests; }));
  for (std::uint32_t i = 0; i < requests; ++i) {
    ASSERT_EQ(sides_[1].got[i].header.client.words[3], i);
    ASSERT_EQ(sides_[1].got[i].payload, data);
  }
}

TEST_P(OfiTest, KeptPacketsStayWhereTheyAre) {
  Side& side = sides_[1];
  side.keep = true;
  constexpr std::uint32_t kKept = 40;
  for (std::uint32_t i = 0; i < kKept; ++i) push(0, 1, 0, i, pattern(1000, i));
  ASSERT_TRUE(until([&] { return side.got.size() == kKept; }));
  side.keep = false;
  for (std::uint32_t i = 0; i < 500; ++i) push(0, 1, 0, i, pattern(1000, 7));
  ASSERT_TRUE(until([&] { return side.got.size() == kKept + 500; }));
  for (std::uint32_t i = 0; i < kKept; ++i) {
    EXPECT_TRUE(
        std::equal(side.got[i].place.begin(), side.got[i].place.end(), pattern(1000, i).begin()));
    side.nic->release(side.got[i].token);
  }
}

TEST_P(OfiTest, BuffersOfTheFabricAreSentInPlace) {
  std::byte* buffer = nullptr;
  const std::vector<std::byte> data = pattern(5000, 3);
  for (std::uint32_t i = 0; i < 600; ++i) {
    ASSERT_TRUE(until([&] { return (buffer = sides_[0].nic->buffer(2, 5000)) != nullptr; }));
    std::copy(data.begin(), data.end(), buffer);
    ASSERT_TRUE(until([&] {
      return sides_[0].nic->post_buffer(2, header_of(0, 0, i, 5000), buffer) == Post::done;
    }));
  }
  auto& got = sides_[2].got;
  ASSERT_TRUE(until([&] { return got.size() == 600; }));
  for (const Got& one : got) ASSERT_EQ(one.payload, data);
  // Expect: handed out until there is none, and again when given back
  std::vector<std::byte*> all;
  while (std::byte* one = sides_[0].nic->buffer(1, 1)) all.push_back(one);
  EXPECT_GT(all.size(), 100u);
  for (std::byte* one : all) sides_[0].nic->cancel_buffer(1, one);
  EXPECT_NE(sides_[0].nic->buffer(1, 1), nullptr);
}

TEST_P(OfiTest, SettledOnlyWhenThePeersHaveEverything) {
  EXPECT_TRUE(sides_[0].nic->settled());
  push(0, 1, 0, 1, pattern(100, 1));
  // Expect: not before the peer has polled
  for (int i = 0; i < 100; ++i) sides_[0].nic->reap(64, kAllLanes);
  EXPECT_FALSE(sides_[0].nic->settled());
  EXPECT_TRUE(until([&] { return sides_[0].nic->settled(); }));
  EXPECT_EQ(sides_[1].got.size(), 1u);
  EXPECT_TRUE(until([&] { return sides_[1].nic->settled(); }));
  // Expect: one that has left is not waited for
  push(0, 1, 0, 1, pattern(100, 1));
  left_[1] = true;
  sides_[1].nic.reset();
  EXPECT_TRUE(until([&] { return sides_[0].nic->settled(); }));
  EXPECT_TRUE(sides_[0].lost.empty());
}

TEST_P(OfiTest, WhatWaitedForAPeerThatHasLeftIsForgotten) {
  // Where it takes the peer's help to connect, this has no room with the provider yet.
  ASSERT_EQ(send(0, 2, 0, 1, pattern(100, 1)), Post::done);
  ASSERT_EQ(send(0, 2, 0, 2, pattern(100, 1)), Post::done);
  left_[2] = true;
  const std::int64_t give_up = monotonic_ns() + kLongest.count / 1000;
  bool settled = false;
  while (!settled && monotonic_ns() < give_up) {
    sides_[0].nic->reap(64, kAllLanes);
    settled = sides_[0].nic->settled();
  }
  EXPECT_TRUE(settled);
  EXPECT_TRUE(sides_[0].lost.empty());
}

TEST_P(OfiTest, PacketsOfAnotherJobAreDroppedAndCounted) {
  push(0, 1, 0, 1, pattern(100, 1));
  ASSERT_TRUE(until([&] { return sides_[1].got.size() == 1; }));
  sides_[2].nic.reset();
  open(2, 0x1234'5678'0000'0000u);
  push(2, 1, 0, 1, pattern(100, 1));
  // Expect: the stranger's is counted, what is ours still comes
  EXPECT_TRUE(until([&] { return sides_[1].nic->counters().foreign_dropped == 1; }));
  push(0, 1, 0, 2, pattern(100, 1));
  ASSERT_TRUE(until([&] { return sides_[1].got.size() == 2; }));
  EXPECT_EQ(sides_[1].got[1].header.client.source, 0u);
}

TEST_P(OfiTest, ADeadPeerIsToldOnceAndRefused) {
  push(1, 0, 0, 1, pattern(100, 1));
  ASSERT_TRUE(until([&] { return sides_[0].got.size() == 1; }));
  dead_[1] = true;
  ++deaths_;
  EXPECT_TRUE(until([&] { return !sides_[0].lost.empty(); }));
  for (int i = 0; i < 100; ++i) reap_all();
  EXPECT_EQ(sides_[0].lost, std::vector<Peer>{1});
  EXPECT_EQ(send(0, 1, 0, 0, {}), Post::peer_down);
  EXPECT_EQ(send(0, 2, 0, 0, {}), Post::done);
}

TEST_P(OfiTest, APeerThatVanishedIsLostWithTheProvidersReason) {
  if (std::string(GetParam()) == "shm") GTEST_SKIP() << "shared memory does not notice";
  push(0, 1, 0, 1, pattern(100, 1));
  ASSERT_TRUE(until([&] { return sides_[1].got.size() == 1; }));
  sides_[1].nic.reset();
  // Expect: sending on finds it gone, once, and says why
  EXPECT_TRUE(until([&] {
    (void)send(0, 1, 0, 0, pattern(10'000, 1));
    return !sides_[0].lost.empty();
  }));
  EXPECT_EQ(sides_[0].lost, std::vector<Peer>{1});
  ASSERT_EQ(sides_[0].causes.size(), 1u);
  EXPECT_NE(sides_[0].causes[0], "");
  EXPECT_EQ(send(0, 1, 0, 0, {}), Post::peer_down);
}

// What a killed process with this one's number left, by the shm provider's own names.
TEST_P(OfiTest, FilesOfAKilledProcessAreNotInTheWay) {
  if (std::string(GetParam()) != "shm") GTEST_SKIP() << "no files";
  std::vector<std::string> left;
  for (int domain = 0; domain < 64; ++domain) {
    for (int endpoint = 0; endpoint < 4; ++endpoint) {
      std::string path = fmt::format("/dev/shm/{}:{}:{}", ::getpid(), domain, endpoint);
      const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
      if (fd < 0) continue;
      ::close(fd);
      left.push_back(std::move(path));
    }
  }
  sides_[1].nic.reset();
  open(1, 0x1234'5678'9abc'def0u);
  for (const std::string& path : left) ::unlink(path.c_str());
  ASSERT_NE(sides_[1].nic, nullptr);
  push(0, 1, 0, 1, pattern(100, 1));
  EXPECT_TRUE(until([&] { return sides_[1].got.size() == 1; }));
}

TEST_P(OfiTest, SleepEndsWhenAPacketComes) {
  push(0, 1, 0, 1, pattern(100, 1));
  ASSERT_TRUE(until([&] { return sides_[1].got.size() == 1; }));
  const std::int64_t begin = monotonic_ns();
  for (int i = 0; i < 20; ++i) sides_[1].nic->sleep(milliseconds(1));
  // Expect: it does sleep, and not for ever
  EXPECT_GE(sides_[1].nic->counters().sleeps, 20u);
  push(0, 1, 0, 2, pattern(100, 1));
  ASSERT_TRUE(until([&] {
    sides_[1].nic->sleep(milliseconds(20));
    return sides_[1].got.size() == 2;
  }));
  EXPECT_LT(monotonic_ns() - begin, kLongest.count / 1000);
}

TEST_P(OfiTest, CopiesReadAndWriteRegisteredMemoryAndNothingElse) {
  if ((sides_[0].nic->caps(1).flags & kRemoteMemory) == 0) GTEST_SKIP() << "no remote memory";
  constexpr std::size_t kSize = 300'000;
  const std::vector<std::byte> before = pattern(3 * kSize, 1);
  std::vector<std::byte> memory = before;
  const auto part = std::span(memory).subspan(kSize, kSize);
  auto key = sides_[1].nic->register_memory(part, true, true);
  ASSERT_TRUE(key.has_value());
  const auto copy = [&](RemoteCopy::What what, RemoteKey by, std::uint64_t offset,
                        std::vector<std::byte>& local, std::size_t size, std::uint64_t token) {
    const RemoteCopy wanted{what, 1, by, offset, local.data(), size, token};
    auto& copied = sides_[0].copied;
    copied.clear();
    Post answer = Post::invalid;
    if (!until([&] {
          answer = sides_[0].nic->copy_remote(wanted);
          return answer != Post::again_credit && answer != Post::again_buffer;
        }) ||
        answer != Post::done) {
      return answer;
    }
    if (!until([&] { return !copied.empty(); })) return Post::again_credit;
    EXPECT_EQ(copied.size(), 1u);
    EXPECT_EQ(copied.front().first, token);
    return copied.front().second;
  };
  std::vector<std::byte> local(kSize);
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, kSize}) {
    EXPECT_EQ(copy(RemoteCopy::What::read, *key, kSize - size, local, size, size), Post::done);
    EXPECT_TRUE(std::equal(local.begin(), local.begin() + static_cast<std::ptrdiff_t>(size),
                           part.end() - static_cast<std::ptrdiff_t>(size)));
  }
  std::vector<std::byte> data = pattern(kSize, 2);
  EXPECT_EQ(copy(RemoteCopy::What::write, *key, 0, data, kSize, 77), Post::done);
  // Expect: it is there when the copy has ended, and beside it all is as it was
  EXPECT_TRUE(std::equal(data.begin(), data.end(), part.begin()));
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + kSize, memory.begin()));
  EXPECT_TRUE(std::equal(before.begin() + 2 * kSize, before.end(), memory.begin() + 2 * kSize));
  // Expect: keys are not numbered; two of the same memory have nothing in common
  const auto other = sides_[1].nic->register_memory(part, true, false);
  ASSERT_TRUE(other.has_value());
  EXPECT_GT(other->key ^ key->key, std::uint64_t{0xffff});
  if (std::string(GetParam()) == "shm") return;  // it looks at no keys: the kernel's permissions
  // Expect: with a key that is no more nothing is changed, and the peer is lost at worst, named
  sides_[1].nic->forget_memory(*key);
  std::vector<std::byte> evil = pattern(kSize, 3);
  const Post result = copy(RemoteCopy::What::write, *key, 0, evil, kSize, 78);
  EXPECT_TRUE(result == Post::denied || result == Post::maybe_delivered)
      << static_cast<int>(result);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), part.begin()));
  EXPECT_EQ(sides_[0].lost.size(), result == Post::denied ? 0u : 1u);
  EXPECT_EQ(sides_[0].causes.size(), sides_[0].lost.size());
  for (const std::string& cause : sides_[0].causes) {
    EXPECT_NE(cause.find("a copy or an atomic on its memory failed"), std::string::npos) << cause;
  }
}

TEST_P(OfiTest, ChangesAreAtomicAndReachRegisteredWordsOnly) {
  if ((sides_[0].nic->caps(1).flags & kRemoteAtomics) == 0) {
    EXPECT_NE(sides_[0].nic->choice().find("atomics by packets: "), std::string::npos);
    GTEST_SKIP() << "no atomics";
  }
  EXPECT_NE(sides_[0].nic->choice().find("atomics are the provider's"), std::string::npos);
  alignas(64) std::array<std::uint64_t, 4> words{1, 2, 3, 4};
  const auto bytes = std::as_writable_bytes(std::span(words)).subspan(8, 16);
  const auto key = sides_[1].nic->register_memory(bytes, true, true);
  ASSERT_TRUE(key.has_value());
  using What = RemoteChange::What;
  std::uint64_t old = 0;
  const auto change = [&](What what, std::uint64_t offset, std::uint64_t a, std::uint64_t b) {
    auto& copied = sides_[0].copied;
    copied.clear();
    old = 0;
    Post answer = Post::invalid;
    if (!until([&] {
          answer = sides_[0].nic->change_remote({what, 1, *key, offset, a, b, &old, 5});
          return answer != Post::again_credit && answer != Post::again_buffer;
        }) ||
        answer != Post::done) {
      return answer;
    }
    if (!until([&] { return !copied.empty(); })) return Post::again_credit;
    EXPECT_EQ(copied.size(), 1u);
    EXPECT_EQ(copied.front().first, 5u);
    return copied.front().second;
  };
  EXPECT_EQ(change(What::add, 8, 40, 0), Post::done);
  EXPECT_EQ(old, 3u);
  EXPECT_EQ(change(What::compare_swap, 8, 43, 6), Post::done);
  EXPECT_EQ(old, 43u);
  EXPECT_EQ(change(What::swap, 0, 9, 0), Post::done);
  EXPECT_EQ(old, 2u);
  EXPECT_EQ(change(What::bit_or, 0, 6, 0), Post::done);
  EXPECT_EQ(change(What::bit_and, 0, 7, 0), Post::done);
  EXPECT_EQ(change(What::bit_xor, 0, 2, 0), Post::done);
  EXPECT_EQ(old, 7u);
  EXPECT_EQ(words, (std::array<std::uint64_t, 4>{1, 5, 6, 4}));
  // Expect: beyond what is registered, and with a key that is no more, nothing is changed; the peer
  // is lost at worst, named
  for (const std::uint64_t offset : {std::uint64_t{16}, std::uint64_t{0}}) {
    if (offset == 0) sides_[1].nic->forget_memory(*key);
    const Post result = change(What::add, offset, 100, 0);
    if (!sides_[0].lost.empty()) break;
    EXPECT_EQ(result, Post::denied) << offset;
    EXPECT_EQ(old, 0u);
  }
  EXPECT_EQ(words, (std::array<std::uint64_t, 4>{1, 5, 6, 4}));
  EXPECT_EQ(sides_[0].causes.size(), sides_[0].lost.size());
}

INSTANTIATE_TEST_SUITE_P(Providers, OfiTest, testing::Values("tcp", "shm"),
                         [](const auto& param) { return std::string(param.param); });

TEST(OfiProviders, AWrongNameListsThoseThereAre) {
  const auto all = ofi_providers("", "127.0.0.1");
  if (!all.ok()) GTEST_SKIP() << all.error().text;
  // Expect: the first is the choice, every other has its reason
  EXPECT_EQ(all.value().front().passed_over, "");
  for (std::size_t i = 1; i < all.value().size(); ++i) {
    EXPECT_NE(all.value()[i].passed_over, "") << all.value()[i].name;
  }
  const auto wrong = ofi_providers("smoke-signals", "127.0.0.1");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().text.find("no provider \"smoke-signals\""), std::string::npos);
  EXPECT_NE(wrong.error().text.find(all.value().front().name), std::string::npos);
  // Expect: an address nobody has is named
  const auto elsewhere = ofi_providers("", "203.0.113.9");
  // Providers without IP addresses are everywhere.
  EXPECT_TRUE(elsewhere.ok() || elsewhere.error().text.find("203.0.113.9") != std::string::npos);
}

}  // namespace
}  // namespace fairlead::fabric
