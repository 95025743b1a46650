// Elanlib's memory and one-sided operations in every world.
#include <algorithm>
#include <atomic>
#include <vector>

#include "fairlead/systems/elan/elan.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr unsigned kRanks = 3;

class ElanOneSided : public PerWorld {};
INSTANTIATE_PORT_TESTS(ElanOneSided);

std::uint64_t g_static_words[kRanks];

void wait(ELAN_EVENT* event) { elan_wait(event, ELAN_POLL_EVENT); }

std::vector<unsigned char> pattern(std::size_t n, unsigned seed) {
  std::vector<unsigned char> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + seed * 31 + 1);
  return bytes;
}

bool moves_bytes(lci::Port& port, ELAN_BASE* base, std::size_t n) {
  ELAN_STATE* const state = base->state;
  auto* const memory =
      static_cast<unsigned char*>(elan_gallocMain(base, base->allGroup, 64, (n + 1) * state->nvp));
  bool good = PORT_TEST_CHECK(
      memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % 64 == 0, port, n);
  if (!good) return false;
  // Expect: what each process puts is in everybody's memory, and comes back by a get
  const auto mine = pattern(n, state->vp);
  std::vector<ELAN_EVENT*> events;
  for (unsigned vp = 0; vp < state->nvp; ++vp) {
    events.push_back(elan_put(state, mine.data(), memory + state->vp * n, n, vp));
  }
  for (ELAN_EVENT* const event : events) wait(event);
  elan_gsync(base->allGroup);
  std::vector<unsigned char> back(n + 1, 9);
  for (unsigned vp = 0; vp < state->nvp; ++vp) {
    const auto theirs = pattern(n, vp);
    good &= PORT_TEST_CHECK(std::equal(theirs.begin(), theirs.end(), memory + vp * n), port, vp);
    ELAN_EVENT* const event = elan_get(state, memory + vp * n, back.data(), n, vp);
    while (elan_poll(event, 10) == 0) {
    }
    good &= PORT_TEST_CHECK(std::equal(theirs.begin(), theirs.end(), back.begin()), port, vp);
    good &= PORT_TEST_CHECK(back[n] == 9, port, n);
  }
  elan_gsync(base->allGroup);
  elan_gallocFree(base, memory);
  return good;
}

TEST_P(ElanOneSided, puts_gets_and_words_that_tell) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    ELAN_BASE* const base = elan_baseInit(0);
    ELAN_STATE* const state = base->state;
    bool good = PORT_TEST_CHECK(state->vp == port.self() && state->nvp == kRanks, port, 0);
    for (const std::size_t n : {0, 1, 8, 321, 5000, 100'003}) good &= moves_bytes(port, base, n);

    // A ring: each waits for the word, then passes the data on.
    auto* const ring = static_cast<std::uint64_t*>(
        elan_gallocMain(base, base->allGroup, 0, 2 * sizeof(std::uint64_t)));
    ring[0] = ring[1] = 0;
    elan_gsync(base->allGroup);
    ELAN_PGCTRL* const control = elan_putgetInit(state);
    for (std::uint64_t lap = 1; lap <= 5; ++lap) {
      if (state->vp != 0 || lap > 1) elan_waitWord(state, &ring[1], state->vp == 0 ? lap - 1 : lap);
      const std::uint64_t next = std::atomic_ref(ring[0]).load() + 1;
      wait(elan_doput(control, &next, &ring[0], &ring[1], sizeof next, (state->vp + 1) % state->nvp,
                      0));
    }
    // Expect: every hop counted one
    if (state->vp == 0) {
      elan_waitWord(state, &ring[1], 5);
      good &= PORT_TEST_CHECK(ring[0] == 5 * kRanks, port, ring[0]);
    }
    elan_fini();
    return good;
  });
}

TEST_P(ElanOneSided, atomics_of_both_widths) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    ELAN_BASE* const base = elan_baseInit(0);
    ELAN_STATE* const state = base->state;
    ELAN_ATOMIC* const atomic = elan_atomicInit(state);
    auto* const words = static_cast<std::uint64_t*>(
        elan_gallocElan(base, base->allGroup, 0, 4 * sizeof(std::uint64_t)));
    auto* const short_word = reinterpret_cast<std::uint32_t*>(&words[1]);
    constexpr unsigned kAdds = 20;
    bool good = true;
    std::uint64_t before = 0;
    for (unsigned i = 0; i < kAdds; ++i) {
      std::uint64_t old = 0;
      std::uint32_t old4 = 0;
      wait(elan_atomic64(atomic, ELAN_ATOMIC_ADD, &words[0], 3, 0, &old, 0));
      wait(elan_atomic32(atomic, ELAN_ATOMIC_ADD, short_word, ~0u, 0, &old4, 0));
      wait(elan_atomic64(atomic, ELAN_ATOMIC_OR, &words[2], 1ull << state->vp, 0, nullptr, 0));
      // Expect: former values grow
      good &= PORT_TEST_CHECK(i == 0 || old > before, port, old);
      before = old;
    }
    elan_hgsync(base->allGroup);
    if (state->vp == 0) {
      good &= PORT_TEST_CHECK(words[0] == 3 * kAdds * kRanks, port, words[0]);
      // Expect: the neighbour word is not touched by a carry
      good &= PORT_TEST_CHECK(short_word[0] == 0u - kAdds * kRanks && short_word[1] == 0, port,
                              short_word[0]);
      good &= PORT_TEST_CHECK(words[2] == (1u << kRanks) - 1, port, words[2]);
    }
    elan_hgsync(base->allGroup);
    // Expect: one process wins
    std::uint64_t old = 0;
    wait(elan_atomic64(atomic, ELAN_ATOMIC_CSWAP, &words[3], 0, state->vp + 1, &old, 1));
    if (old == 0) wait(elan_atomic64(atomic, ELAN_ATOMIC_ADD, &words[0], 1000, 0, nullptr, 0));
    elan_hgsync(base->allGroup);
    if (state->vp == 0) {
      good &= PORT_TEST_CHECK(words[0] == 3 * kAdds * kRanks + 1000, port, words[0]);
    }
    elan_fini();
    return good;
  });
}

TEST_P(ElanOneSided, static_variables_are_reached_where_each_process_has_its_own) {
  const std::vector<std::string> real = real_worlds();
  const bool processes = std::find(real.begin(), real.end(), GetParam()) != real.end();
  run_ranks(GetParam(), kRanks, [processes](run::Context& rank) {
    lci::Port& port = rank.port();
    ELAN_BASE* const base = elan_baseInit(0);
    ELAN_STATE* const state = base->state;
    bool good = PORT_TEST_CHECK((elan_staticsRefused(state) == nullptr) == processes, port, 0);
    if (processes) {
      const std::uint64_t mine = 100 + state->vp;
      ELAN_ATOMIC* const atomic = elan_atomicInit(state);
      for (unsigned vp = 0; vp < kRanks; ++vp) {
        wait(elan_put(state, &mine, &g_static_words[state->vp], sizeof mine, vp));
        wait(
            elan_atomic64(atomic, ELAN_ATOMIC_ADD, &g_static_words[state->vp], 10, 0, nullptr, vp));
      }
      elan_gsync(base->allGroup);
      for (unsigned vp = 0; vp < kRanks; ++vp) {
        good &= PORT_TEST_CHECK(std::atomic_ref(g_static_words[vp]).load() == 110 + vp, port, vp);
      }
    }
    elan_fini();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
