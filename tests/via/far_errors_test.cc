// What goes wrong between VIs of two processes, each on a node of its own: the tables of
// errors_test.cc once more, where on a modelled machine of virtual interfaces the network
// interfaces move what is posted, and no provider sees it before its end.
#include <cstdlib>

#include "fairlead/systems/via/loss.h"
#include "tests/via/bad_descriptors.h"

namespace fairlead::via_test {
namespace {

using port_test::run_ranks;

class Far : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(Far, ::testing::Values("loop", "shm", "udp", "myrinet-p3/sdma",
                                                 "millennium/via"));

// This rank's end of a connection with the other rank. Rank 0 sends, rank 1 receives; errors are
// told to `told`.
struct End {
  Place& place;
  lci::Port& port;
  port_test::Meeting& meeting;
  VIP_VI_HANDLE vi;
  Told told{place.nic};

  End(Place& its, lci::Port& on, port_test::Meeting& meets, VIP_RELIABILITY_LEVEL level,
      VIP_CQ_HANDLE receives = nullptr)
      : place(its), port(on), meeting(meets), vi(its.vi(level, nullptr, receives)) {}
  bool sends() const { return port.self() == 0; }
  bool connect() { return place.connect(vi, 1 - port.self(), "far") && meeting.meet(); }
  // Until a handler has been told the code. Looks at the queue that has nothing posted.
  void await(VIP_ERROR_CODE code) {
    VIP_DESCRIPTOR* none = nullptr;
    while (!told.has(code)) {
      (void)(sends() ? VipRecvDone(vi, &none) : VipSendDone(vi, &none));
    }
  }
  // Both ranks are done with it.
  bool finish() {
    bool good = meeting.meet();
    good = destroy(vi) && good;
    place.vis.clear();
    return meeting.meet() && good;
  }
};

TEST_P(Far, sends_that_cannot_be_right) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    port_test::Meeting meeting(port);
    Place place;
    const VIP_MEM_HANDLE foreign = place.foreign(place.memory.data(), Place::kBytes);
    bool good = true;
    for (const VIP_RELIABILITY_LEVEL level : kLevels) {
      for (const BadSend& bad : kBadSends) {
        const bool breaks = level != VIP_SERVICE_UNRELIABLE;
        End end(place, port, meeting, level);
        if (!end.sends()) (void)place.receive(end.vi, place.describe(0, {{5000, 64}}));
        good &= PORT_TEST_CHECK(end.connect(), port, level);
        if (end.sends()) {
          place.describe(1, {{0, 32}});
          bad.spoil(place, foreign);
          good &= PORT_TEST_CHECK(place.send(end.vi, place.slots[1].descriptor()) == VIP_SUCCESS,
                                  port, level);
          (void)place.send(end.vi, place.describe(2, {{0, 32}}));
          const VIP_UINT32 errors = next_errors(end.vi, false);
          good &= PORT_TEST_CHECK(errors == bad.status, port, errors);
          if (errors != bad.status) std::fprintf(stderr, "  %s\n", bad.what);
          // Expect: a reliable connection breaks, an unreliable one goes on.
          const VIP_UINT32 next = next_errors(end.vi, false);
          good &= PORT_TEST_CHECK(next == (breaks ? VIP_STATUS_DESC_FLUSHED_ERROR : 0), port, next);
          good &= PORT_TEST_CHECK((state_of(end.vi) == VIP_STATE_ERROR) == breaks, port, level);
        } else {
          const VIP_UINT32 errors = next_errors(end.vi, true);
          good &=
              PORT_TEST_CHECK(errors == (breaks ? VIP_STATUS_DESC_FLUSHED_ERROR : 0), port, errors);
        }
        good &= PORT_TEST_CHECK(end.finish(), port, level);
      }
    }
    return PORT_TEST_CHECK(place.good && place.close(), port, 0) && good;
  });
}

// Each side tells the other one where its memory is, by a VI of its own.
Target exchange_targets(Place& place, lci::Port& port, port_test::Meeting& meeting) {
  End end(place, port, meeting, VIP_SERVICE_RELIABLE_RECEPTION);
  (void)place.receive(end.vi, place.describe(0, {{0, 64}}));
  place.good = end.connect() && place.good;
  const Target mine(place);
  std::memcpy(place.memory.data() + 100, &mine, sizeof mine);
  (void)place.send(end.vi, place.describe(1, {{100, sizeof mine}}));
  place.good = next_errors(end.vi, true) == 0 && next_errors(end.vi, false) == 0 && place.good;
  Target its;
  std::memcpy(&its, place.memory.data(), sizeof its);
  place.good = end.finish() && place.good;
  return its;
}

TEST_P(Far, messages_that_find_no_place) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    port_test::Meeting meeting(port);
    Place place;
    const Target there = exchange_targets(place, port, meeting);
    bool good = PORT_TEST_CHECK(place.good, port, 0);
    for (const VIP_RELIABILITY_LEVEL level : kLevels) {
      for (const BadArrival& bad : kBadArrivals) {
        // RDMA writes with immediate data take a receive, too.
        for (const bool with_immediate : {false, true}) {
          End end(place, port, meeting, level);
          bad.prepare(place, there);
          VIP_UINT16& control = place.slots[1].control.Control;
          const bool is_write = (control & VIP_CONTROL_OP_MASK) == VIP_CONTROL_OP_RDMAWRITE;
          if (with_immediate && is_write) control |= VIP_CONTROL_IMMEDIATE;
          const bool breaks = level != VIP_SERVICE_UNRELIABLE;
          if (!end.sends()) (void)place.receive(end.vi, place.slots[0].descriptor());
          good &= PORT_TEST_CHECK(end.connect(), port, level);
          if (end.sends()) {
            (void)place.send(end.vi, place.slots[1].descriptor());
            // Expect: on level 4 alone the send waits for the other side, and so learns of it.
            const VIP_UINT32 sent = next_errors(end.vi, false);
            const bool tells = level == VIP_SERVICE_RELIABLE_RECEPTION;
            good &= PORT_TEST_CHECK(sent == (tells ? bad.send_status : 0), port, sent);
            if (breaks) end.await(VIP_ERROR_CONN_LOST);
            if (!breaks && bad.drops) (void)place.send(end.vi, place.describe(2, {{0, 32}}));
          } else {
            VIP_UINT32 got = next_errors(end.vi, true);
            const VIP_UINT32 expected = !breaks && bad.drops ? 0 : bad.receive_status;
            // A write with immediate data may have begun to take it.
            if (with_immediate && is_write && got == VIP_STATUS_PARTIAL_ERROR) {
              got = VIP_STATUS_DESC_FLUSHED_ERROR;
            }
            good &= PORT_TEST_CHECK(got == expected, port, got);
            if (got != expected) std::fprintf(stderr, "  %s\n", bad.what);
            if (breaks || bad.code == VIP_ERROR_RDMAW_PROT) {
              end.await(static_cast<VIP_ERROR_CODE>(bad.code));
            }
          }
          good &= PORT_TEST_CHECK((state_of(end.vi) == VIP_STATE_ERROR) == breaks, port, level);
          good &= PORT_TEST_CHECK(end.finish(), port, level);
        }
      }
    }
    return PORT_TEST_CHECK(place.good && place.close(), port, 0) && good;
  });
}

TEST_P(Far, messages_without_a_receive) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    port_test::Meeting meeting(port);
    Place place;
    bool good = true;
    for (const VIP_RELIABILITY_LEVEL level : kLevels) {
      End end(place, port, meeting, level);
      good &= PORT_TEST_CHECK(end.connect(), port, level);
      const bool breaks = level != VIP_SERVICE_UNRELIABLE;
      if (end.sends()) {
        (void)place.send(end.vi, place.describe(1, {{0, 8}}));
        const VIP_UINT32 errors = next_errors(end.vi, false);
        const bool tells = level == VIP_SERVICE_RELIABLE_RECEPTION;
        good &= PORT_TEST_CHECK(errors == (tells ? VIP_STATUS_REMOTE_DESC_ERROR : 0), port, errors);
        if (breaks) end.await(VIP_ERROR_CONN_LOST);
        good &= PORT_TEST_CHECK(meeting.meet(), port, level);
        // Expect: dropped; a receive gets what is sent after it.
        place.fill({0, 8}, 5);
        good &= PORT_TEST_CHECK(meeting.meet(), port, level);
        if (!breaks) {
          (void)place.send(end.vi, place.describe(2, {{0, 8}}));
          good &= PORT_TEST_CHECK(next_errors(end.vi, false) == 0, port, level);
        }
      } else {
        if (breaks) end.await(VIP_ERROR_RECVQ_EMPTY);
        good &= PORT_TEST_CHECK(meeting.meet(), port, level);
        VIP_DESCRIPTOR* none = nullptr;
        for (int i = 0; i < 200; ++i) (void)VipRecvDone(end.vi, &none);
        (void)place.receive(end.vi, place.describe(0, {{5000, 8}}));
        good &= PORT_TEST_CHECK(meeting.meet(), port, level);
        const VIP_UINT32 got = next_errors(end.vi, true);
        good &= PORT_TEST_CHECK(got == (breaks ? VIP_STATUS_DESC_FLUSHED_ERROR : 0), port, got);
        if (!breaks) good &= PORT_TEST_CHECK(place.holds({5000, 8}, 5), port, level);
      }
      good &= PORT_TEST_CHECK(end.finish(), port, level);
    }
    return PORT_TEST_CHECK(place.good && place.close(), port, 0) && good;
  });
}

TEST_P(Far, posts_that_are_refused) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    port_test::Meeting meeting(port);
    Place place;
    End end(place, port, meeting, VIP_SERVICE_RELIABLE_DELIVERY);
    bool good = PORT_TEST_CHECK(end.connect(), port, 0);
    const VIP_MEM_HANDLE foreign =
        place.foreign(place.slots.data(), sizeof(Place::Slot) * Place::kSlots);
    VIP_DESCRIPTOR* const whole = place.describe(0, {{0, 8}});
    auto* const misaligned =
        reinterpret_cast<VIP_DESCRIPTOR*>(reinterpret_cast<std::byte*>(whole) + 32);
    const struct {
      VIP_RETURN answer;
      VIP_RETURN expected;
    } posts[] = {
        {place.receive(end.vi, misaligned), VIP_INVALID_PARAMETER},
        {place.send(end.vi, misaligned), VIP_INVALID_PARAMETER},
        {VipPostRecv(end.vi, whole, 0), VIP_INVALID_PARAMETER},
        {VipPostSend(end.vi, whole, place.handle), VIP_INVALID_PARAMETER},
        {VipPostSend(end.vi, whole, foreign), VIP_INVALID_PARAMETER},
        {place.receive(end.vi, whole), VIP_SUCCESS},
        {place.receive(end.vi, whole), VIP_INVALID_PARAMETER},
        {place.send(end.vi, whole), VIP_INVALID_PARAMETER},
    };
    for (std::size_t i = 0; i < std::size(posts); ++i) {
      good &= PORT_TEST_CHECK(posts[i].answer == posts[i].expected, port, i);
    }
    // Expect: the connection is as it was.
    good &= PORT_TEST_CHECK(meeting.meet(), port, 0);
    (void)place.send(end.vi, place.describe(1, {{0, 8}}));
    good &=
        PORT_TEST_CHECK(next_errors(end.vi, true) == 0 && next_errors(end.vi, false) == 0, port, 0);
    return PORT_TEST_CHECK(end.finish() && place.good && place.close(), port, 0) && good;
  });
}

TEST_P(Far, a_disconnect_flushes_what_is_posted) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    constexpr std::size_t kPosted = 20;
    lci::Port& port = rank.port();
    port_test::Meeting meeting(port);
    Place place;
    bool good = true;
    for (const VIP_RELIABILITY_LEVEL level : kLevels) {
      End end(place, port, meeting, level);
      for (std::size_t i = 0; i < kPosted; ++i) {
        (void)place.receive(end.vi, place.describe(i, {{500'000 + i * 8000, 8000}}));
      }
      good &= PORT_TEST_CHECK(end.connect(), port, level);
      place.fill({0, 8000}, 3);
      if (end.sends()) {
        for (std::size_t i = 0; i < kPosted; ++i) {
          (void)place.send(end.vi, place.describe(100 + i, {{0, 8000}}));
        }
        good &= PORT_TEST_CHECK(VipDisconnect(end.vi) == VIP_SUCCESS, port, level);
      } else {
        end.await(VIP_ERROR_CONN_LOST);
      }
      // Expect: all of them come back, in order; whole messages first, behind them what was
      // flushed.
      bool flushed = false;
      for (std::size_t i = 0; i < kPosted; ++i) {
        VIP_DESCRIPTOR* found = nullptr;
        const VIP_RETURN answer = end.sends() ? sent(end.vi, &found) : received(end.vi, &found);
        flushed = flushed || answer == VIP_DESCRIPTOR_ERROR;
        const std::size_t slot = end.sends() ? 100 + i : i;
        good &= PORT_TEST_CHECK(found == place.slots[slot].descriptor(), port, i);
        good &= PORT_TEST_CHECK(answer == (flushed ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS), port, i);
        if (!end.sends() && !flushed) {
          good &= PORT_TEST_CHECK(place.holds({500'000 + i * 8000, 8000}, 3), port, i);
        }
      }
      // Expect: nothing comes any more; the memory is the program's.
      std::fill(place.memory.begin(), place.memory.end(), std::byte{9});
      good &= PORT_TEST_CHECK(end.finish(), port, level);
      good &= PORT_TEST_CHECK(std::all_of(place.memory.begin(), place.memory.end(),
                                          [](std::byte each) { return each == std::byte{9}; }),
                              port, level);
    }
    return PORT_TEST_CHECK(place.good && place.close(), port, 0) && good;
  });
}

// A completion queue of two entries, which one message after the other fills.
struct Filling {
  std::size_t first;  // messages
  std::size_t taken;  // entries, before the others come
  std::size_t others;
  bool overruns;
};
constexpr Filling kFillings[] = {
    {2, 0, 0, false},  // just full
    {3, 0, 0, true},   // one too many
    {2, 2, 2, false},  // room is made again in time
    {2, 1, 1, false},  // for one of them
    {2, 1, 2, true},   // but not for the last one
};

TEST_P(Far, completion_queues_that_overrun) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    port_test::Meeting meeting(port);
    Place place;
    bool good = true;
    for (const VIP_RELIABILITY_LEVEL level : kLevels) {
      for (const Filling& filling : kFillings) {
        VIP_CQ_HANDLE queue = nullptr;
        good &= PORT_TEST_CHECK(VipCreateCQ(place.nic, 2, &queue) == VIP_SUCCESS, port, level);
        End end(place, port, meeting, level, queue);
        const std::size_t all = filling.first + filling.others;
        for (std::size_t i = 0; i < all + 1 && !end.sends(); ++i) {
          (void)place.receive(end.vi, place.describe(i, {{i * 8, 8}}));
        }
        good &= PORT_TEST_CHECK(end.connect(), port, level);
        const auto take = [&](std::size_t entries) {
          VIP_VI_HANDLE vi = nullptr;
          VIP_BOOLEAN is_receive = VIP_FALSE;
          for (std::size_t i = 0; i < entries; ++i) {
            good &= PORT_TEST_CHECK(VipCQDone(queue, &vi, &is_receive) == VIP_SUCCESS &&
                                        vi == end.vi && is_receive == VIP_TRUE,
                                    port, i);
          }
        };
        std::size_t slot = 10;
        const auto move = [&](std::size_t messages) {
          for (std::size_t i = 0; i < messages; ++i) {
            if (end.sends()) (void)place.send(end.vi, place.describe(slot++, {{500, 8}}));
          }
          for (std::size_t i = 0; i < messages && !end.sends(); ++i) {
            const VIP_UINT32 errors = next_errors(end.vi, true);
            good &= PORT_TEST_CHECK(errors == 0, port, errors);
          }
        };
        move(filling.first);
        if (!end.sends()) take(filling.taken);
        if (filling.others > 0) good &= PORT_TEST_CHECK(meeting.meet(), port, level);
        move(filling.others);
        if (filling.overruns) end.await(end.sends() ? VIP_ERROR_CONN_LOST : VIP_ERROR_VI_OVERRUN);
        good &=
            PORT_TEST_CHECK((state_of(end.vi) == VIP_STATE_ERROR) == filling.overruns, port, level);
        // Expect: every message was received, and the entries that had room are right; one receive
        // is left.
        if (!end.sends()) {
          take(filling.overruns ? 2 : all - filling.taken);
          VIP_VI_HANDLE vi = nullptr;
          VIP_BOOLEAN is_receive = VIP_FALSE;
          good &= PORT_TEST_CHECK(VipCQDone(queue, &vi, &is_receive) == VIP_NOT_DONE, port, level);
          if (filling.overruns) {
            const VIP_UINT32 errors = next_errors(end.vi, true);
            good &= PORT_TEST_CHECK(errors == VIP_STATUS_DESC_FLUSHED_ERROR, port, errors);
          }
        }
        good &= PORT_TEST_CHECK(end.finish() && VipDestroyCQ(queue) == VIP_SUCCESS, port, level);
      }
    }
    return PORT_TEST_CHECK(place.good && place.close(), port, 0) && good;
  });
}

// A program whose VIs of level 1 lose packets: what arrives is whole, in order, and arrives once.
TEST_P(Far, unreliable_vis_that_lose) {
  ::setenv(via::kLossVariable, "drop=0.1,dup=0.1,reorder=0.1,seed=5", 1);
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    constexpr std::size_t kEach = 100;
    lci::Port& port = rank.port();
    port_test::Meeting meeting(port);
    Place place;
    End end(place, port, meeting, VIP_SERVICE_UNRELIABLE);
    for (std::size_t i = 0; i < kEach && !end.sends(); ++i) {
      (void)place.receive(end.vi, place.describe(i, {{i * 64, 64}}));
    }
    bool good = PORT_TEST_CHECK(end.connect(), port, 0);
    if (end.sends()) {
      for (std::size_t i = 0; i < kEach; ++i) {
        place.fill({i * 64, 64}, i);
        (void)place.send(end.vi, place.describe(i, {{i * 64, 64}}));
        good &= PORT_TEST_CHECK(next_errors(end.vi, false) == 0, port, i);
      }
    }
    good &= PORT_TEST_CHECK(meeting.meet(), port, 0);
    if (!end.sends()) {
      std::vector<int> came(kEach);
      std::size_t count = 0;
      VIP_DESCRIPTOR* found = nullptr;
      for (int quiet = 0; quiet < 300; ++quiet) {
        if (VipRecvDone(end.vi, &found) != VIP_SUCCESS) continue;
        quiet = 0;
        const std::size_t slot = count++;
        for (std::size_t i = 0; i < kEach; ++i) came[i] += place.holds({slot * 64, 64}, i) ? 1 : 0;
      }
      good &= PORT_TEST_CHECK(count > kEach / 2 && count < kEach, port, count);
      good &= PORT_TEST_CHECK(*std::max_element(came.begin(), came.end()) == 1, port, 0);
    }
    good &= PORT_TEST_CHECK(end.finish(), port, 0);
    return PORT_TEST_CHECK(place.good && place.close(), port, 0) && good;
  });
  ::unsetenv(via::kLossVariable);
}

}  // namespace
}  // namespace fairlead::via_test
