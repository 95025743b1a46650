// VIPL in every world: what is sent, written and read arrives, with any number of segments, on VIs
// of every level, and is told by queues, completion queues and handlers.
#include <algorithm>

#include "tests/via/via_worlds.h"

namespace fairlead::via_test {
namespace {

using port_test::PerWorld;
using port_test::run_ranks;

class Transfer : public PerWorld {};
INSTANTIATE_PORT_TESTS(Transfer);

// Both ranks send each other messages of several sizes, gathered and scattered differently.
bool exchange(Place& place, port_test::Meeting& meeting, lci::Port& port, VIP_VI_HANDLE vi) {
  const std::size_t half = Place::kBytes / 2;
  bool good = true;
  std::size_t turn = 0;
  for (const std::size_t bytes : std::vector<std::size_t>{0, 1, 31, 100, 9000, 150'000}) {
    ++turn;
    VIP_DESCRIPTOR* const into = place.describe(
        0, {{half, bytes / 3}, {half + bytes / 3, 0}, {half + bytes / 3, bytes - bytes / 3 + 64}});
    good &= PORT_TEST_CHECK(place.receive(vi, into) == VIP_SUCCESS, port, bytes);
    // The other side has posted as well before anything is sent.
    good &= PORT_TEST_CHECK(meeting.meet(), port, bytes);
    place.fill({0, bytes}, turn + port.self());
    VIP_DESCRIPTOR* const from =
        place.describe(1, {{0, bytes / 2}, {bytes / 2, bytes - bytes / 2}},
                       VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_IMMEDIATE);
    from->CS.ImmediateData = static_cast<VIP_UINT32>(turn * 1000 + port.self());
    good &= PORT_TEST_CHECK(place.send(vi, from) == VIP_SUCCESS, port, bytes);
    VIP_DESCRIPTOR* found = nullptr;
    good &= PORT_TEST_CHECK(received(vi, &found) == VIP_SUCCESS && found == into, port, bytes);
    good &= PORT_TEST_CHECK(found->CS.Length == bytes, port, found->CS.Length);
    good &= PORT_TEST_CHECK((found->CS.Status & VIP_STATUS_IMMEDIATE) != 0 &&
                                found->CS.ImmediateData == turn * 1000 + 1 - port.self(),
                            port, found->CS.ImmediateData);
    good &= PORT_TEST_CHECK(place.holds({half, bytes}, turn + 1 - port.self()), port, bytes);
    good &= PORT_TEST_CHECK(sent(vi, &found) == VIP_SUCCESS && found == from, port, bytes);
    good &= PORT_TEST_CHECK(found->CS.Length == bytes, port, found->CS.Length);
  }
  return good;
}

TEST_P(Transfer, two_ranks_connect_post_send_and_receive) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    port_test::Meeting meeting(rank.port());
    Place place;
    bool good = PORT_TEST_CHECK(place.good, rank.port(), 0);
    const VIP_VI_HANDLE vi = place.vi(VIP_SERVICE_RELIABLE_RECEPTION);
    good &= PORT_TEST_CHECK(place.connect(vi, 1 - rank.port().self(), "pair"), rank.port(), 0);
    good &= exchange(place, meeting, rank.port(), vi);
    good &= PORT_TEST_CHECK(VipDisconnect(vi) == VIP_SUCCESS, rank.port(), 0);
    good &= PORT_TEST_CHECK(VipDestroyVi(vi) == VIP_SUCCESS, rank.port(), 0);
    return PORT_TEST_CHECK(place.close(), rank.port(), 0) && good;
  });
}

}  // namespace
}  // namespace fairlead::via_test
