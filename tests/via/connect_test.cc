// Connections of VIs: by client and server, by peers, and the ways in which they do not come about
// or end.
#include "tests/expect_words.h"
#include "tests/via/via_worlds.h"

namespace fairlead::via_test {
namespace {

using port_test::options_of;
using port_test::run_ranks;

class Connect : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(Connect,
                          ::testing::Values("loop", "shm", "udp", "lossy", "myrinet-p3/sdma",
                                            "myrinet-p3/pio@2", "generic-hca"));

constexpr auto kLevel = VIP_SERVICE_RELIABLE_DELIVERY;

VIP_VI_STATE state_of(VIP_VI_HANDLE vi) {
  VIP_VI_STATE state = VIP_STATE_ERROR;
  (void)VipQueryVi(vi, &state, nullptr, nullptr, nullptr);
  return state;
}

// Rank 1 asks rank 0 by three names; what rank 0 answers.
bool serve(Place& place, lci::Port& port) {
  Address here(place.nic, 0, "accepts");
  Address from = Address::room();
  VIP_VI_ATTRIBUTES its{};
  VIP_CONN_HANDLE asked = nullptr;
  bool good = PORT_TEST_CHECK(
      VipConnectWait(place.nic, &here.net, 30'000, &from.net, &its, &asked) == VIP_SUCCESS, port,
      0);
  good &= PORT_TEST_CHECK(from.text() == "client" && from.process() == 1, port, from.process());
  good &= PORT_TEST_CHECK(its.ReliabilityLevel == kLevel && its.MaxTransferSize == 200'000 &&
                              its.EnableRdmaRead == VIP_TRUE,
                          port, its.ReliabilityLevel);
  // Expect: each difference by its code; then a VI that fits is accepted all the same.
  const VIP_VI_HANDLE other_level = place.vi(VIP_SERVICE_RELIABLE_RECEPTION);
  good &= PORT_TEST_CHECK(VipConnectAccept(asked, other_level) == VIP_INVALID_RELIABILITY_LEVEL,
                          port, 0);
  const VIP_VI_HANDLE vi = place.vi(kLevel);
  VIP_VI_ATTRIBUTES changed = place.attributes(kLevel);
  changed.MaxTransferSize = 100;
  good &= PORT_TEST_CHECK(VipSetViAttributes(vi, &changed) == VIP_SUCCESS, port, 0);
  good &= PORT_TEST_CHECK(VipConnectAccept(asked, vi) == VIP_INVALID_MTU, port, 0);
  changed = place.attributes(kLevel);
  changed.QoS = &changed;
  good &= PORT_TEST_CHECK(VipSetViAttributes(vi, &changed) == VIP_SUCCESS, port, 0);
  good &= PORT_TEST_CHECK(VipConnectAccept(asked, vi) == VIP_INVALID_QOS, port, 0);
  changed = place.attributes(kLevel);
  (void)VipSetViAttributes(vi, &changed);
  (void)place.receive(vi, place.describe(0, {{0, 8}}));
  good &= PORT_TEST_CHECK(VipConnectAccept(asked, vi) == VIP_SUCCESS, port, 0);
  good &= PORT_TEST_CHECK(VipConnectAccept(asked, vi) == VIP_INVALID_PARAMETER, port, 0);
  good &= PORT_TEST_CHECK(VipSetViAttributes(vi, &changed) == VIP_INVALID_STATE, port, 0);
  good &= PORT_TEST_CHECK(next_errors(vi, true) == 0, port, 0);
  Address other(place.nic, 0, "rejects");
  good &= PORT_TEST_CHECK(
      VipConnectWait(place.nic, &other.net, 30'000, nullptr, nullptr, &asked) == VIP_SUCCESS, port,
      0);
  good &= PORT_TEST_CHECK(VipConnectReject(asked) == VIP_SUCCESS, port, 0);
  // Nobody asks for this one.
  Address none(place.nic, 0, "nobody");
  good &= PORT_TEST_CHECK(
      VipConnectWait(place.nic, &none.net, 3, nullptr, nullptr, &asked) == VIP_TIMEOUT, port, 0);
  // This client has gone away when it is accepted.
  Address late(place.nic, 0, "late");
  good &= PORT_TEST_CHECK(
      VipConnectWait(place.nic, &late.net, 30'000, nullptr, nullptr, &asked) == VIP_SUCCESS, port,
      0);
  while (state_of(vi) == VIP_STATE_CONNECTED) {
    VIP_DESCRIPTOR* found = nullptr;
    (void)VipRecvDone(vi, &found);
  }
  good &= PORT_TEST_CHECK(VipDisconnect(vi) == VIP_SUCCESS, port, 0);
  good &= PORT_TEST_CHECK(VipConnectAccept(asked, vi) == VIP_TIMEOUT, port, 0);
  return good;
}

bool ask(Place& place, lci::Port& port) {
  Address here(place.nic, 1, "client");
  Address there(place.nic, 0, "accepts");
  VIP_VI_ATTRIBUTES its{};
  const VIP_VI_HANDLE vi = place.vi(kLevel);
  bool good = PORT_TEST_CHECK(
      VipConnectRequest(vi, &here.net, &there.net, 30'000, &its) == VIP_SUCCESS, port, 0);
  good &= PORT_TEST_CHECK(its.ReliabilityLevel == kLevel && state_of(vi) == VIP_STATE_CONNECTED,
                          port, state_of(vi));
  good &= PORT_TEST_CHECK(
      VipConnectRequest(vi, &here.net, &there.net, 5, nullptr) == VIP_INVALID_STATE, port, 0);
  (void)place.send(vi, place.describe(1, {{0, 8}}));
  good &= PORT_TEST_CHECK(next_errors(vi, false) == 0, port, 0);
  const VIP_VI_HANDLE second = place.vi(kLevel);
  Address rejects(place.nic, 0, "rejects");
  good &= PORT_TEST_CHECK(
      VipConnectRequest(second, &here.net, &rejects.net, 30'000, nullptr) == VIP_REJECT, port, 0);
  Address late(place.nic, 0, "late");
  good &= PORT_TEST_CHECK(
      VipConnectRequest(second, &here.net, &late.net, 1500, nullptr) == VIP_TIMEOUT, port, 0);
  good &= PORT_TEST_CHECK(state_of(second) == VIP_STATE_IDLE, port, state_of(second));
  return PORT_TEST_CHECK(VipDisconnect(vi) == VIP_SUCCESS, port, 0) && good;
}

TEST_P(Connect, a_client_and_its_server) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    port_test::Meeting meeting(rank.port());
    Place place;
    const bool good = rank.port().self() == 0 ? serve(place, rank.port()) : ask(place, rank.port());
    const bool met = PORT_TEST_CHECK(meeting.meet(), rank.port(), 0);
    return PORT_TEST_CHECK(place.finish(), rank.port(), 0) && met && good;
  });
}

TEST_P(Connect, peers) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    port_test::Meeting meeting(rank.port());
    Place place;
    const unsigned me = rank.port().self();
    const VIP_VI_HANDLE vi = place.vi(kLevel);
    Address here(place.nic, me, me == 0 ? "left" : "right");
    Address there(place.nic, 1 - me, me == 0 ? "right" : "left");
    bool good =
        PORT_TEST_CHECK(VipConnectPeerDone(vi, nullptr) == VIP_INVALID_STATE, rank.port(), 0);
    // Rank 1 comes later: until then it is not done.
    if (me == 1) good &= PORT_TEST_CHECK(meeting.meet(), rank.port(), 0);
    good &= PORT_TEST_CHECK(VipConnectPeerRequest(vi, &here.net, &there.net, 30'000) == VIP_SUCCESS,
                            rank.port(), 0);
    if (me == 0) {
      good &= PORT_TEST_CHECK(VipConnectPeerDone(vi, nullptr) == VIP_NOT_DONE, rank.port(), 0);
      good &= PORT_TEST_CHECK(meeting.meet(), rank.port(), 0);
    }
    VIP_VI_ATTRIBUTES its{};
    good &= PORT_TEST_CHECK(VipConnectPeerWait(vi, &its) == VIP_SUCCESS, rank.port(), 0);
    good &= PORT_TEST_CHECK(its.MaxTransferSize == 200'000, rank.port(), 0);
    // Levels that differ are refused to both; nobody comes to the third.
    const VIP_VI_HANDLE other = place.vi(me == 0 ? VIP_SERVICE_UNRELIABLE : kLevel);
    good &= PORT_TEST_CHECK(
        VipConnectPeerRequest(other, &there.net, &here.net, 1) == VIP_INVALID_PARAMETER,
        rank.port(), 0);
    Address mine(place.nic, me, "unlike");
    Address its_name(place.nic, 1 - me, "unlike");
    (void)VipConnectPeerRequest(other, &mine.net, &its_name.net, 30'000);
    good &= PORT_TEST_CHECK(VipConnectPeerWait(other, nullptr) == VIP_INVALID_RELIABILITY_LEVEL,
                            rank.port(), 0);
    Address nobody(place.nic, 1 - me, "nobody");
    good &= PORT_TEST_CHECK(VipConnectPeerRequest(other, &mine.net, &nobody.net, 5) == VIP_SUCCESS,
                            rank.port(), 0);
    good &= PORT_TEST_CHECK(VipConnectPeerWait(other, nullptr) == VIP_TIMEOUT, rank.port(), 0);
    good &= PORT_TEST_CHECK(VipDestroyVi(other) == VIP_SUCCESS, rank.port(), 0);
    good &= PORT_TEST_CHECK(meeting.meet(), rank.port(), 0);
    return PORT_TEST_CHECK(place.finish(), rank.port(), 0) && good;
  });
}

// Two VIs of one process, and one that is connected with itself.
TEST_P(Connect, within_a_process) {
  run_ranks(GetParam(), 1, [](run::Context& rank) {
    Place place;
    const VIP_VI_HANDLE one = place.vi(kLevel);
    const VIP_VI_HANDLE two = place.vi(kLevel);
    const VIP_VI_HANDLE alone = place.vi(kLevel);
    Address left(place.nic, 0, "left");
    Address right(place.nic, 0, "right");
    bool good = VipConnectPeerRequest(one, &left.net, &right.net, 30'000) == VIP_SUCCESS &&
                VipConnectPeerRequest(two, &right.net, &left.net, 30'000) == VIP_SUCCESS &&
                VipConnectPeerWait(one, nullptr) == VIP_SUCCESS &&
                VipConnectPeerWait(two, nullptr) == VIP_SUCCESS && place.connect(alone, 0, "same");
    good = PORT_TEST_CHECK(good, rank.port(), 0);
    place.fill({0, 500}, 3);
    (void)place.receive(two, place.describe(0, {{1000, 500}}));
    (void)place.send(one, place.describe(1, {{0, 500}}));
    good &= PORT_TEST_CHECK(next_errors(two, true) == 0 && next_errors(one, false) == 0,
                            rank.port(), 0);
    good &= PORT_TEST_CHECK(place.holds({1000, 500}, 3), rank.port(), 0);
    (void)place.receive(alone, place.describe(0, {{2000, 500}}));
    (void)place.send(alone, place.describe(1, {{0, 500}}));
    good &= PORT_TEST_CHECK(next_errors(alone, true) == 0 && next_errors(alone, false) == 0,
                            rank.port(), 0);
    good &= PORT_TEST_CHECK(place.holds({2000, 500}, 3), rank.port(), 0);
    for (const VIP_VI_HANDLE vi : {one, two, alone}) {
      good &= PORT_TEST_CHECK(VipDisconnect(vi) == VIP_SUCCESS && VipDestroyVi(vi) == VIP_SUCCESS,
                              rank.port(), 0);
    }
    return PORT_TEST_CHECK(place.close(), rank.port(), 0) && good;
  });
}

TEST_P(Connect, names_and_queries) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    Place place;
    bool good = PORT_TEST_CHECK(VipNSInit(place.nic, nullptr) == VIP_SUCCESS, rank.port(), 0);
    Address its;
    char name[32] = "1";
    good &= PORT_TEST_CHECK(VipNSGetHostByName(place.nic, name, &its.net, 0) == VIP_SUCCESS &&
                                its.process() == 1 && its.net.DiscriminatorLen == 0,
                            rank.port(), its.process());
    VIP_ULONG length = 2;
    good &= PORT_TEST_CHECK(
        VipNSGetHostByAddr(place.nic, &its.net, name, &length) == VIP_ERROR_RESOURCE, rank.port(),
        0);
    length = sizeof name;
    good &= PORT_TEST_CHECK(VipNSGetHostByAddr(place.nic, &its.net, name, &length) == VIP_SUCCESS,
                            rank.port(), 0);
    Address again;
    // "HOST:PROCESS" names the same.
    good &= PORT_TEST_CHECK(
        VipNSGetHostByName(place.nic, name, &again.net, 0) == VIP_SUCCESS && again.process() == 1,
        rank.port(), again.process());
    good &=
        PORT_TEST_CHECK(VipNSGetHostByName(place.nic, name, &again.net, 1) == VIP_ERROR_NAMESERVICE,
                        rank.port(), 0);
    for (const char* bad : {"2", "x", "", "9:1", "1:"}) {
      std::string text = bad;
      good &= PORT_TEST_CHECK(
          VipNSGetHostByName(place.nic, text.data(), &again.net, 0) == VIP_ERROR_NAMESERVICE,
          rank.port(), bad[0]);
    }
    Address all[2];
    VIP_NET_ADDRESS* array[2] = {&all[0].net, &all[1].net};
    VIP_AUTODISCOVERY_LIST list{0, array, 2};
    good &= PORT_TEST_CHECK(
        VipQuerySystemManagementInfo(place.nic, VIP_SMI_AUTODISCOVERY, &list) == VIP_SUCCESS &&
            list.NumAdAddrs == 2 && all[1].process() == 1,
        rank.port(), list.NumAdAddrs);
    good &= PORT_TEST_CHECK(
        VipQuerySystemManagementInfo(place.nic, 7, &list) == VIP_ERROR_NOT_SUPPORTED, rank.port(),
        0);
    VIP_NIC_ATTRIBUTES nic{};
    good &= PORT_TEST_CHECK(VipQueryNic(place.nic, &nic) == VIP_SUCCESS &&
                                nic.ReliabilityLevelSupport == 7 && nic.RDMAReadSupport == 6 &&
                                nic.MaxTransferSize >= 1'000'000 && nic.NativeMTU >= 256 &&
                                nic.NicAddressLen == 8 && nic.MaxDiscriminatorLen >= 16,
                            rank.port(), nic.ReliabilityLevelSupport);
    VIP_MEM_ATTRIBUTES memory{};
    good &= PORT_TEST_CHECK(
        VipQueryMem(place.nic, place.memory.data() + 100, place.handle, &memory) == VIP_SUCCESS &&
            memory.Ptag == place.ptag && memory.EnableRdmaRead == VIP_TRUE,
        rank.port(), 0);
    memory.EnableRdmaRead = VIP_FALSE;
    good &= PORT_TEST_CHECK(
        VipSetMemAttributes(place.nic, place.memory.data(), place.handle, &memory) == VIP_SUCCESS,
        rank.port(), 0);
    (void)VipQueryMem(place.nic, place.memory.data(), place.handle, &memory);
    good &= PORT_TEST_CHECK(memory.EnableRdmaRead == VIP_FALSE, rank.port(), 0);
    good &= PORT_TEST_CHECK(VipNSShutdown(place.nic) == VIP_SUCCESS, rank.port(), 0);
    // A second NIC of the process is apart from the first.
    VIP_NIC_HANDLE second = nullptr;
    good &= PORT_TEST_CHECK(VipOpenNic("any", &second) == VIP_SUCCESS && second != place.nic,
                            rank.port(), 0);
    good &= PORT_TEST_CHECK(VipDestroyPtag(second, place.ptag) == VIP_INVALID_PARAMETER,
                            rank.port(), 0);
    good &= PORT_TEST_CHECK(VipCloseNic(second) == VIP_SUCCESS, rank.port(), 0);
    good &= PORT_TEST_CHECK(VipCloseNic(second) == VIP_INVALID_PARAMETER, rank.port(), 0);
    good &= PORT_TEST_CHECK(VipCloseNic(place.nic) == VIP_ERROR_RESOURCE, rank.port(), 0);
    return PORT_TEST_CHECK(place.close(), rank.port(), 0) && good;
  });
}

}  // namespace
}  // namespace fairlead::via_test
