// Virtual interfaces where the network loses packets and nobody sends them again (--lci raw):
// connections come about all the same, and unreliable ones lose what the network loses.
#include <bitset>

#include "tests/via/via_worlds.h"

namespace fairlead::via_test {
namespace {

constexpr auto kLevel = VIP_SERVICE_UNRELIABLE;
constexpr std::size_t kMessages = 100;
constexpr std::size_t kBytes = 64;
constexpr std::size_t kByes = 50;

// A job of two ranks whose packets the plan loses.
void run_raw(const std::string& faults, const std::function<bool(run::Context&)>& body) {
  run::WorldOptions options = port_test::options_of("udp/raw", 2);
  options.faults = faults;
  const Result<run::RunReport> report =
      run::run_world(options, [&body](run::Context& rank) { return body(rank) ? 0 : 1; });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
}

// Takes messages until none has come for long: each is whole, and comes once.
bool take_messages(Place& place, lci::Port& port, VIP_VI_HANDLE vi) {
  std::bitset<kMessages> came;
  bool good = true;
  VIP_DESCRIPTOR* found = nullptr;
  VIP_ULONG patience_ms = 30'000;
  while (VipRecvWait(vi, patience_ms, &found) == VIP_SUCCESS) {
    patience_ms = 500;
    const auto* const first = static_cast<const std::byte*>(segment_data(found));
    const auto number = static_cast<std::size_t>(*first);
    const auto at = static_cast<std::size_t>(first - place.memory.data());
    good &= PORT_TEST_CHECK(number < kMessages && !came[number], port, number);
    came.set(number % kMessages);
    for (std::size_t i = 1; i < kBytes; ++i) {
      good &= place.memory[at + i] == place.pattern(i, number);
    }
    good &= PORT_TEST_CHECK(found->CS.Length == kBytes, port, found->CS.Length);
  }
  return PORT_TEST_CHECK(good && came.any() && !came.all(), port, came.count());
}

bool serve(Place& place, lci::Port& port, VIP_VI_HANDLE vi) {
  Address here(place.nic, 0, "accepts");
  VIP_CONN_HANDLE asked = nullptr;
  bool good = PORT_TEST_CHECK(
      VipConnectWait(place.nic, &here.net, 30'000, nullptr, nullptr, &asked) == VIP_SUCCESS, port,
      0);
  for (std::size_t i = 0; i < kMessages; ++i) {
    (void)place.receive(vi, place.describe(i, {{i * kBytes, kBytes}}));
  }
  good &= PORT_TEST_CHECK(VipConnectAccept(asked, vi) == VIP_SUCCESS, port, 0);
  Address other(place.nic, 0, "rejects");
  good &= PORT_TEST_CHECK(
      VipConnectWait(place.nic, &other.net, 30'000, nullptr, nullptr, &asked) == VIP_SUCCESS, port,
      0);
  good &= PORT_TEST_CHECK(VipConnectReject(asked) == VIP_SUCCESS, port, 0);
  good &= take_messages(place, port, vi);
  // As many that the other one hears of it.
  for (std::size_t i = 0; i < kByes; ++i) {
    (void)place.send(vi, place.describe(kMessages + i, {{0, 8}}));
    good &= PORT_TEST_CHECK(next_errors(vi, false) == 0, port, i);
  }
  return good;
}

bool ask(Place& place, lci::Port& port, VIP_VI_HANDLE vi, VIP_VI_HANDLE second) {
  Address here(place.nic, 1, "client");
  Address there(place.nic, 0, "accepts");
  (void)place.receive(vi, place.describe(0, {{0, kBytes}}));
  bool good = PORT_TEST_CHECK(
      VipConnectRequest(vi, &here.net, &there.net, 30'000, nullptr) == VIP_SUCCESS, port, 0);
  Address rejects(place.nic, 0, "rejects");
  good &= PORT_TEST_CHECK(
      VipConnectRequest(second, &here.net, &rejects.net, 30'000, nullptr) == VIP_REJECT, port, 0);
  for (std::size_t i = 0; i < kMessages; ++i) {
    const Place::Part part{(i + 1) * kBytes, kBytes};
    place.fill(part, i);
    for (std::size_t j = 0; j < kBytes; ++j) {
      place.memory[part.offset + j] = j == 0 ? static_cast<std::byte>(i) : place.pattern(j, i);
    }
    (void)place.send(vi, place.describe(i + 1, {part}));
    good &= PORT_TEST_CHECK(next_errors(vi, false) == 0, port, i);
  }
  return PORT_TEST_CHECK(next_errors(vi, true) == 0, port, 0) && good;
}

TEST(Raw, connections_come_about_and_messages_are_lost) {
  run_raw("drop=0.3,dup=0.2,reorder=0.1,corrupt=0.05", [](run::Context& rank) {
    lci::Port& port = rank.port();
    Place place;
    VIP_NIC_ATTRIBUTES its{};
    (void)VipQueryNic(place.nic, &its);
    bool good = PORT_TEST_CHECK(its.ReliabilityLevelSupport == kLevel, port,
                                static_cast<long long>(its.ReliabilityLevelSupport));
    VIP_VI_ATTRIBUTES reliable = place.attributes(VIP_SERVICE_RELIABLE_DELIVERY);
    VIP_VI_HANDLE none = nullptr;
    good &= PORT_TEST_CHECK(
        VipCreateVi(place.nic, &reliable, nullptr, nullptr, &none) == VIP_INVALID_RELIABILITY_LEVEL,
        port, 0);
    const VIP_VI_HANDLE peer = place.vi(kLevel);
    good &= PORT_TEST_CHECK(place.connect(peer, 1 - port.self(), "peers"), port, 0);
    const VIP_VI_HANDLE vi = place.vi(kLevel);
    const VIP_VI_HANDLE second = place.vi(kLevel);
    good &= port.self() == 0 ? serve(place, port, vi) : ask(place, port, vi, second);
    return PORT_TEST_CHECK(place.finish(), port, 0) && good;
  });
}

// What a rank sends to a connection that is over tells it so, whatever became of the disconnect.
TEST(Raw, the_end_of_a_connection_is_heard_of) {
  run_raw("drop=0.3", [](run::Context& rank) {
    lci::Port& port = rank.port();
    Place place;
    const VIP_VI_HANDLE vi = place.vi(kLevel);
    const VIP_VI_HANDLE stays = place.vi(kLevel);
    (void)place.receive(stays, place.describe(0, {{0, 8}}));
    bool good = PORT_TEST_CHECK(place.connect(vi, 1 - port.self(), "ends"), port, 0);
    good &= PORT_TEST_CHECK(place.connect(stays, 1 - port.self(), "stays"), port, 0);
    if (port.self() == 0) {
      good &= PORT_TEST_CHECK(VipDisconnect(vi) == VIP_SUCCESS, port, 0);
      good &= PORT_TEST_CHECK(next_errors(stays, true) == 0, port, 0);
    } else {
      const Told told(place.nic);
      std::size_t sends = 0;
      for (; sends < 5000 && !told.has(VIP_ERROR_CONN_LOST); ++sends) {
        (void)place.send(vi, place.describe(1, {{8, 8}}));
        (void)next_errors(vi, false);
        // Nothing comes by this one; the wait lets the network move.
        VIP_DESCRIPTOR* none = nullptr;
        (void)VipRecvWait(stays, 1, &none);
      }
      good &= PORT_TEST_CHECK(told.has(VIP_ERROR_CONN_LOST), port, sends);
      for (std::size_t i = 0; i < kByes; ++i) {
        (void)place.send(stays, place.describe(2, {{0, 8}}));
        (void)next_errors(stays, false);
      }
    }
    return PORT_TEST_CHECK(place.finish(), port, 0) && good;
  });
}

}  // namespace
}  // namespace fairlead::via_test
