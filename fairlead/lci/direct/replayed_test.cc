// Somebody between the endpoints sends every genuine datagram on to all the others too, and again
// to its own: what programs see stays as it was.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "fairlead/fabric/udp/udp_address.h"
#include "fairlead/lci/direct/direct_port_fixture.h"

namespace fairlead::lci {
namespace {

// A socket for each endpoint, which the others take for it.
class Repeater {
 public:
  explicit Repeater(const std::vector<fabric::UdpAddress>& endpoints) {
    for (const fabric::UdpAddress& endpoint : endpoints) {
      to_.push_back(fabric::socket_address(endpoint));
      fabric::SocketAddress own{};
      own.v4.sin_family = AF_INET;
      own.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      Fd& fd = sockets_.emplace_back(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(::bind(fd.get(), &own.any, address_bytes(own)), 0);
      socklen_t size = sizeof own;
      ::getsockname(fd.get(), &own.any, &size);
      addresses.push_back(fabric::udp_address(own));
    }
    thread_ = std::thread([this] { run(); });
  }
  ~Repeater() { stop(); }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Repeater(const Repeater&) = delete;
  Repeater& operator=(const Repeater&) = delete;

  std::vector<fabric::UdpAddress> addresses;
  std::atomic<std::uint64_t> astray{0};  // sent to others than they were for

 private:
  void run() {
    std::vector<pollfd> ready;
    for (const Fd& fd : sockets_) ready.push_back({fd.get(), POLLIN, 0});
    std::vector<std::byte> bytes(65536);
    while (!stop_) {
      if (::poll(ready.data(), ready.size(), 5) <= 0) continue;
      for (std::size_t i = 0; i < ready.size(); ++i) {
        if ((ready[i].revents & POLLIN) != 0) repeat(i, bytes);
      }
    }
  }
  void repeat(std::size_t meant, std::vector<std::byte>& bytes) {
    const ssize_t got = ::recv(sockets_[meant].get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) return;
    const auto send = [&](std::size_t peer) {
      (void)::sendto(sockets_[meant].get(), bytes.data(), static_cast<std::size_t>(got),
                     MSG_DONTWAIT, &to_[peer].any, address_bytes(to_[peer]));
    };
    // The others first: who believed it would have it before what is its own.
    for (std::size_t peer = 0; peer < to_.size(); ++peer) {
      if (peer == meant) continue;
      send(peer);
      ++astray;
    }
    send(meant);
    send(meant);
    // And once more when it is old.
    if (++count_ % 7 == 0) {
      old_.assign(bytes.begin(), bytes.begin() + got);
      old_to_ = meant;
    } else if (!old_.empty() && count_ % 7 == 6) {
      (void)::sendto(sockets_[old_to_].get(), old_.data(), old_.size(), MSG_DONTWAIT,
                     &to_[old_to_].any, address_bytes(to_[old_to_]));
    }
  }

  std::vector<Fd> sockets_;
  std::vector<fabric::SocketAddress> to_;
  std::vector<std::byte> old_;
  std::size_t old_to_ = 0;
  std::uint64_t count_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class ReplayedTest : public DirectPortTest {
 protected:
  static constexpr Rank kRanks = 3;
  static std::vector<std::byte> message(Rank from, Rank to, std::uint32_t number) {
    const std::size_t size = number % 3 == 0 ? 8 : 40 + number * 7;
    return pattern(size, from * 1'000'000 + to * 10'000 + number);
  }
  Post send(Rank from, Rank to, std::uint32_t number) {
    Packet* const packet = port(from).alloc({to}, Lane::request, 2000, kNoBlock);
    if (packet == nullptr) return Post::again_buffer;
    const auto data = message(from, to, number);
    std::memcpy(port(from).body(packet).data(), data.data(), data.size());
    const Words words{number, 0, 0, 0};
    const Post sent = port(from).send(packet, 1, words, data.size(), {}, nullptr, kNoBlock);
    if (sent != Post::done) port(from).release(packet);
    return sent;
  }
};

TEST_P(ReplayedTest, ProgramsSeeEachMessageOnceAndNoneOfOthers) {
  start(kRanks);
  // Nobody has sent yet, and so asked for an address.
  Repeater repeater(addresses_);
  addresses_ = repeater.addresses;
  constexpr std::uint32_t kMessages = 150;
  constexpr std::size_t kLong = 200'000;
  Inbox boxes[kRanks];
  std::vector<std::byte> memory[kRanks];
  for (Rank r = 0; r < kRanks; ++r) {
    port(r).bind(1, boxes[r].upcall(), {});
    memory[r].resize(kLong);
    ASSERT_EQ(port(r).expose(5, memory[r].data(), kLong, kRead | kWrite, nullptr, {}), Post::done);
  }
  // Everybody to everybody, and rank 0 puts long data to rank 1 meanwhile, again and again.
  std::uint32_t sent[kRanks][kRanks] = {};
  std::uint32_t puts = 0;
  std::vector<std::byte> source;
  Counter done;
  Counter fenced;
  const auto all_sent = [&] {
    bool all = puts == 6 && fenced.ok + fenced.failed == puts;
    if (puts < 6 && fenced.ok + fenced.failed == puts) {
      source = pattern(kLong, ++puts);
      const PutPiece piece{0, source.data(), kLong};
      (void)port(0).put({1}, 5, {&piece, 1}, &done, kNoCounter, kNoFlags);
      (void)port(0).fence({1}, &fenced);
    }
    for (Rank from = 0; from < kRanks; ++from) {
      for (Rank to = 0; to < kRanks; ++to) {
        std::uint32_t& number = sent[from][to];
        if (from == to || number == kMessages) continue;
        all = false;
        if (send(from, to, number) == Post::done) ++number;
      }
    }
    return all;
  };
  EXPECT_TRUE(until(all_sent));
  const auto all_came = [&] {
    return std::all_of(boxes, boxes + kRanks, [](const Inbox& box) {
      return box.items.size() >= kMessages * (kRanks - 1);
    });
  };
  EXPECT_TRUE(until(all_came));
  // What is still on its way.
  for (int i = 0; i < 200; ++i) poll_all();
  // Expect: each message once, in order and whole, of each pair
  for (Rank to = 0; to < kRanks; ++to) {
    EXPECT_EQ(boxes[to].items.size(), kMessages * (kRanks - 1));
    std::uint32_t next[kRanks] = {};
    for (const Inbox::Item& item : boxes[to].items) {
      ASSERT_LT(item.source, kRanks);
      ASSERT_EQ(item.word0, next[item.source]++);
      ASSERT_EQ(item.data, message(item.source, to, item.word0));
    }
  }
  // Expect: the last put is at its target, whole, and at nobody else
  EXPECT_EQ(fenced.failed, 0u);
  EXPECT_EQ(memory[1], source);
  EXPECT_EQ(memory[2], std::vector<std::byte>(kLong));
  EXPECT_EQ(memory[0], std::vector<std::byte>(kLong));
  // Expect: what went astray was dropped unread, as far as it found room, and counted
  repeater.stop();
  stop_engines();
  std::uint64_t foreign = 0;
  for (const auto& nic : nics_) foreign += nic->counters().foreign_dropped;
  EXPECT_GT(foreign, repeater.astray / 2);
  EXPECT_LE(foreign, repeater.astray);
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics, ReplayedTest,
    ::testing::Values(Way{"hrx_header", On::udp, false, true, "", fabric::Auth::header},
                      Way{"hrx_full", On::udp, false, true, "", fabric::Auth::full},
                      Way{"hrx_encrypt", On::udp, false, true, "", fabric::Auth::encrypt},
                      Way{"nirx_header", On::engines, false, true, nullptr, fabric::Auth::header},
                      Way{"nirx_full", On::engines, false, true, nullptr, fabric::Auth::full},
                      Way{"nirx_encrypt", On::engines, false, true, nullptr,
                          fabric::Auth::encrypt}),
    way_name);

}  // namespace
}  // namespace fairlead::lci
