// What a program of VIPL does wrong, and what the other side does to it: each by VIA's own code or
// status, by tables.
#include "fairlead/base/prng.h"
#include "tests/expect_words.h"
#include "tests/via/bad_descriptors.h"
#include "tests/via/via_worlds.h"

namespace fairlead::via_test {
namespace {

using port_test::options_of;
using port_test::run_ranks;

class Errors : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(Errors, ::testing::Values("loop", "shm", "udp", "myrinet-p3/sdma",
                                                    "generic-hca"));

// Two VIs of this process, connected; errors are told to `told`.
struct Pair {
  Place& place;
  VIP_VI_HANDLE one;
  VIP_VI_HANDLE two;
  Told told{place.nic};

  Pair(Place& its, VIP_RELIABILITY_LEVEL level, VIP_CQ_HANDLE receives = nullptr)
      : place(its), one(its.vi(level)), two(its.vi(level, nullptr, receives)) {
    Address left(place.nic, place.self(), "left");
    Address right(place.nic, place.self(), "right");
    place.good = VipConnectPeerRequest(one, &left.net, &right.net, 30'000) == VIP_SUCCESS &&
                 VipConnectPeerRequest(two, &right.net, &left.net, 30'000) == VIP_SUCCESS &&
                 VipConnectPeerWait(one, nullptr) == VIP_SUCCESS &&
                 VipConnectPeerWait(two, nullptr) == VIP_SUCCESS && place.good;
  }
  ~Pair() {
    for (const VIP_VI_HANDLE vi : {one, two}) place.good = destroy(vi) && place.good;
  }
};

TEST_P(Errors, sends_that_cannot_be_right) {
  run_ranks(GetParam(), 1, [](run::Context& rank) {
    Place place;
    const VIP_MEM_HANDLE foreign = place.foreign(place.memory.data(), Place::kBytes);
    bool good = true;
    for (const VIP_RELIABILITY_LEVEL level : kLevels) {
      for (const BadSend& bad : kBadSends) {
        Pair pair(place, level);
        (void)place.receive(pair.two, place.describe(0, {{5000, 64}}));
        place.describe(1, {{0, 32}});
        bad.spoil(place, foreign);
        VIP_DESCRIPTOR* const spoilt = place.slots[1].descriptor();
        good &= PORT_TEST_CHECK(place.send(pair.one, spoilt) == VIP_SUCCESS, rank.port(), level);
        const VIP_UINT32 errors = next_errors(pair.one, false);
        good &= PORT_TEST_CHECK(errors == bad.status, rank.port(), errors);
        if (errors != bad.status) std::fprintf(stderr, "  %s\n", bad.what);
        // Expect: a reliable connection breaks, an unreliable one goes on.
        const bool broken = level != VIP_SERVICE_UNRELIABLE;
        good &=
            PORT_TEST_CHECK((state_of(pair.one) == VIP_STATE_ERROR) == broken, rank.port(), level);
        if (broken) {
          good &= PORT_TEST_CHECK(next_errors(pair.two, true) == VIP_STATUS_DESC_FLUSHED_ERROR,
                                  rank.port(), level);
          good &=
              PORT_TEST_CHECK(place.send(pair.one, place.describe(2, {{0, 4}})) == VIP_SUCCESS &&
                                  next_errors(pair.one, false) == VIP_STATUS_DESC_FLUSHED_ERROR,
                              rank.port(), level);
        } else {
          (void)place.send(pair.one, place.describe(2, {{0, 32}}));
          good &= PORT_TEST_CHECK(next_errors(pair.two, true) == 0, rank.port(), level);
        }
      }
    }
    return PORT_TEST_CHECK(place.good && place.close(), rank.port(), 0) && good;
  });
}

TEST_P(Errors, messages_that_find_no_place) {
  run_ranks(GetParam(), 1, [](run::Context& rank) {
    Place place;
    bool good = true;
    for (const VIP_RELIABILITY_LEVEL level : kLevels) {
      for (const BadArrival& bad : kBadArrivals) {
        Pair pair(place, level);
        bad.prepare(place, Target(place));
        (void)place.receive(pair.two, place.slots[0].descriptor());
        (void)place.send(pair.one, place.slots[1].descriptor());
        // Expect: on level 4 alone the send waits for the other side, and so learns of it.
        const VIP_UINT32 sent = next_errors(pair.one, false);
        const bool tells = level == VIP_SERVICE_RELIABLE_RECEPTION;
        good &= PORT_TEST_CHECK(sent == (tells ? bad.send_status : 0), rank.port(), sent);
        if (level == VIP_SERVICE_UNRELIABLE && bad.drops) {
          (void)place.send(pair.one, place.describe(2, {{0, 32}}));
          good &= PORT_TEST_CHECK(next_errors(pair.two, true) == 0, rank.port(), level);
        } else {
          const VIP_UINT32 got = next_errors(pair.two, true);
          good &= PORT_TEST_CHECK(got == bad.receive_status, rank.port(), got);
          if (got != bad.receive_status) std::fprintf(stderr, "  %s\n", bad.what);
        }
        const bool broken = level != VIP_SERVICE_UNRELIABLE;
        good &=
            PORT_TEST_CHECK((state_of(pair.two) == VIP_STATE_ERROR) == broken, rank.port(), level);
        if (broken || bad.code == VIP_ERROR_RDMAW_PROT) {
          while (!pair.told.has(static_cast<VIP_ERROR_CODE>(bad.code))) {
            VIP_DESCRIPTOR* none = nullptr;
            (void)VipRecvDone(pair.two, &none);
          }
        }
      }
    }
    return PORT_TEST_CHECK(place.good && place.close(), rank.port(), 0) && good;
  });
}

// A read that is not permitted, and a message for which nothing is posted.
TEST_P(Errors, reads_and_empty_queues) {
  run_ranks(GetParam(), 1, [](run::Context& rank) {
    Place place;
    bool good = true;
    for (const VIP_RELIABILITY_LEVEL level : {kLevels[1], kLevels[2]}) {
      Pair pair(place, level);
      place.describe(1, {{0, 32}}, VIP_CONTROL_OP_RDMAREAD);
      place.aim(1, reinterpret_cast<std::uintptr_t>(place.slots.data()), place.slots_handle);
      (void)place.send(pair.one, place.slots[1].descriptor());
      const VIP_UINT32 status = next_errors(pair.one, false);
      good &= PORT_TEST_CHECK(status == VIP_STATUS_RDMA_PROT_ERROR, rank.port(), status);
      while (!pair.told.has(VIP_ERROR_RDMAR_PROT) || !pair.told.has(VIP_ERROR_CONN_LOST)) {
        VIP_DESCRIPTOR* none = nullptr;
        (void)VipRecvDone(pair.two, &none);
      }
    }
    for (const VIP_RELIABILITY_LEVEL level : kLevels) {
      Pair pair(place, level);
      for (std::size_t i = 1; i <= 3; ++i) (void)place.send(pair.one, place.describe(i, {{0, 8}}));
      if (level == VIP_SERVICE_UNRELIABLE) {
        // Expect: dropped, all three; a receive gets what is sent after it.
        for (int i = 0; i < 3; ++i) {
          good &= PORT_TEST_CHECK(next_errors(pair.one, false) == 0, rank.port(), i);
        }
        VIP_DESCRIPTOR* none = nullptr;
        for (int i = 0; i < 200; ++i) (void)VipRecvDone(pair.two, &none);
        place.fill({0, 8}, 5);
        (void)place.receive(pair.two, place.describe(0, {{5000, 8}}));
        (void)place.send(pair.one, place.describe(4, {{0, 8}}));
        good &= PORT_TEST_CHECK(next_errors(pair.two, true) == 0 && place.holds({5000, 8}, 5),
                                rank.port(), 0);
        continue;
      }
      while (!pair.told.has(VIP_ERROR_RECVQ_EMPTY) || !pair.told.has(VIP_ERROR_CONN_LOST)) {
        VIP_DESCRIPTOR* none = nullptr;
        (void)VipRecvDone(pair.two, &none);
      }
      good &= PORT_TEST_CHECK(state_of(pair.one) == VIP_STATE_ERROR, rank.port(), level);
      if (level == VIP_SERVICE_RELIABLE_RECEPTION) {
        good &= PORT_TEST_CHECK(next_errors(pair.one, false) == VIP_STATUS_REMOTE_DESC_ERROR,
                                rank.port(), level);
        good &= PORT_TEST_CHECK(next_errors(pair.one, false) == VIP_STATUS_DESC_FLUSHED_ERROR,
                                rank.port(), level);
      }
    }
    return PORT_TEST_CHECK(place.good && place.close(), rank.port(), 0) && good;
  });
}

TEST_P(Errors, posts_that_are_refused) {
  run_ranks(GetParam(), 1, [](run::Context& rank) {
    Place place;
    bool good = true;
    {
      Pair pair(place, VIP_SERVICE_RELIABLE_DELIVERY);
      const VIP_VI_HANDLE vi = pair.two;
      VIP_DESCRIPTOR* const whole = place.describe(0, {{0, 8}});
      auto* const misaligned =
          reinterpret_cast<VIP_DESCRIPTOR*>(reinterpret_cast<std::byte*>(whole) + 32);
      const VIP_MEM_HANDLE foreign =
          place.foreign(place.slots.data(), sizeof(Place::Slot) * Place::kSlots);
      VIP_DESCRIPTOR* const many = place.describe(Place::kSlots - 1, {{0, 8}});
      many->CS.SegCount = 100;  // beyond the region's end
      struct {
        VIP_RETURN answer;
        VIP_RETURN expected;
      } const posts[] = {
          {place.receive(vi, nullptr), VIP_INVALID_PARAMETER},
          {place.receive(vi, misaligned), VIP_INVALID_PARAMETER},
          {place.receive(nullptr, whole), VIP_INVALID_PARAMETER},
          {place.receive(place.nic, whole), VIP_INVALID_PARAMETER},
          {VipPostRecv(vi, whole, 0), VIP_INVALID_PARAMETER},
          {VipPostRecv(vi, whole, place.handle), VIP_INVALID_PARAMETER},
          {VipPostRecv(vi, whole, foreign), VIP_INVALID_PARAMETER},
          {place.receive(vi, many), VIP_INVALID_PARAMETER},
          {place.receive(vi, whole), VIP_SUCCESS},
          {place.receive(vi, whole), VIP_INVALID_PARAMETER},
          {place.send(pair.one, whole), VIP_INVALID_PARAMETER},
          {VipDeregisterMem(place.nic, place.slots.data(), place.slots_handle), VIP_ERROR_RESOURCE},
          {VipDestroyVi(vi), VIP_INVALID_STATE},
          {VipDisconnect(vi), VIP_SUCCESS},
          {VipDestroyVi(vi), VIP_ERROR_RESOURCE},
      };
      for (std::size_t i = 0; i < std::size(posts); ++i) {
        good &= PORT_TEST_CHECK(posts[i].answer == posts[i].expected, rank.port(), i);
      }
      // Expect: what was open when the VI was disconnected is flushed; then it may be posted again.
      good &=
          PORT_TEST_CHECK(next_errors(vi, true) == VIP_STATUS_DESC_FLUSHED_ERROR, rank.port(), 0);
      good &= PORT_TEST_CHECK(place.receive(vi, whole) == VIP_SUCCESS, rank.port(), 0);
      good &= PORT_TEST_CHECK(place.send(vi, place.describe(1, {{0, 8}})) == VIP_SUCCESS &&
                                  next_errors(vi, false) == VIP_STATUS_DESC_FLUSHED_ERROR,
                              rank.port(), 0);
      while (!pair.told.has(VIP_ERROR_POST_DESC) || !pair.told.has(VIP_ERROR_CONN_LOST)) {
        VIP_DESCRIPTOR* none = nullptr;
        (void)VipSendDone(pair.one, &none);
      }
      // Connected with each other once more, the receive that was posted is filled.
      (void)VipDisconnect(pair.one);
      Address left(place.nic, 0, "left");
      Address right(place.nic, 0, "right");
      (void)VipConnectPeerRequest(pair.one, &left.net, &right.net, 30'000);
      (void)VipConnectPeerRequest(pair.two, &right.net, &left.net, 30'000);
      good &= PORT_TEST_CHECK(VipConnectPeerWait(pair.one, nullptr) == VIP_SUCCESS &&
                                  VipConnectPeerWait(pair.two, nullptr) == VIP_SUCCESS,
                              rank.port(), 0);
      (void)place.send(pair.one, place.describe(1, {{0, 8}}));
      good &= PORT_TEST_CHECK(next_errors(pair.two, true) == 0, rank.port(), 0);
    }
    return PORT_TEST_CHECK(place.good && place.close(), rank.port(), 0) && good;
  });
}

TEST_P(Errors, completion_queues_that_overrun) {
  run_ranks(GetParam(), 1, [](run::Context& rank) {
    Place place;
    VIP_CQ_HANDLE queue = nullptr;
    bool good = PORT_TEST_CHECK(VipCreateCQ(place.nic, 0, &queue) == VIP_INVALID_PARAMETER &&
                                    VipCreateCQ(place.nic, 2, &queue) == VIP_SUCCESS,
                                rank.port(), 0);
    {
      Pair pair(place, VIP_SERVICE_RELIABLE_DELIVERY, queue);
      for (std::size_t i = 0; i < 4; ++i) {
        (void)place.receive(pair.two, place.describe(i, {{i * 8, 8}}));
      }
      for (std::size_t i = 4; i < 7; ++i) (void)place.send(pair.one, place.describe(i, {{500, 8}}));
      while (!pair.told.has(VIP_ERROR_VI_OVERRUN)) {
        VIP_DESCRIPTOR* none = nullptr;
        (void)VipSendDone(pair.one, &none);
      }
      good &= PORT_TEST_CHECK(state_of(pair.two) == VIP_STATE_ERROR, rank.port(), 0);
      // Expect: two entries; all four descriptors come back, three of them full.
      VIP_VI_HANDLE vi = nullptr;
      VIP_BOOLEAN is_receive = VIP_FALSE;
      good &= PORT_TEST_CHECK(VipResizeCQ(queue, 1) == VIP_ERROR_RESOURCE, rank.port(), 0);
      for (int i = 0; i < 2; ++i) {
        good &= PORT_TEST_CHECK(VipCQDone(queue, &vi, &is_receive) == VIP_SUCCESS &&
                                    vi == pair.two && is_receive == VIP_TRUE,
                                rank.port(), i);
      }
      for (int i = 0; i < 4; ++i) {
        const VIP_UINT32 errors = next_errors(pair.two, true);
        good &= PORT_TEST_CHECK(errors == (i < 3 ? 0 : VIP_STATUS_DESC_FLUSHED_ERROR), rank.port(),
                                errors);
      }
      good &= PORT_TEST_CHECK(VipDestroyCQ(queue) == VIP_ERROR_RESOURCE, rank.port(), 0);
    }
    good &= PORT_TEST_CHECK(VipDestroyCQ(queue) == VIP_SUCCESS, rank.port(), 0);
    return PORT_TEST_CHECK(place.good && place.close(), rank.port(), 0) && good;
  });
}

TEST_P(Errors, objects_that_cannot_be_made) {
  run_ranks(GetParam(), 1, [](run::Context& rank) {
    Place place;
    VIP_VI_HANDLE vi = nullptr;
    VIP_MEM_HANDLE memory = 0;
    const auto create = [&](auto&& change) {
      VIP_VI_ATTRIBUTES its = place.attributes(VIP_SERVICE_RELIABLE_DELIVERY);
      change(its);
      return VipCreateVi(place.nic, &its, nullptr, nullptr, &vi);
    };
    VIP_MEM_ATTRIBUTES bad_ptag{place.nic, VIP_FALSE, VIP_FALSE};
    char byte = 0;
    struct {
      VIP_RETURN answer;
      VIP_RETURN expected;
    } const all[] = {
        {create([](auto& its) { its.ReliabilityLevel = 0; }), VIP_INVALID_RELIABILITY_LEVEL},
        {create([](auto& its) { its.ReliabilityLevel = 3; }), VIP_INVALID_RELIABILITY_LEVEL},
        {create([](auto& its) { its.ReliabilityLevel = 8; }), VIP_INVALID_RELIABILITY_LEVEL},
        {create([](auto& its) { its.MaxTransferSize = 1ul << 40; }), VIP_INVALID_MTU},
        {create([](auto& its) { its.Ptag = nullptr; }), VIP_INVALID_PTAG},
        {create([](auto& its) { its.ReliabilityLevel = 1; }), VIP_INVALID_RDMAREAD},
        {VipCreateVi(place.nic, nullptr, nullptr, nullptr, &vi), VIP_INVALID_PARAMETER},
        {VipRegisterMem(place.nic, nullptr, 8, nullptr, &memory), VIP_INVALID_PARAMETER},
        {VipRegisterMem(place.nic, &byte, 0, nullptr, &memory), VIP_INVALID_PARAMETER},
        {VipRegisterMem(place.nic, &byte, 1, &bad_ptag, &memory), VIP_INVALID_PTAG},
        {VipDeregisterMem(place.nic, &byte, place.handle), VIP_INVALID_PARAMETER},
        {VipDestroyPtag(place.nic, place.ptag), VIP_ERROR_RESOURCE},
        {VipCreateCQ(place.nic, 1ul << 40, &vi), VIP_ERROR_RESOURCE},
        {VipCloseNic(nullptr), VIP_INVALID_PARAMETER},
        {VipQueryNic(place.ptag, nullptr), VIP_INVALID_PARAMETER},
    };
    bool good = true;
    for (std::size_t i = 0; i < std::size(all); ++i) {
      good &= PORT_TEST_CHECK(all[i].answer == all[i].expected, rank.port(), i);
    }
    return PORT_TEST_CHECK(place.close(), rank.port(), 0) && good;
  });
}

// A rank that sends anything on the channels of VIs.
TEST_P(Errors, packets_of_any_bytes_do_no_harm) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    port_test::Meeting meeting(rank.port());
    Place place;
    const VIP_VI_HANDLE vi = place.vi(VIP_SERVICE_UNRELIABLE);
    bool good = place.connect(vi, 1 - rank.port().self(), "target");
    (void)place.receive(vi, place.describe(0, {{0, 64}}));
    good &= meeting.meet();
    if (rank.port().self() == 1) {
      Prng prng(11);
      const auto channels = run::names_of(run::System::via).channels;
      for (int i = 0; i < 2000; ++i) {
        std::byte bytes[200];
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(prng.next());
        // Half of them for VIs that there are, of every kind.
        lci::Words words = {
            static_cast<std::uint32_t>(prng.next()), static_cast<std::uint32_t>(prng.next()),
            static_cast<std::uint32_t>(prng.next()), static_cast<std::uint32_t>(prng.next())};
        if (i % 2 == 0) words[0] = static_cast<std::uint32_t>(prng.below(8)) << 24;
        if (i % 4 == 0) words[1] = words[2] = 40;
        if (i % 3 == 0) bytes[0] = static_cast<std::byte>(prng.below(6));
        const lci::Lane lane = i % 5 == 0 ? lci::Lane::reply : lci::Lane::request;
        const std::size_t most = rank.port().caps(0).inline_bytes_max;
        const std::size_t size = i % 3 == 0
                                     ? std::min<std::size_t>(160, most)
                                     : prng.below(std::min<std::size_t>(most, sizeof bytes) + 1);
        (void)rank.port().send_small({0}, channels[i % 3 == 0 ? 1 : 0], lane, words, {bytes, size},
                                     lci::kNoFlags);
      }
    }
    good &= meeting.meet();
    VIP_DESCRIPTOR* found = nullptr;
    for (int i = 0; i < 100; ++i) (void)VipRecvDone(vi, &found);
    // Expect: a connection that is made now works.
    const VIP_VI_HANDLE after = place.vi(VIP_SERVICE_RELIABLE_RECEPTION);
    (void)place.receive(after, place.describe(1, {{100, 64}}));
    good &= PORT_TEST_CHECK(place.connect(after, 1 - rank.port().self(), "after"), rank.port(), 0);
    (void)place.send(after, place.describe(2, {{200, 64}}));
    good &= PORT_TEST_CHECK(next_errors(after, true) == 0 && next_errors(after, false) == 0,
                            rank.port(), 0);
    good &= PORT_TEST_CHECK(meeting.meet(), rank.port(), 0);
    return PORT_TEST_CHECK(place.finish(), rank.port(), 0) && good;
  });
}

}  // namespace
}  // namespace fairlead::via_test
