// Tports and queues in every world.
#include <cstring>
#include <string>
#include <vector>

#include "fairlead/lci/message_matching.h"
#include "fairlead/systems/elan/elan.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr unsigned kRanks = 3;
constexpr int kAllBits = -1;
constexpr unsigned kAnyVp = ~0u;

class ElanMessages : public PerWorld {};
INSTANTIATE_PORT_TESTS(ElanMessages);

struct Program {
  explicit Program(run::Context& rank)
      : port(rank.port()),
        base(elan_baseInit(0)),
        vp(base->state->vp),
        tport(elan_tportInit(base->state, elan_gallocQueue(base, base->allGroup))) {}

  void send(unsigned to, int tag, const std::string& text, unsigned flags = 0) const {
    elan_tportTxWait(elan_tportTxStart(tport, flags, to, vp, tag, text.data(), text.size()));
  }
  bool expect(ELAN_EVENT* event, unsigned from, int tag, const std::string& text) const {
    unsigned sender = 99;
    int got_tag = 0;
    std::size_t n = 0;
    const auto* const data =
        static_cast<const char*>(elan_tportRxWait(event, &sender, &got_tag, &n));
    return PORT_TEST_CHECK(sender == from && got_tag == tag && n == text.size(), port, n) &&
           PORT_TEST_CHECK(std::memcmp(data, text.data(), n) == 0, port, tag);
  }
  bool receive(unsigned from, int tagMask, int tag, int got, const std::string& text) const {
    std::vector<char> into(text.size() + 8);
    return expect(elan_tportRxStart(tport, 0, kAnyVp, from, tagMask, tag, into.data(), into.size()),
                  from, got, text);
  }

  lci::Port& port;
  ELAN_BASE* base;
  unsigned vp;
  ELAN_TPORT* tport;
};

TEST_P(ElanMessages, tports_match_tags_senders_and_masks) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    const Program p(rank);
    const std::string large(90'000, 'x');
    bool good = true;
    if (p.vp == 0) {
      p.send(1, 0x12, "first");
      p.send(1, 0x22, "second");
      p.send(1, 0x12, "third");
      p.send(1, 5, large);
      p.send(1, 6, "");
      p.send(1, 7, "behind the large one");
      // Expect: done only when it was taken, which is after what rank 1 says before
      std::vector<char> word(16);
      ELAN_EVENT* const said =
          elan_tportRxStart(p.tport, 0, kAnyVp, 1, kAllBits, 8, word.data(), word.size());
      p.send(1, 9, "taken?", ELAN_TPORT_TXSYNC);
      // Where an interface matches, it may still be at it.
      good &= PORT_TEST_CHECK(elan_tportRxDone(said) == 1 || lci::matching_of(p.port) != nullptr,
                              p.port, 0);
      good &= p.expect(said, 1, 8, "now");
      // Expect: to itself as to others
      p.send(0, 3, large);
      good &= p.receive(0, kAllBits, 3, 3, large);
    } else if (p.vp == 1) {
      good &= p.receive(0, kAllBits, 7, 7, "behind the large one");
      good &= p.receive(0, 0x0f, 0x02, 0x12, "first");
      good &= p.receive(0, 0x0f, 0x02, 0x22, "second");
      good &= p.receive(0, 0x10, 0x10, 0x12, "third");
      good &= p.receive(0, kAllBits, 5, 5, large);
      good &= p.receive(0, 0, 0, 6, "");
      p.port.charge({.ops = 100'000});
      p.send(0, 8, "now");
      good &= p.receive(0, kAllBits, 9, 9, "taken?");
    }
    elan_gsync(p.base->allGroup);
    // Expect: a probe tells the length and leaves the message; the system gives a buffer for it
    if (p.vp == 2) {
      for (unsigned to = 0; to < 2; ++to) p.send(to, 40, large);
    } else {
      std::size_t n = 0;
      unsigned sender = 0;
      elan_tportRxWait(elan_tportRxStart(p.tport, ELAN_TPORT_RXPROBE | ELAN_TPORT_RXANY, 0, 0,
                                         kAllBits, 40, nullptr, 0),
                       &sender, nullptr, &n);
      good &= PORT_TEST_CHECK(n == large.size() && sender == 2, p.port, n);
      void* const data =
          elan_tportRxWait(elan_tportRxStart(p.tport, ELAN_TPORT_RXBUF | ELAN_TPORT_RXANY, 0, 0,
                                             kAllBits, 40, nullptr, 0),
                           nullptr, nullptr, &n);
      good &=
          PORT_TEST_CHECK(n == large.size() && std::memcmp(data, large.data(), n) == 0, p.port, n);
      elan_tportBufFree(p.tport, data);
    }
    // Expect: what is too long is cut, and nothing behind the buffer is written
    if (p.vp == 0) p.send(2, 50, "a long text");
    if (p.vp == 2) {
      char into[8] = "-------";
      std::size_t n = 0;
      elan_tportRxWait(elan_tportRxStart(p.tport, 0, kAnyVp, 0, kAllBits, 50, into, 6), nullptr,
                       nullptr, &n);
      good &= PORT_TEST_CHECK(n == 11 && std::memcmp(into, "a long-", 8) == 0, p.port, n);
    }
    elan_fini();
    return good;
  });
}

// Expect: requests come in order, whole, and their sender's bytes are free at once.
TEST_P(ElanMessages, main_queues_carry_requests) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    ELAN_BASE* const base = elan_baseInit(0);
    constexpr std::uint32_t kRequests = 30;
    constexpr std::size_t kSlotBytes = 64;
    ELAN_MAIN_QUEUE* const queue =
        elan_mainQueueInit(base->state, elan_gallocQueue(base, base->allGroup), 4, kSlotBytes);
    std::uint32_t request[kSlotBytes / 4];
    for (std::uint32_t i = 0; i < kRequests; ++i) {
      for (std::uint32_t& word : request) word = i;
      elan_queueReq(queue, (base->state->vp + 1) % kRanks, request, 4 * (i % 17));
    }
    bool good = true;
    for (std::uint32_t i = 0; i < kRequests; ++i) {
      for (std::uint32_t& word : request) word = ~0u;
      const std::size_t n = elan_queueWait(queue, request, base->waitType);
      good &= PORT_TEST_CHECK(n == 4 * (i % 17), port, n);
      for (std::size_t word = 0; word < kSlotBytes / 4; ++word) {
        good &= PORT_TEST_CHECK(request[word] == (word * 4 < n ? i : ~0u), port, word);
      }
    }
    elan_gsync(base->allGroup);
    good &= PORT_TEST_CHECK(elan_queueHaveReq(queue) == 0, port, 0);
    elan_fini();
    return good;
  });
}

TEST_P(ElanMessages, queues_keep_order_and_lose_nothing) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    ELAN_BASE* const base = elan_baseInit(0);
    constexpr std::uint64_t kMessages = 100;
    constexpr unsigned kSlots = 8;
    ELAN_QUEUE* const queue = elan_gallocQueue(base, base->allGroup);
    ELAN_QUEUE_RX* const rx = elan_queueRxInit(base->state, queue, kSlots, ELAN_QUEUE_SLOT_MAX);
    ELAN_QUEUE_TX* const tx = elan_queueTxInit(base->state, queue);
    // More than there are slots for, before anybody looks.
    std::uint64_t message[ELAN_QUEUE_SLOT_MAX / 8] = {};
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      message[0] = i;
      const std::size_t n = 8 * (1 + i % 40);
      elan_wait(elan_queueTx(tx, (base->state->vp + 1) % kRanks, message, n), base->waitType);
    }
    elan_hgsync(base->allGroup);
    bool good = true;
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      std::size_t n = 0;
      unsigned from = 0;
      while (elan_queueRxPoll(rx, 1) == 0) {
      }
      const auto* const got =
          static_cast<const std::uint64_t*>(elan_queueRxWait(rx, &n, &from, base->waitType));
      good &= PORT_TEST_CHECK(*got == i && n == 8 * (1 + i % 40), port, *got);
      good &= PORT_TEST_CHECK((from + 1) % kRanks == base->state->vp, port, from);
      elan_queueRxComplete(rx);
    }
    good &= PORT_TEST_CHECK(elan_queueRxPoll(rx, 3) == 0, port, 0);
    elan_fini();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
