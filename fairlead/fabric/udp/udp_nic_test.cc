#include "fairlead/fabric/udp/udp_nic.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "fairlead/base/test_pattern.h"

namespace fairlead::fabric {
namespace {

PacketHeader header_of(Peer source, std::uint32_t sequence, std::size_t size) {
  PacketHeader header{};
  header.client.source = source;
  header.client.size = static_cast<std::uint32_t>(size);
  header.sequence = sequence;
  return header;
}

// Two endpoints on the loopback interface, and what the second one received.
class UdpTest : public testing::TestWithParam<Auth> {
 protected:
  void SetUp() override {
    UdpOptions& options = options_;
    options.peers = 2;
    options.key = {7, 7, 7};
    options.job = 99;
    options.auth = GetParam();
    options.find_context = this;
    options.find = [](void* self, Peer peer, UdpAddress* address) {
      const auto& nic = static_cast<UdpTest*>(self)->nics_[peer];
      if (nic == nullptr) return false;
      *address = nic->address();
      return true;
    };
    for (Peer peer = 0; peer < 2; ++peer) {
      options.self = peer;
      auto nic = open_udp(options);
      ASSERT_TRUE(nic.ok()) << nic.error().text;
      nics_[peer] = std::move(nic.value());
    }
    nics_[1]->attach({&UdpTest::on_arrived, nullptr, this});
  }
  static Keep on_arrived(void* self, const Incoming& in) {
    auto& test = *static_cast<UdpTest*>(self);
    test.headers_.push_back(*in.header);
    test.payloads_.emplace_back(in.payload.begin(), in.payload.end());
    test.kept_.push_back(in.payload);
    test.tokens_.push_back(in.token);
    return test.keep_ && in.keepable ? Keep::yes : Keep::no;
  }
  void reap_until(std::size_t count) {
    for (int i = 0; i < 100'000 && payloads_.size() < count; ++i) nics_[1]->reap(64, kAllLanes);
  }
  // Sends raw bytes to the second endpoint, as a stranger can.
  void send_raw(const std::vector<std::byte>& bytes) const {
    const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(nics_[1]->address().port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(
        ::sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
        static_cast<ssize_t>(bytes.size()));
    ::close(fd);
  }

  UdpOptions options_;
  std::unique_ptr<UdpNic> nics_[2];
  std::vector<PacketHeader> headers_;
  std::vector<std::vector<std::byte>> payloads_;
  std::vector<std::span<const std::byte>> kept_;
  std::vector<std::uint64_t> tokens_;
  bool keep_ = false;
};

TEST_P(UdpTest, PacketsOfEverySizeArriveWhole) {
  const std::uint32_t mtu = nics_[0]->caps(1).mtu_bytes;
  const std::size_t sizes[] = {0, 1, 8, 100, 1400, 9000, mtu - 1, mtu};
  std::uint32_t number = 0;
  for (const std::size_t size : sizes) {
    const auto data = pattern(size, number);
    const Piece halves[] = {{data.data(), size / 2}, {data.data() + size / 2, size - size / 2}};
    ASSERT_EQ(nics_[0]->post(1, header_of(0, number++, size), halves), Post::done);
    reap_until(number);
    ASSERT_EQ(payloads_.size(), number) << size;
    // Expect: header and payload as they were sent
    EXPECT_EQ(headers_.back().sequence, number - 1);
    EXPECT_EQ(headers_.back().client.source, 0u);
    EXPECT_EQ(payloads_.back(), data);
  }
  const auto data = pattern(mtu + 1, 1);
  const Piece piece{data.data(), data.size()};
  EXPECT_EQ(nics_[0]->post(1, header_of(0, 0, data.size()), {&piece, 1}), Post::invalid);
  EXPECT_EQ(nics_[0]->post(2, header_of(0, 0, 0), {}), Post::invalid);
}

TEST_P(UdpTest, ManyPacketsByOneCallStayApart) {
  std::vector<std::vector<std::byte>> data;
  std::vector<Outgoing> packets;
  // Runs of one size, ended by a shorter one, and sizes that change.
  for (const std::size_t size :
       {1000u, 1000u, 1000u, 600u, 1000u, 1000u, 2000u, 2000u, 8u, 8u, 8u, 0u, 16u}) {
    data.push_back(pattern(size, data.size()));
  }
  for (const auto& one : data) {
    packets.push_back(
        {header_of(0, static_cast<std::uint32_t>(packets.size()), one.size()), one.data()});
  }
  ASSERT_EQ(nics_[0]->post_many(1, packets), packets.size());
  reap_until(data.size());
  ASSERT_EQ(payloads_.size(), data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    EXPECT_EQ(headers_[i].sequence, i);
    EXPECT_EQ(payloads_[i], data[i]) << i;
  }
}

TEST_P(UdpTest, KeptPacketsStayAndNeverStopTheNetwork) {
  keep_ = true;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const auto data = pattern(3000, i);
    const Outgoing one{header_of(0, i, data.size()), data.data()};
    ASSERT_EQ(nics_[0]->post_many(1, {&one, 1}), 1u);
    reap_until(i + 1);
  }
  ASSERT_EQ(payloads_.size(), 200u);
  // Expect: those that could be kept are intact; that is more than half of the buffers there are
  std::size_t intact = 0;
  while (intact < 200 && std::equal(kept_[intact].begin(), kept_[intact].end(),
                                    payloads_[intact].begin(), payloads_[intact].end())) {
    ++intact;
  }
  EXPECT_GT(intact, 32u);
  for (std::size_t i = 0; i < intact && i < 32; ++i) nics_[1]->release(tokens_[i]);
}

// Pieces of a copy to `target`, one behind the other; a sink that says where they go.
struct Pieces {
  static std::byte* place(void* self, const PacketHeader& header,
                          std::span<const std::byte> begin) {
    auto& me = *static_cast<Pieces*>(self);
    EXPECT_EQ(begin.size(), kPlacedBehind);
    std::uint64_t offset;
    std::memcpy(&offset, begin.data(), sizeof offset);
    ++me.asked;
    EXPECT_EQ(header.client.kind, PacketKind::copy_piece);
    return me.refuse ? nullptr : me.target.data() + offset;
  }
  static Keep arrived(void* self, const Incoming& in) {
    auto& me = *static_cast<Pieces*>(self);
    me.sequences.push_back(in.header->sequence);
    EXPECT_EQ(in.payload.size() + in.placed, in.header->client.size);
    std::uint64_t offset;
    std::memcpy(&offset, in.payload.data(), sizeof offset);
    if (in.placed == 0) {
      std::copy(in.payload.begin() + kPlacedBehind, in.payload.end(), me.target.data() + offset);
    } else {
      EXPECT_EQ(in.payload.size(), kPlacedBehind);
      ++me.placed;
    }
    return Keep::no;
  }

  std::vector<std::byte> target = std::vector<std::byte>(10 * 20'000);
  std::vector<std::uint32_t> sequences;
  bool refuse = false;
  int asked = 0;
  int placed = 0;
};

TEST_P(UdpTest, PiecesOfACopyGoWhereTheyBelong) {
  const std::vector<std::byte> source = pattern(10 * 20'000, 4);
  for (const bool refuse : {false, true}) {
    Pieces pieces;
    pieces.refuse = refuse;
    Sink sink{&Pieces::arrived, nullptr, &pieces};
    sink.place = &Pieces::place;
    nics_[1]->attach(sink);
    for (std::uint64_t i = 0; i < 10; ++i) {
      // Not in order, and a short packet of another kind now and then.
      const std::uint64_t offset = (i * 7 % 10) * 20'000;
      std::byte front[kPlacedBehind] = {};
      std::memcpy(front, &offset, sizeof offset);
      Outgoing one{header_of(0, static_cast<std::uint32_t>(i), sizeof front + 20'000),
                   front,
                   {source.data() + offset, 20'000}};
      one.header.client.kind = PacketKind::copy_piece;
      ASSERT_EQ(nics_[0]->post_many(1, {&one, 1}), 1u);
      if (i % 4 == 3) {
        const Outgoing other{header_of(0, 100, sizeof front), front};
        ASSERT_EQ(nics_[0]->post_many(1, {&other, 1}), 1u);
      }
    }
    for (int i = 0; i < 100'000 && pieces.sequences.size() < 12; ++i) nics_[1]->reap(64, kAllLanes);
    // Expect: every byte, whoever moved it
    EXPECT_EQ(pieces.sequences,
              (std::vector<std::uint32_t>{0, 1, 2, 3, 100, 4, 5, 6, 7, 100, 8, 9}));
    EXPECT_EQ(pieces.target, source);
    // Expect: after the first one they are put there at once, where their seal is on the header
    const bool may = GetParam() == Auth::header;
    EXPECT_EQ(pieces.placed, may && !refuse ? 9 : 0);
    EXPECT_EQ(pieces.asked > 0, may);
  }
}

TEST_P(UdpTest, ASinkThatSaysNoPlacesGetsPiecesWhole) {
  const std::vector<std::byte> data = pattern(kPlacedBehind + 20'000, 1);
  std::vector<std::byte> zeroed = data;
  std::fill_n(zeroed.begin(), kPlacedBehind, std::byte{0});
  Outgoing one{header_of(0, 0, zeroed.size()), zeroed.data()};
  one.header.client.kind = PacketKind::copy_piece;
  Pieces pieces;
  Sink sink{&Pieces::arrived, nullptr, &pieces};
  sink.place = &Pieces::place;
  nics_[1]->attach(sink);
  ASSERT_EQ(nics_[0]->post_many(1, {&one, 1}), 1u);
  for (int i = 0; i < 100'000 && pieces.sequences.empty(); ++i) nics_[1]->reap(1, kAllLanes);
  ASSERT_EQ(pieces.sequences.size(), 1u);
  // The next one would be looked at for the sink that is gone.
  nics_[1]->attach({&UdpTest::on_arrived, nullptr, this});
  ASSERT_EQ(nics_[0]->post_many(1, {&one, 1}), 1u);
  reap_until(1);
  ASSERT_EQ(payloads_.size(), 1u);
  EXPECT_EQ(payloads_[0], zeroed);
}

TEST_P(UdpTest, OnlyWhatItsSealSaysIsPutInPlace) {
  Pieces pieces;
  Sink sink{&Pieces::arrived, nullptr, &pieces};
  sink.place = &Pieces::place;
  nics_[1]->attach(sink);
  const std::vector<std::byte> data = pattern(kPlacedBehind + 20'000, 1);
  std::vector<std::byte> zeroed = data;
  std::fill_n(zeroed.begin(), kPlacedBehind, std::byte{0});
  Outgoing good{header_of(0, 0, zeroed.size()), zeroed.data()};
  good.header.client.kind = PacketKind::copy_piece;
  ASSERT_EQ(nics_[0]->post_many(1, {&good, 1}), 1u);
  // Datagrams from a stranger; cut short; with a header that was changed on the way.
  Seal other({1}, GetParam(), {0, 0});
  Seal ours({7, 7, 7}, GetParam(), {0, 0}, 1000);
  for (int i = 0; i < 3; ++i) {
    UdpHeader header{};
    header.packet = good.header;
    header.packet.job = 99;
    std::vector<std::byte> datagram(sizeof header + zeroed.size());
    (i == 0 ? other : ours).seal(header, 1, zeroed, nullptr);
    if (i == 2) ++header.packet.sequence;
    std::memcpy(datagram.data(), &header, sizeof header);
    if (i == 1) datagram.resize(datagram.size() - 8);
    send_raw(datagram);
  }
  ASSERT_EQ(nics_[0]->post_many(1, {&good, 1}), 1u);
  for (int i = 0; i < 100'000 && pieces.sequences.size() < 2; ++i) nics_[1]->reap(64, kAllLanes);
  // Expect: asked for the last one only, and for none where all of it is sealed
  EXPECT_EQ(pieces.sequences.size(), 2u);
  EXPECT_EQ(pieces.asked, GetParam() == Auth::header ? 1 : 0);
  EXPECT_EQ(pieces.placed, pieces.asked);
  const PortCounters& counters = nics_[1]->counters();
  EXPECT_EQ(counters.foreign_dropped + counters.corrupt_dropped, 3u);
}

TEST_P(UdpTest, WhatAStrangerSendsIsDroppedAndCounted) {
  const PortCounters& counters = nics_[1]->counters();
  send_raw({});
  send_raw(pattern(20, 1));
  send_raw(pattern(80, 2));
  send_raw(pattern(3000, 3));
  // Sealed with another key.
  Seal other({1}, GetParam(), {0, 0});
  UdpHeader header{};
  header.packet = header_of(0, 0, 16);
  header.packet.job = 99;
  std::vector<std::byte> datagram(sizeof header + 16);
  other.seal(header, 1, std::span(datagram).subspan(sizeof header),
             datagram.data() + sizeof header);
  std::memcpy(datagram.data(), &header, sizeof header);
  send_raw(datagram);
  const Outgoing good{header_of(0, 5, 0), nullptr};
  ASSERT_EQ(nics_[0]->post_many(1, {&good, 1}), 1u);
  reap_until(1);
  // Expect: only ours came through
  ASSERT_EQ(payloads_.size(), 1u);
  EXPECT_EQ(headers_[0].sequence, 5u);
  EXPECT_EQ(counters.foreign_dropped + counters.corrupt_dropped, 5u);
}

// A socket between two endpoints, as somebody on the way has: the first endpoint takes it for the
// second, and what comes to it can be sent on to anyone.
class Tap {
 public:
  explicit Tap(const UdpOptions& sender) {
    fd_ = ::socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
    UdpOptions options = sender;
    options.find_context = this;
    options.find = [](void* self, Peer, UdpAddress* address) {
      sockaddr_in at{};
      socklen_t length = sizeof at;
      ::getsockname(static_cast<Tap*>(self)->fd_, reinterpret_cast<sockaddr*>(&at), &length);
      *address = udp_address(socket_address_of(at));
      return true;
    };
    nic_ = std::move(open_udp(options).value());
  }
  ~Tap() { ::close(fd_); }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  UdpNic& nic() { return *nic_; }
  // The next datagram on its way.
  std::vector<std::byte> take() const {
    std::vector<std::byte> bytes(65536);
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), 0);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
  }

 private:
  static SocketAddress socket_address_of(const sockaddr_in& at) {
    SocketAddress made{};
    made.v4 = at;
    return made;
  }

  int fd_ = -1;
  std::unique_ptr<UdpNic> nic_;
};

TEST_P(UdpTest, WhatIsSentOnToAnotherEndpointIsDropped) {
  // Three ranks with two rails; rank 0's datagrams to rank 1, rail 0, pass the tap.
  UdpOptions options = options_;
  options.peers = 3;
  options.self = 0;
  Tap tap(options);
  struct Place {
    Peer peer;
    std::uint32_t rail;
    bool its;
  };
  for (const Place place :
       {Place{2, 0, false}, Place{1, 1, false}, Place{0, 0, false}, Place{1, 0, true}}) {
    options.self = place.peer;
    options.rail = place.rail;
    nics_[1] = std::move(open_udp(options).value());
    Pieces pieces;
    Sink sink{&Pieces::arrived, nullptr, &pieces};
    sink.place = &Pieces::place;
    nics_[1]->attach(sink);
    // Long pieces of a copy, the second of which would be put in its place at once, and a short
    // one.
    const std::vector<std::byte> zeroed(kPlacedBehind + 20'000);
    for (const std::size_t size : {zeroed.size(), zeroed.size(), kPlacedBehind + 8}) {
      Outgoing one{header_of(0, 0, size), zeroed.data()};
      one.header.client.kind = PacketKind::copy_piece;
      ASSERT_EQ(tap.nic().post_many(1, {&one, 1}), 1u);
      send_raw(tap.take());
    }
    for (int i = 0; i < 1000 && pieces.sequences.size() < 3; ++i) nics_[1]->reap(64, kAllLanes);
    // Expect: believed by the endpoint it was for, and by no other
    EXPECT_EQ(pieces.sequences.size(), place.its ? 3u : 0u) << place.peer << " " << place.rail;
    EXPECT_EQ(pieces.asked > 0, place.its && GetParam() == Auth::header);
    EXPECT_EQ(nics_[1]->counters().foreign_dropped, place.its ? 0u : 3u);
  }
}

INSTANTIATE_TEST_SUITE_P(Udp, UdpTest, testing::Values(Auth::header, Auth::full, Auth::encrypt),
                         [](const auto& auth) { return auth_name(auth.param); });

// Seals a datagram; returns whether one with a byte changed is believed.
TEST(Seal, EveryBitCounts) {
  for (const Auth auth : {Auth::header, Auth::full, Auth::encrypt}) {
    Seal sender({1, 2}, auth, {3, 0});
    Seal receiver({1, 2}, auth, {5, 0});
    const auto plain = pattern(64, 1);
    UdpHeader header{};
    header.packet = header_of(3, 4, plain.size());
    std::vector<std::byte> cipher(plain.size());
    sender.seal(header, 5, plain, cipher.data());
    const std::vector<std::byte> sent = auth == Auth::encrypt ? cipher : plain;
    if (auth == Auth::encrypt) {
      EXPECT_NE(cipher, plain);
    }
    std::vector<std::byte> whole(sizeof header + sent.size());
    std::memcpy(whole.data(), &header, sizeof header);
    std::memcpy(whole.data() + sizeof header, sent.data(), sent.size());
    const auto opens = [&](std::vector<std::byte> datagram) {
      UdpHeader got;
      std::memcpy(&got, datagram.data(), sizeof got);
      const std::span<std::byte> payload = std::span(datagram).subspan(sizeof got);
      const bool ok = receiver.open(got, payload);
      // Expect: what is believed is what was sent
      if (ok && auth != Auth::header) {
        EXPECT_TRUE(std::equal(payload.begin(), payload.end(), plain.begin()));
      }
      return ok;
    };
    EXPECT_TRUE(opens(whole));
    const std::size_t covered = auth == Auth::header ? sizeof header : whole.size();
    for (std::size_t bit = 0; bit < covered * 8; ++bit) {
      std::vector<std::byte> spoiled = whole;
      spoiled[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      EXPECT_FALSE(opens(spoiled)) << auth_name(auth) << " bit " << bit;
    }
    // Expect: another key or a weaker seal is not believed
    Seal stranger({1, 3}, auth, {5, 0});
    std::vector<std::byte> payload = sent;
    EXPECT_FALSE(stranger.open(header, payload));
    Seal other({1, 2}, auth == Auth::header ? Auth::full : Auth::header, {5, 0});
    EXPECT_FALSE(other.open(header, payload));
    // Expect: nor is one that was for another endpoint or rail, the sender's own included
    for (const SealedFor where : {SealedFor{4, 0}, SealedFor{5, 1}, SealedFor{3, 0}}) {
      Seal elsewhere({1, 2}, auth, where);
      payload = sent;
      EXPECT_FALSE(elsewhere.open(header, payload)) << where.peer << " " << where.rail;
    }
    Seal again({1, 2}, auth, {5, 0});
    payload = sent;
    EXPECT_TRUE(again.open(header, payload));
  }
}

TEST(Udp, SaysWhatIsWrong) {
  UdpOptions options;
  options.address = "nowhere";
  EXPECT_EQ(open_udp(options).error().text, "udp: 'nowhere' is no IPv4 or IPv6 address");
  options.address = "192.0.2.77";
  EXPECT_EQ(open_udp(options).error().text, "udp: no interface of this host has 192.0.2.77");
  options.address = "127.0.0.1";
  options.mtu = 100;
  EXPECT_EQ(open_udp(options).error().text, "udp: an MTU of 100 bytes; at least 620 are needed");
  options.mtu = 1500;
  auto nic = open_udp(options);
  ASSERT_TRUE(nic.ok()) << nic.error().text;
  // Expect: IP, UDP and our headers fit too, in whole multiples of 16
  EXPECT_EQ(nic.value()->caps(0).mtu_bytes, 1392u);
}

}  // namespace
}  // namespace fairlead::fabric
