// Interrupts between processes in every world, with data and without, waited for and called back.
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/sisci/sisci_parts.h"

namespace fairlead::port_test {
namespace {

constexpr unsigned kPlain = 5;
constexpr unsigned kData = 6;

class SisciInterrupts : public PerWorld {};
INSTANTIATE_PORT_TESTS(SisciInterrupts);

TEST_P(SisciInterrupts, come_from_either_side_each_once) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    const unsigned peer = 1 - port.self();
    Owner mine(port);
    Meeting meeting(port);
    unsigned number = kPlain;
    sci_local_interrupt_t here = nullptr;
    sci_remote_interrupt_t there = nullptr;
    bool good = mine.good;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateInterrupt, mine.device, &here, 0, &number,
                         nullptr, nullptr, SCI_FLAG_FIXED_INTNO);
    good &= SISCI_EXPECT(SCI_ERR_TIMEOUT, port, SCIWaitForInterrupt, here, 1, 0);
    good &= meeting.meet();
    good &= SISCI_EXPECT(SCI_ERR_NO_SUCH_INTNO, port, SCIConnectInterrupt, mine.device, &there,
                         peer, 0, kPlain + 1, SCI_INFINITE_TIMEOUT, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectInterrupt, mine.device, &there, peer, 0,
                         kPlain, SCI_INFINITE_TIMEOUT, 0);
    User map;
    if (!good || !map.connect(mine, peer)) return false;
    // Expect: what was copied before is there when the interrupt is
    for (unsigned char lap = 1; lap <= 5; ++lap) {
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCpy, map.sequence, &lap, map.map, 500, 1, 0);
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITriggerInterrupt, there, 0);
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIWaitForInterrupt, here, SCI_INFINITE_TIMEOUT, 0);
      good &= PORT_TEST_CHECK(mine.at[500] >= lap, port, mine.at[500]);
    }
    good &= SISCI_EXPECT(SCI_ERR_TIMEOUT, port, SCIWaitForInterrupt, here, 1, 0);
    good &= meeting.meet();
    // Expect: several that nobody waited for are as many
    for (int i = 0; i < 3; ++i)
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITriggerInterrupt, there, 0);
    for (int i = 0; i < 3; ++i) {
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIWaitForInterrupt, here, SCI_INFINITE_TIMEOUT, 0);
    }
    good &= meeting.meet();
    // Expect: one that its owner removed cannot be triggered, and is made anew under its number
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIRemoveInterrupt, here, 0);
    good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIWaitForInterrupt, here, 0, 0);
    good &= meeting.meet() && meeting.meet();
    good &= SISCI_EXPECT(SCI_ERR_NOT_CONNECTED, port, SCITriggerInterrupt, there, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIDisconnectInterrupt, there, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateInterrupt, mine.device, &here, 0, &number,
                         nullptr, nullptr, SCI_FLAG_FIXED_INTNO | SCI_FLAG_COUNTING_INT);
    good &= meeting.meet();
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectInterrupt, mine.device, &there, peer, 0,
                         kPlain, SCI_INFINITE_TIMEOUT, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITriggerInterrupt, there, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIWaitForInterrupt, here, SCI_INFINITE_TIMEOUT, 0);
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

TEST_P(SisciInterrupts, carry_data) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    const unsigned peer = 1 - port.self();
    Owner mine(port);
    Meeting meeting(port);
    unsigned number = 0;
    sci_local_data_interrupt_t here = nullptr;
    sci_remote_data_interrupt_t there = nullptr;
    sci_remote_interrupt_t plain = nullptr;
    bool good = mine.good;
    // The first number that is chosen is every process's first.
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateDataInterrupt, mine.device, &here, 0, &number,
                         nullptr, nullptr, 0);
    good &= meeting.meet();
    good &= SISCI_EXPECT(SCI_ERR_NO_SUCH_INTNO, port, SCIConnectInterrupt, mine.device, &plain,
                         peer, 0, number, SCI_INFINITE_TIMEOUT, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectDataInterrupt, mine.device, &there, peer, 0,
                         number, SCI_INFINITE_TIMEOUT, 0);
    if (!good) return false;
    for (const unsigned length : {1u, 40u, SISCI_INTERRUPT_DATA_MAX}) {
      std::string said(length, static_cast<char>('a' + port.self()));
      good &=
          SISCI_EXPECT(SCI_ERR_OK, port, SCITriggerDataInterrupt, there, said.data(), length, 0);
    }
    char room[SISCI_INTERRUPT_DATA_MAX];
    for (const unsigned length : {1u, 40u, SISCI_INTERRUPT_DATA_MAX}) {
      unsigned got = length - 1;
      // Expect: what does not fit stays
      good &= SISCI_EXPECT(SCI_ERR_OUT_OF_RANGE, port, SCIWaitForDataInterrupt, here, room, &got,
                           SCI_INFINITE_TIMEOUT, 0);
      good &= PORT_TEST_CHECK(got == length, port, got);
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIWaitForDataInterrupt, here, room, &got, 0, 0);
      good &= PORT_TEST_CHECK(
          std::string(room, got) == std::string(length, static_cast<char>('a' + peer)), port, got);
    }
    unsigned got = sizeof room;
    good &= SISCI_EXPECT(SCI_ERR_TIMEOUT, port, SCIWaitForDataInterrupt, here, room, &got, 1, 0);
    good &= SISCI_EXPECT(SCI_ERR_OUT_OF_RANGE, port, SCITriggerDataInterrupt, there, room, 0, 0);
    good &= SISCI_EXPECT(SCI_ERR_OUT_OF_RANGE, port, SCITriggerDataInterrupt, there, room,
                         SISCI_INTERRUPT_DATA_MAX + 1, 0);
    good &= meeting.meet();
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIDisconnectDataInterrupt, there, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIRemoveDataInterrupt, here, 0);
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

// What callbacks found.
struct Told {
  unsigned plain = 0;
  std::string data;
  std::vector<int> local;
  std::vector<int> remote;
  sci_remote_interrupt_t answer = nullptr;
  sci_error_t answered = SCI_ERR_BUSY;
};

sci_callback_action_t on_plain(void* arg, sci_local_interrupt_t, sci_error_t) {
  auto& told = *static_cast<Told*>(arg);
  ++told.plain;
  // A callback may call the library.
  if (told.answer != nullptr) SCITriggerInterrupt(told.answer, 0, &told.answered);
  return told.plain == 2 ? SCI_CALLBACK_CANCEL : SCI_CALLBACK_CONTINUE;
}
sci_callback_action_t on_data(void* arg, sci_local_data_interrupt_t, void* data, unsigned length,
                              sci_error_t) {
  static_cast<Told*>(arg)->data.append(static_cast<const char*>(data), length);
  return SCI_CALLBACK_CONTINUE;
}
sci_callback_action_t on_local(void* arg, sci_local_segment_t, sci_segment_cb_reason_t reason,
                               unsigned, unsigned, sci_error_t) {
  static_cast<Told*>(arg)->local.push_back(reason);
  return SCI_CALLBACK_CONTINUE;
}
sci_callback_action_t on_remote(void* arg, sci_remote_segment_t, sci_segment_cb_reason_t reason,
                                sci_error_t) {
  static_cast<Told*>(arg)->remote.push_back(reason);
  return SCI_CALLBACK_CONTINUE;
}

// Rank 1: makes rank 0's callbacks run. `plain`: its own interrupt, `there`: rank 0's.
bool cause_callbacks(const Owner& mine, Told& told, sci_local_interrupt_t plain,
                     sci_remote_interrupt_t there) {
  lci::Port& port = mine.port;
  User user;
  sci_remote_data_interrupt_t there_data = nullptr;
  sci_remote_segment_t remote = nullptr;
  bool good = user.connect(mine, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectDataInterrupt, mine.device, &there_data, 0, 0,
                       kData, SCI_INFINITE_TIMEOUT, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectSegment, mine.device, &remote, 0, 8, 0,
                       on_remote, &told, 0, SCI_FLAG_USE_CALLBACK | SCI_FLAG_ASYNCHRONOUS_CONNECT);
  // Expect: an interrupt in answer to each, and no third after SCI_CALLBACK_CANCEL
  for (int i = 0; i < 3; ++i) good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITriggerInterrupt, there, 0);
  for (int i = 0; i < 2; ++i) {
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIWaitForInterrupt, plain, SCI_INFINITE_TIMEOUT, 0);
  }
  for (std::string said : {"one", "two"}) {
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITriggerDataInterrupt, there_data, said.data(), 3, 0);
  }
  while (told.remote.empty()) SCIWaitForInterrupt(plain, 1, 0, nullptr);
  good &=
      PORT_TEST_CHECK(told.remote == std::vector<int>{SCI_CB_CONNECT}, port, told.remote.size());
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIDisconnectSegment, remote, 0);
  std::uint32_t one = 1;
  return good & SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCpy, user.sequence, &one, user.map, 0, 4,
                             SCI_FLAG_ERROR_CHECK);
}

// As programs for an adapter do: the main thread waits for what a callback sets, and calls nothing.
TEST_P(SisciInterrupts, are_called_back_while_the_program_makes_no_calls) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    // In the model and on loop time does not pass in the program's own code.
    const bool without_calls = port.doorbell() >= 0;
    Owner mine(port);
    Meeting meeting(port);
    std::atomic<unsigned> called{0};
    const auto count = [](void* arg, sci_local_interrupt_t, sci_error_t) {
      ++*static_cast<std::atomic<unsigned>*>(arg);
      return SCI_CALLBACK_CONTINUE;
    };
    unsigned number = kPlain;
    sci_local_interrupt_t here = nullptr;
    sci_remote_interrupt_t there = nullptr;
    bool good = mine.good;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateInterrupt, mine.device, &here, 0, &number,
                         count, &called, SCI_FLAG_FIXED_INTNO | SCI_FLAG_USE_CALLBACK);
    good &= meeting.meet();
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectInterrupt, mine.device, &there,
                         1 - port.self(), 0, kPlain, SCI_INFINITE_TIMEOUT, 0);
    good &= meeting.meet();
    for (unsigned lap = 1; good && lap <= 20; ++lap) {
      if (port.self() == 0) {
        good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITriggerInterrupt, there, 0);
      }
      while (called.load() < lap) {
        if (without_calls) {
          usleep(100);
        } else {
          const std::uint32_t word = 0;
          (void)sisci_wait_word(&word, 0, 1, nullptr);
        }
      }
      if (port.self() == 1) {
        good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITriggerInterrupt, there, 0);
      }
    }
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(called.load() == 20, port, called.load());
    SCITerminate();
    return good;
  });
}

TEST_P(SisciInterrupts, are_called_back_in_calls) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Owner mine(port);
    Meeting meeting(port);
    Told told;
    const bool serves = port.self() == 0;
    unsigned numbers[] = {kPlain, kData, kPlain};
    bool good = mine.good;
    sci_local_interrupt_t plain = nullptr;
    sci_local_data_interrupt_t data = nullptr;
    sci_remote_interrupt_t there = nullptr;
    sci_local_segment_t segment = nullptr;
    constexpr unsigned kCalled = SCI_FLAG_FIXED_INTNO | SCI_FLAG_USE_CALLBACK;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateInterrupt, mine.device, &plain, 0, &numbers[0],
                         on_plain, &told, serves ? kCalled : SCI_FLAG_FIXED_INTNO);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateDataInterrupt, mine.device, &data, 0,
                         &numbers[1], on_data, &told, kCalled);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateSegment, mine.device, &segment, 8, 64, on_local,
                         &told, SCI_FLAG_USE_CALLBACK);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIPrepareSegment, segment, 0, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCISetSegmentAvailable, segment, 0, 0);
    good &= meeting.meet();
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectInterrupt, mine.device, &there,
                         1 - port.self(), 0, kPlain, SCI_INFINITE_TIMEOUT, 0);
    told.answer = there;
    good &= meeting.meet();
    if (!good) return false;
    if (serves) {
      good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCIWaitForInterrupt, plain, 0, 0);
      good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCIWaitForLocalSegmentEvent, segment,
                           nullptr, nullptr, 0, 0);
      // Any wait runs them: this one ends when the other writes.
      const auto* const word = reinterpret_cast<const volatile std::uint32_t*>(mine.at);
      good &= SISCI_EXPECT(SCI_ERR_OK, port, sisci_wait_word, word, 0, SCI_INFINITE_TIMEOUT);
      good &= meeting.meet();
      good &= SISCI_EXPECT(SCI_ERR_TIMEOUT, port, sisci_wait_word, word, *word, 0);
      good &= PORT_TEST_CHECK(told.plain == 2 && told.answered == SCI_ERR_OK, port, told.plain);
      good &= PORT_TEST_CHECK(told.data == "onetwo", port, told.data.size());
      good &= PORT_TEST_CHECK((told.local == std::vector<int>{SCI_CB_CONNECT, SCI_CB_DISCONNECT}),
                              port, told.local.size());
    } else {
      good &= cause_callbacks(mine, told, plain, there);
      good &= meeting.meet();
    }
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
