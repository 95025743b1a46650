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
    VIP_DESCRIPTOR* const from = place.describe(1, {{0, bytes / 2}, {bytes / 2, bytes - bytes / 2}},
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

// What the other side tells of itself, by a message in memory: where, and by which handle.
struct Whereabouts {
  std::uint64_t address;
  VIP_MEM_HANDLE handle;
};

// Both sides tell each other of their memory from `here` on; returns the other one's.
Whereabouts exchange_places(Place& place, port_test::Meeting& meeting, lci::Port& port,
                            VIP_VI_HANDLE vi, std::size_t here, bool& good) {
  VIP_DESCRIPTOR* found = nullptr;
  (void)place.receive(vi, place.describe(0, {{0, 64}}));
  good &= PORT_TEST_CHECK(meeting.meet(), port, 0);
  const Whereabouts mine{reinterpret_cast<std::uintptr_t>(place.memory.data() + here),
                         place.handle};
  std::memcpy(place.memory.data() + 128, &mine, sizeof mine);
  (void)place.send(vi, place.describe(2, {{128, sizeof mine}}));
  good &= PORT_TEST_CHECK(received(vi, &found) == VIP_SUCCESS, port, 0);
  Whereabouts its{};
  std::memcpy(&its, place.memory.data(), sizeof its);
  good &= PORT_TEST_CHECK(sent(vi, &found) == VIP_SUCCESS, port, 0);
  return its;
}

// RDMA: writes with and without immediate data, reads of many packets, a fence between them.
bool remote(Place& place, port_test::Meeting& meeting, lci::Port& port, VIP_VI_HANDLE vi,
            bool reads) {
  const std::size_t here = 500'000;  // what the other side reaches
  const std::size_t bytes = 60'000;
  const unsigned me = port.self();
  bool good = true;
  VIP_DESCRIPTOR* found = nullptr;
  const Whereabouts its = exchange_places(place, meeting, port, vi, here, good);
  (void)place.receive(vi, place.describe(1, {{64, 64}}));
  good &= PORT_TEST_CHECK(meeting.meet(), port, 0);
  // Two parts, the second with a word that the other side is told of.
  place.fill({200'000, bytes}, 40 + me);
  VIP_DESCRIPTOR* const first =
      place.describe(3, {{200'000, 10}, {200'010, bytes - 11}}, VIP_CONTROL_OP_RDMAWRITE);
  place.aim(3, its.address, its.handle);
  VIP_DESCRIPTOR* const second = place.describe(4, {{200'000 + bytes - 1, 1}},
                                                VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE);
  second->CS.ImmediateData = 77 + me;
  place.aim(4, its.address + bytes - 1, its.handle);
  good &= PORT_TEST_CHECK(place.send(vi, first) == VIP_SUCCESS, port, 0);
  good &= PORT_TEST_CHECK(place.send(vi, second) == VIP_SUCCESS, port, 0);
  good &= PORT_TEST_CHECK(received(vi, &found) == VIP_SUCCESS, port, 0);
  good &=
      PORT_TEST_CHECK((found->CS.Status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_REMOTE_RDMA_WRITE &&
                          found->CS.ImmediateData == 78 - me,
                      port, found->CS.Status);
  good &= PORT_TEST_CHECK(place.holds({here, bytes}, 41 - me), port, 0);
  for (VIP_DESCRIPTOR* const each : {first, second}) {
    good &= PORT_TEST_CHECK(sent(vi, &found) == VIP_SUCCESS && found == each, port, 0);
    good &= PORT_TEST_CHECK((found->CS.Status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_RDMA_WRITE,
                            port, found->CS.Status);
  }
  if (reads) {
    // Back again: what this side has written there; the fenced write waits for the read.
    VIP_DESCRIPTOR* const read =
        place.describe(5, {{300'000, 100}, {300'100, bytes - 100}}, VIP_CONTROL_OP_RDMAREAD);
    place.aim(5, its.address, its.handle);
    place.fill({400'000, bytes}, 90);
    VIP_DESCRIPTOR* const behind =
        place.describe(6, {{400'000, bytes}}, VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_QFENCE);
    place.aim(6, its.address, its.handle);
    good &= PORT_TEST_CHECK(place.send(vi, read) == VIP_SUCCESS, port, 0);
    good &= PORT_TEST_CHECK(place.send(vi, behind) == VIP_SUCCESS, port, 0);
    good &= PORT_TEST_CHECK(sent(vi, &found) == VIP_SUCCESS && found == read, port, 0);
    good &= PORT_TEST_CHECK((found->CS.Status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_RDMA_READ &&
                                found->CS.Length == bytes,
                            port, found->CS.Length);
    good &= PORT_TEST_CHECK(place.holds({300'000, bytes}, 40 + me), port, 0);
    good &= PORT_TEST_CHECK(sent(vi, &found) == VIP_SUCCESS && found == behind, port, 0);
  }
  return PORT_TEST_CHECK(meeting.meet(), port, 0) && good;
}

TEST_P(Transfer, every_level_sends_writes_and_reads) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    port_test::Meeting meeting(rank.port());
    Place place;
    bool good = true;
    const VIP_RELIABILITY_LEVEL levels[] = {VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
                                            VIP_SERVICE_RELIABLE_RECEPTION};
    for (const VIP_RELIABILITY_LEVEL level : levels) {
      const VIP_VI_HANDLE vi = place.vi(level);
      good &=
          PORT_TEST_CHECK(place.connect(vi, 1 - rank.port().self(), "level"), rank.port(), level);
      good &= exchange(place, meeting, rank.port(), vi);
      good &= remote(place, meeting, rank.port(), vi, level != VIP_SERVICE_UNRELIABLE);
      good &= PORT_TEST_CHECK(VipDisconnect(vi) == VIP_SUCCESS && VipDestroyVi(vi) == VIP_SUCCESS,
                              rank.port(), level);
    }
    return PORT_TEST_CHECK(place.close(), rank.port(), 0) && good;
  });
}

// Network interfaces that know virtual interfaces move data while the rank whose memory it is
// computes.
class Apart : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(Apart, ::testing::Values("millennium/via"));

TEST_P(Apart, rdma_takes_no_processor_of_the_other_side) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    const std::size_t here = 500'000;
    const std::size_t bytes = 20'000;
    lci::Port& port = rank.port();
    port_test::Meeting meeting(port);
    Place place;
    const VIP_VI_HANDLE vi = place.vi(VIP_SERVICE_RELIABLE_RECEPTION);
    bool good = PORT_TEST_CHECK(place.connect(vi, 1 - port.self(), "apart"), port, 0);
    const Whereabouts its = exchange_places(place, meeting, port, vi, here, good);
    if (port.self() == 1) {
      // 20 ms, in which it looks at nothing.
      port.charge({.ops = 8'000'000});
      (void)port.poll();
      good &= PORT_TEST_CHECK(place.holds({here, bytes}, 7), port, 0);
    } else {
      const Ps begin = port.now();
      place.fill({0, bytes}, 7);
      VIP_DESCRIPTOR* found = nullptr;
      for (const bool reads : {false, true}) {
        const VIP_UINT16 control = reads ? VIP_CONTROL_OP_RDMAREAD : VIP_CONTROL_OP_RDMAWRITE;
        VIP_DESCRIPTOR* const posted = place.describe(3, {{reads ? 200'000u : 0u, bytes}}, control);
        place.aim(3, its.address, its.handle);
        good &= PORT_TEST_CHECK(place.send(vi, posted) == VIP_SUCCESS, port, control);
        good &= PORT_TEST_CHECK(sent(vi, &found) == VIP_SUCCESS && found == posted, port, control);
      }
      good &= PORT_TEST_CHECK(place.holds({200'000, bytes}, 7), port, 0);
      // Expect: both are done long before the other side has computed.
      const Ps took = port.now() - begin;
      good &= PORT_TEST_CHECK(took < milliseconds(3), port, took.count);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 0) && place.finish() && good;
  });
}

TEST_P(Apart, messages_take_no_processor_of_the_other_side) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    constexpr std::size_t kEach = 5;
    constexpr std::size_t kBytes = 6'000;
    constexpr std::size_t kHere = 500'000;
    lci::Port& port = rank.port();
    port_test::Meeting meeting(port);
    Place place;
    const VIP_VI_HANDLE vi = place.vi(VIP_SERVICE_RELIABLE_RECEPTION);
    for (std::size_t i = 0; i < kEach && port.self() == 1; ++i) {
      const std::size_t at = kHere + i * kBytes;
      (void)place.receive(vi, place.describe(i, {{at, 1000}, {at + 1000, kBytes - 1000}}));
    }
    bool good = PORT_TEST_CHECK(place.connect(vi, 1 - port.self(), "apart"), port, 0);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 0);
    if (port.self() == 1) {
      // 20 ms, in which it looks at nothing, and no upcall runs.
      port.hold();
      port.charge({.ops = 8'000'000});
      (void)port.poll();
      // Expect: data and status are in memory.
      for (std::size_t i = 0; i < kEach; ++i) {
        good &= PORT_TEST_CHECK(place.holds({kHere + i * kBytes, kBytes}, i), port, i);
        const VIP_CONTROL_SEGMENT& control = place.slots[i].control;
        good &= PORT_TEST_CHECK(
            control.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE) && control.Length == kBytes,
            port, control.Status);
      }
      port.allow();
      for (std::size_t i = 0; i < kEach; ++i) {
        good &= PORT_TEST_CHECK(next_errors(vi, true) == 0, port, i);
      }
    } else {
      const Ps begin = port.now();
      for (std::size_t i = 0; i < kEach; ++i) {
        place.fill({i * kBytes, kBytes}, i);
        VIP_DESCRIPTOR* const from =
            place.describe(i, {{i * kBytes, 10}, {i * kBytes + 10, kBytes - 10}});
        good &= PORT_TEST_CHECK(place.send(vi, from) == VIP_SUCCESS, port, i);
      }
      for (std::size_t i = 0; i < kEach; ++i) {
        good &= PORT_TEST_CHECK(next_errors(vi, false) == 0, port, i);
      }
      // Expect: all of them are complete long before the other side has computed.
      const Ps took = port.now() - begin;
      good &= PORT_TEST_CHECK(took < milliseconds(3), port, took.count);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 0) && place.finish() && good;
  });
}

// Each rank floods every rank, itself included, through one completion queue for all sends and one
// for all receives.
TEST_P(Transfer, completion_queues_tell_of_many_vis) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    constexpr unsigned kEach = 40;
    port_test::Meeting meeting(rank.port());
    Place place;
    const unsigned ranks = rank.port().size();
    const unsigned me = rank.port().self();
    VIP_CQ_HANDLE sends = nullptr;
    VIP_CQ_HANDLE receives = nullptr;
    bool good = VipCreateCQ(place.nic, 1, &sends) == VIP_SUCCESS &&
                VipCreateCQ(place.nic, kEach * ranks, &receives) == VIP_SUCCESS &&
                VipResizeCQ(sends, kEach * ranks) == VIP_SUCCESS;
    std::vector<VIP_VI_HANDLE> vis;
    for (unsigned other = 0; other < ranks; ++other) {
      vis.push_back(place.vi(VIP_SERVICE_RELIABLE_DELIVERY, sends, receives));
      for (unsigned i = 0; i < kEach; ++i) {
        const std::size_t slot = other * kEach + i;
        good &= place.receive(vis[other], place.describe(slot, {{slot * 64, 64}})) == VIP_SUCCESS;
      }
    }
    // In any order: connections between peers wait for each other, not for a turn.
    for (unsigned i = 0; i < ranks; ++i) {
      const unsigned other = (me + i) % ranks;
      Address here(place.nic, me, "flood");
      Address there(place.nic, other, "flood");
      good &= VipConnectPeerRequest(vis[other], &here.net, &there.net, 30'000) == VIP_SUCCESS;
    }
    for (const VIP_VI_HANDLE vi : vis) good &= VipConnectPeerWait(vi, nullptr) == VIP_SUCCESS;
    good &= PORT_TEST_CHECK(good, rank.port(), 0);
    const std::size_t out = 500'000;
    for (unsigned i = 0; i < kEach; ++i) {
      for (unsigned other = 0; other < ranks; ++other) {
        const std::size_t slot = 120 + other * kEach + i;
        std::memcpy(place.memory.data() + out + slot * 64, &i, sizeof i);
        good &=
            place.send(vis[other], place.describe(slot, {{out + slot * 64, 40}})) == VIP_SUCCESS;
      }
    }
    std::vector<unsigned> next(ranks);
    for (unsigned i = 0; i < 2 * kEach * ranks; ++i) {
      const bool is_receive = i % 2 == 0;
      VIP_VI_HANDLE vi = nullptr;
      VIP_BOOLEAN which = VIP_FALSE;
      VIP_DESCRIPTOR* found = nullptr;
      good &= PORT_TEST_CHECK(
          VipCQWait(is_receive ? receives : sends, 30'000, &vi, &which) == VIP_SUCCESS &&
              (which == VIP_TRUE) == is_receive,
          rank.port(), i);
      good &= PORT_TEST_CHECK(
          (is_receive ? VipRecvDone(vi, &found) : VipSendDone(vi, &found)) == VIP_SUCCESS,
          rank.port(), i);
      if (!is_receive || found == nullptr) continue;
      const auto from =
          static_cast<std::size_t>(std::find(vis.begin(), vis.end(), vi) - vis.begin());
      unsigned number = 0;
      std::memcpy(&number, segment_data(found), sizeof number);
      good &=
          PORT_TEST_CHECK(number == next[from]++ && found->CS.Length == 40, rank.port(), number);
    }
    VIP_VI_HANDLE none = nullptr;
    VIP_BOOLEAN which = VIP_FALSE;
    good &= PORT_TEST_CHECK(VipCQDone(receives, &none, &which) == VIP_NOT_DONE, rank.port(), 0);
    good &= PORT_TEST_CHECK(VipDestroyCQ(receives) == VIP_ERROR_RESOURCE, rank.port(), 0);
    good &= PORT_TEST_CHECK(meeting.meet(), rank.port(), 0);
    for (const VIP_VI_HANDLE vi : vis) {
      good &= PORT_TEST_CHECK(VipDisconnect(vi) == VIP_SUCCESS && VipDestroyVi(vi) == VIP_SUCCESS,
                              rank.port(), 0);
    }
    good &=
        PORT_TEST_CHECK(VipDestroyCQ(receives) == VIP_SUCCESS && VipDestroyCQ(sends) == VIP_SUCCESS,
                        rank.port(), 0);
    return PORT_TEST_CHECK(place.close(), rank.port(), 0) && good;
  });
}

// Handlers: of a send, a receive, an entry of a completion queue; each once.
struct Told {
  unsigned sends = 0;
  unsigned receives = 0;
  unsigned entries = 0;
  VIP_DESCRIPTOR* last = nullptr;
};

TEST_P(Transfer, handlers_are_told_once) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    port_test::Meeting meeting(rank.port());
    Place place;
    Told told;
    VIP_CQ_HANDLE queue = nullptr;
    bool good = VipCreateCQ(place.nic, 8, &queue) == VIP_SUCCESS;
    const VIP_VI_HANDLE plain = place.vi(VIP_SERVICE_RELIABLE_RECEPTION);
    const VIP_VI_HANDLE queued = place.vi(VIP_SERVICE_RELIABLE_RECEPTION, nullptr, queue);
    for (std::size_t i = 0; i < 2; ++i) {
      (void)place.receive(plain, place.describe(i, {{i * 64, 64}}));
      (void)place.receive(queued, place.describe(2 + i, {{128 + i * 64, 64}}));
    }
    const unsigned other = 1 - rank.port().self();
    good &= place.connect(plain, other, "plain") && place.connect(queued, other, "queued");
    const auto on_receive = [](void* context, void*, void*, VIP_DESCRIPTOR* descriptor) {
      ++static_cast<Told*>(context)->receives;
      static_cast<Told*>(context)->last = descriptor;
    };
    const auto on_send = [](void* context, void*, void*, VIP_DESCRIPTOR*) {
      ++static_cast<Told*>(context)->sends;
    };
    const auto on_entry = [](void* context, void*, void* vi, VIP_BOOLEAN is_receive) {
      Told& its = *static_cast<Told*>(context);
      VIP_DESCRIPTOR* found = nullptr;
      // A handler calls VIPL itself.
      if (is_receive == VIP_TRUE && VipRecvDone(vi, &found) == VIP_SUCCESS) ++its.entries;
    };
    good &= VipRecvNotify(plain, &told, on_receive) == VIP_SUCCESS &&
            VipSendNotify(plain, &told, on_send) == VIP_SUCCESS &&
            VipCQNotify(queue, &told, on_entry) == VIP_SUCCESS;
    good &=
        PORT_TEST_CHECK(VipCQNotify(queue, &told, on_entry) == VIP_ERROR_RESOURCE, rank.port(), 0);
    good &= PORT_TEST_CHECK(meeting.meet() && good, rank.port(), 0);
    for (std::size_t i = 0; i < 2; ++i) {
      good &= place.send(plain, place.describe(10 + i, {{1000, 8}})) == VIP_SUCCESS;
      good &= place.send(queued, place.describe(12 + i, {{1000, 8}})) == VIP_SUCCESS;
    }
    VIP_DESCRIPTOR* found = nullptr;
    // The second one of each queue was not asked about.
    good &= PORT_TEST_CHECK(
        received(plain, &found) == VIP_SUCCESS && found == place.slots[1].descriptor(), rank.port(),
        0);
    good &= PORT_TEST_CHECK(sent(plain, &found) == VIP_SUCCESS, rank.port(), 0);
    VIP_VI_HANDLE vi = nullptr;
    VIP_BOOLEAN is_receive = VIP_FALSE;
    good &= PORT_TEST_CHECK(
        VipCQWait(queue, 30'000, &vi, &is_receive) == VIP_SUCCESS && vi == queued, rank.port(), 0);
    while (told.receives + told.sends + told.entries < 3) (void)VipRecvDone(plain, &found);
    good &= PORT_TEST_CHECK(told.receives == 1 && told.sends == 1 && told.entries == 1, rank.port(),
                            told.receives);
    good &= PORT_TEST_CHECK(told.last == place.slots[0].descriptor(), rank.port(), 0);
    // One that is there already is told of, too.
    good &=
        PORT_TEST_CHECK(VipRecvNotify(queued, &told, on_receive) == VIP_SUCCESS, rank.port(), 0);
    while (told.receives < 2) (void)VipRecvDone(plain, &found);
    good &= PORT_TEST_CHECK(meeting.meet(), rank.port(), 0);
    return PORT_TEST_CHECK(place.finish({queue}), rank.port(), 0) && good;
  });
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
