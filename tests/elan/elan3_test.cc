// Elan3lib in every world: descriptors, events that count and fire, chains over processes.
#include <cstring>
#include <vector>

#include "fairlead/systems/elan/elan3.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr unsigned kRanks = 3;
constexpr std::uint32_t kWrites = E3_DMA_TYPE(DMA_BYTE, DMA_WRITE, DMA_NORMAL, 5);

class Elan3 : public PerWorld {};
INSTANTIATE_PORT_TESTS(Elan3);

E3_DMA write_to(unsigned vp, const void* source, void* dest, std::uint32_t n) {
  E3_DMA dma{};
  dma.dma_type = kWrites;
  dma.dma_size = n;
  dma.dma_source = source;
  dma.dma_dest = dest;
  dma.dma_destCookieVProc = vp;
  return dma;
}

// A token that goes round twice, from process to process, by writes that wait for events.
bool chain(lci::Port& port, ELAN_BASE* base, std::uint64_t* words) {
  ELAN_STATE* const state = base->state;
  const unsigned right = (state->vp + 1) % kRanks;
  ELAN3_EVENT* const token = elan3_event(state, 3);
  ELAN3_EVENT* const left = elan3_event(state, 4);
  const std::uint64_t mine = 100 + state->vp;
  bool good = true;
  for (std::uint64_t round = 1; round <= 2; ++round) {
    E3_DMA pass = write_to(right, &mine, words + state->vp, sizeof mine);
    pass.dma_destEvent = token;
    pass.dma_srcEvent = left;
    elan3_primeevent(state, token, 1);
    elan3_primeevent(state, left, 1);
    if (state->vp == 0) {
      elan3_putdma(state, &pass);
    } else {
      elan3_chaindma(state, token, &pass);
    }
    elan3_waitevent(state, token, base->waitType);
    // Expect: what came before it is there
    const unsigned from = (state->vp + kRanks - 1) % kRanks;
    good &= PORT_TEST_CHECK(words[from] == 100 + from, port, from);
    elan3_waitevent(state, left, base->waitType);
    elan_gsync(base->allGroup);
    words[from] = 0;
    elan_gsync(base->allGroup);
  }
  return good;
}

// All write to process 0, whose event counts them; what has no bytes counts as well.
bool counts(lci::Port& port, ELAN_BASE* base, std::uint64_t* words) {
  ELAN_STATE* const state = base->state;
  ELAN3_EVENT* const all = elan3_event(state, 0);
  const std::uint64_t mine = 7 + state->vp;
  bool good = true;
  if (state->vp == 0) elan3_primeevent(state, all, 2 * kRanks + 1);
  elan_gsync(base->allGroup);
  if (state->vp == 0) {
    good &= PORT_TEST_CHECK(elan3_pollevent(state, all, 1) == 0, port, 0);
    elan3_setevent(state, all);
  }
  for (const std::uint32_t n : {8U, 0U}) {
    E3_DMA dma = write_to(0, &mine, words + state->vp, n);
    dma.dma_destEvent = all;
    elan3_putdma(state, &dma);
  }
  if (state->vp != 0) return good;
  while (elan3_pollevent(state, all, 10) == 0) {
  }
  for (unsigned vp = 0; vp < kRanks; ++vp) {
    good &= PORT_TEST_CHECK(words[vp] == 7 + vp, port, vp);
  }
  return good;
}

TEST_P(Elan3, events_count_fire_and_begin_writes) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    ELAN_BASE* const base = elan_baseInit(0);
    elan3_init(base);
    auto* const words = static_cast<std::uint64_t*>(
        elan_gallocMain(base, base->allGroup, 8, kRanks * sizeof(std::uint64_t)));
    lci::Port& port = rank.port();
    bool good = chain(port, base, words);
    good &= counts(port, base, words);
    std::uint64_t here = 0;
    good &= PORT_TEST_CHECK(elan3_addressable(base->state, words, 8) == 1, port, 1);
    good &= PORT_TEST_CHECK(elan3_addressable(base->state, &here, 8) == 0, port, 0);
    elan_gsync(base->allGroup);
    elan_fini();
    return good;
  });
}

// Process 0 writes to all others, once for all of them and once until the first one has it.
bool to_groups(lci::Port& port, ELAN_BASE* base) {
  ELAN_STATE* const state = base->state;
  constexpr std::uint32_t kBytes = 3000;
  auto* const memory =
      static_cast<unsigned char*>(elan_gallocMain(base, base->allGroup, 8, 2 * kBytes));
  std::memset(memory, 0, 2 * kBytes);
  ELAN3_EVENT* const there = elan3_event(state, 5);
  ELAN3_EVENT* const done = elan3_event(state, 6);
  const std::uint32_t cookie = elan3_groupCookie(state, base->allGroup);
  elan_gsync(base->allGroup);
  bool good = true;
  for (const std::uint32_t flag : {E3_DMA_BROADCAST, E3_DMA_FLOOD}) {
    unsigned char* const to = memory + (flag == E3_DMA_FLOOD ? kBytes : 0);
    if (state->vp == 0) {
      std::vector<unsigned char> data(kBytes, static_cast<unsigned char>(flag >> 8));
      E3_DMA dma = write_to(cookie, data.data(), to, kBytes);
      dma.dma_type |= flag;
      dma.dma_destEvent = there;
      dma.dma_srcEvent = done;
      elan3_primeevent(state, done, 1);
      elan3_putdma(state, &dma);
      // Expect: one event, and the source is free: whoever has not got it yet gets it as it was
      elan3_waitevent(state, done, base->waitType);
      std::memset(data.data(), 0xee, kBytes);
      // Expect: the sender's own memory is left alone
      good &= PORT_TEST_CHECK(to[0] == 0 && to[kBytes - 1] == 0, port, to[0]);
    } else {
      elan3_primeevent(state, there, 1);
      elan3_waitevent(state, there, base->waitType);
      good &= PORT_TEST_CHECK(to[0] == flag >> 8 && to[kBytes - 1] == flag >> 8, port, to[0]);
    }
  }
  // Expect: a message for each of the others
  ELAN_QUEUE* const queue = elan_gallocQueue(base, base->allGroup);
  ELAN_QUEUE_RX* const rx = elan_queueRxInit(state, queue, 4, 64);
  if (state->vp == 0) {
    const std::uint64_t word = 9;
    E3_DMA message = write_to(cookie, &word, queue, sizeof word);
    message.dma_type = E3_DMA_TYPE(DMA_BYTE, DMA_WRITE, DMA_QUEUED, 0) | E3_DMA_FLOOD;
    elan3_putdma(state, &message);
  } else {
    unsigned from = 1;
    good &=
        PORT_TEST_CHECK(elan_queueRxWait(rx, nullptr, &from, base->waitType) != nullptr, port, 0);
    good &= PORT_TEST_CHECK(from == 0, port, from);
    elan_queueRxComplete(rx);
  }
  elan_gsync(base->allGroup);
  return good;
}

TEST_P(Elan3, writes_to_groups) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    ELAN_BASE* const base = elan_baseInit(0);
    elan3_init(base);
    const bool good = to_groups(rank.port(), base);
    elan_fini();
    return good;
  });
}

TEST_P(Elan3, reads_and_queued_writes) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    ELAN_BASE* const base = elan_baseInit(0);
    elan3_init(base);
    ELAN_STATE* const state = base->state;
    lci::Port& port = rank.port();
    const unsigned right = (state->vp + 1) % kRanks;
    constexpr std::uint32_t kBytes = 5000;
    auto* const memory =
        static_cast<unsigned char*>(elan_gallocMain(base, base->allGroup, 8, kBytes));
    std::memset(memory, static_cast<int>(state->vp + 1), kBytes);
    elan_gsync(base->allGroup);
    // Expect: the event of a read counts here, when the bytes are
    std::vector<unsigned char> got(kBytes + 1);
    ELAN3_EVENT* const here = elan3_event(state, 15);
    elan3_primeevent(state, here, 1);
    E3_DMA read{};
    read.dma_type = E3_DMA_TYPE(DMA_DOUBLE, DMA_READ, DMA_NORMAL, 0);
    read.dma_size = kBytes;
    read.dma_source = memory;
    read.dma_dest = got.data();
    read.dma_destEvent = here;
    read.dma_destCookieVProc = right;
    read.dma_srcCookieVProc = elan3_local_cookie(state, right);
    elan3_putdma(state, &read);
    elan3_waitevent(state, here, base->waitType);
    bool good = PORT_TEST_CHECK(got[0] == right + 1, port, got[0]);
    good &= PORT_TEST_CHECK(std::memcmp(got.data(), got.data() + 1, kBytes - 1) == 0, port, 1);
    good &= PORT_TEST_CHECK(got[kBytes] == 0, port, got[kBytes]);
    // Expect: a queued write is a message of the queue's
    ELAN_QUEUE* const queue = elan_gallocQueue(base, base->allGroup);
    ELAN_QUEUE_RX* const rx = elan_queueRxInit(state, queue, 4, 64);
    const std::uint64_t word = 500 + state->vp;
    E3_DMA message = write_to(right, &word, queue, sizeof word);
    message.dma_type = E3_DMA_TYPE(DMA_BYTE, DMA_WRITE, DMA_QUEUED, 0);
    message.dma_srcEvent = here;
    elan3_primeevent(state, here, 1);
    elan3_putdma(state, &message);
    elan3_waitevent(state, here, base->waitType);
    std::size_t n = 0;
    unsigned from = 0;
    const void* const came = elan_queueRxWait(rx, &n, &from, base->waitType);
    const std::uint64_t expected = 500 + from;
    good &= PORT_TEST_CHECK((from + 1) % kRanks == state->vp && n == sizeof word, port, from);
    good &= PORT_TEST_CHECK(std::memcmp(came, &expected, sizeof expected) == 0, port, from);
    elan_queueRxComplete(rx);
    elan_gsync(base->allGroup);
    elan_fini();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
