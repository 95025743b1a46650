// Puts, gets, atomics, signals and locks of OpenSHMEM in every world.
#include <cstring>
#include <vector>

#include "fairlead/systems/shmem/shmem.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr int kRanks = 3;

class ShmemOneSided : public PerWorld {};
INSTANTIATE_PORT_TESTS(ShmemOneSided);

bool puts_and_gets(lci::Port& port, std::size_t n) {
  const int me = shmem_my_pe();
  auto* const memory = static_cast<int*>(shmem_malloc(kRanks * n * sizeof(int)));
  std::vector<int> mine(n), back(n);
  for (std::size_t i = 0; i < n; ++i) mine[i] = me * 100'000 + static_cast<int>(i);
  for (int pe = 0; pe < kRanks; ++pe) {
    pe % 2 == 0 ? shmem_int_put(memory + static_cast<std::size_t>(me) * n, mine.data(), n, pe)
                : shmem_put32_nbi(memory + static_cast<std::size_t>(me) * n, mine.data(), n, pe);
  }
  shmem_barrier_all();
  bool good = true;
  for (int from = 0; from < kRanks; ++from) {
    const auto at = static_cast<std::size_t>(from) * n;
    for (int pe = 0; pe < kRanks; ++pe) {
      std::fill(back.begin(), back.end(), -1);
      if (pe % 2 == 0) {
        shmem_getmem(back.data(), memory + at, n * sizeof(int), pe);
      } else {
        shmem_int_get_nbi(back.data(), memory + at, n, pe);
        shmem_quiet();
      }
      // Expect: every PE's part is everywhere
      for (std::size_t i = 0; i < n; ++i) {
        good = good && PORT_TEST_CHECK(back[i] == from * 100'000 + static_cast<int>(i), port, i);
      }
    }
  }
  shmem_free(memory);
  return good;
}

// Three blocks of two of every four shorts, to places of five, and back again from there.
bool blocks(lci::Port& port) {
  const int me = shmem_my_pe();
  const int right = (me + 1) % kRanks;
  const int left = (me + kRanks - 1) % kRanks;
  auto* const memory = static_cast<short*>(shmem_calloc(16, sizeof(short)));
  short mine[16];
  for (short i = 0; i < 16; ++i) mine[i] = static_cast<short>(me * 16 + i + 1);
  shmem_short_ibput(memory, mine, 5, 4, 2, 3, right);
  shmem_barrier_all();
  bool good = true;
  for (int i = 0; i < 16; ++i) {
    const bool in = i < 15 && i % 5 < 2;
    const int expected = in ? left * 16 + i / 5 * 4 + i % 5 + 1 : 0;
    good = good && PORT_TEST_CHECK(memory[i] == expected, port, i);
  }
  short back[16] = {};
  shmem_ctx_ibget16(SHMEM_CTX_DEFAULT, back, memory, 2, 5, 2, 3, right);
  for (int i = 0; i < 16; ++i) {
    const int expected = i < 6 ? me * 16 + i / 2 * 4 + i % 2 + 1 : 0;
    good = good && PORT_TEST_CHECK(back[i] == expected, port, i);
  }
  shmem_short_ibput(memory, mine, 5, 4, 2, 0, right);  // nothing
  shmem_barrier_all();
  shmem_free(memory);
  return good;
}

bool strides(lci::Port& port) {
  const int me = shmem_my_pe();
  const int right = (me + 1) % kRanks;
  auto* const memory = static_cast<short*>(shmem_calloc(64, sizeof(short)));
  short mine[64];
  for (short i = 0; i < 64; ++i) mine[i] = static_cast<short>(me * 64 + i);
  shmem_short_iput(memory, mine, 3, 2, 10, right);
  shmem_barrier_all();
  const int left = (me + kRanks - 1) % kRanks;
  bool good = true;
  for (int i = 0; i < 30; ++i) {
    const int expected = i % 3 == 0 ? left * 64 + i / 3 * 2 : 0;
    good = good && PORT_TEST_CHECK(memory[i] == expected, port, i);
  }
  short back[20] = {};
  shmem_iget16(back, memory, 2, 3, 10, right);
  for (int i = 0; i < 20; ++i) {
    const int expected = i % 2 == 0 ? me * 64 + i : 0;
    good = good && PORT_TEST_CHECK(back[i] == expected, port, i);
  }
  shmem_free(memory);
  return good;
}

bool atomics(lci::Port& port) {
  const int me = shmem_my_pe();
  struct Words {
    long sum;
    int count;
    unsigned bits;
    float real;
    unsigned long long best;
    double swapped;
    long lock;
    long guarded;
  };
  auto* const words = static_cast<Words*>(shmem_calloc(1, sizeof(Words)));
  constexpr int kTimes = 15;
  bool good = true;
  int before = -1;
  for (int i = 0; i < kTimes; ++i) {
    shmem_long_atomic_add(&words->sum, -5, 1);
    const int old = shmem_int_atomic_fetch_inc(&words->count, 1);
    good &= PORT_TEST_CHECK(old > before, port, old);
    before = old;
    // Expect: nobody else is between the get and the put
    shmem_set_lock(&words->lock);
    const long seen = shmem_long_g(&words->guarded, 2);
    shmem_long_p(&words->guarded, seen + 1, 2);
    shmem_clear_lock(&words->lock);
  }
  shmem_uint_atomic_or(&words->bits, 1u << me, 1);
  if (me == 2) shmem_float_atomic_set(&words->real, 2.5f, 1);
  shmem_barrier_all();
  good &= PORT_TEST_CHECK(shmem_long_atomic_fetch(&words->sum, 1) == -5 * kTimes * kRanks, port, 0);
  good &= PORT_TEST_CHECK(shmem_int_atomic_fetch(&words->count, 1) == kTimes * kRanks, port, 0);
  good &= PORT_TEST_CHECK(shmem_uint_atomic_fetch(&words->bits, 1) == (1u << kRanks) - 1, port, 0);
  good &= PORT_TEST_CHECK(shmem_float_atomic_fetch(&words->real, 1) == 2.5f, port, 0);
  good &= PORT_TEST_CHECK(shmem_long_g(&words->guarded, 2) == kTimes * kRanks, port,
                          shmem_long_g(&words->guarded, 2));
  // Expect: one PE wins, and a lock that is held cannot be had
  const auto won = shmem_ulonglong_atomic_compare_swap(&words->best, 0, 10 + me, 0) == 0;
  if (won) {
    good &= PORT_TEST_CHECK(shmem_test_lock(&words->lock) == 0, port, 1);
    shmem_int_atomic_set(&words->count, 1000, 0);
  }
  shmem_barrier_all();
  if (!won) good &= PORT_TEST_CHECK(shmem_test_lock(&words->lock) == 1, port, 2);
  good &= PORT_TEST_CHECK(shmem_int_atomic_fetch(&words->count, 0) == 1000, port, 3);
  shmem_barrier_all();
  if (won) shmem_clear_lock(&words->lock);
  if (me == 1) {
    good &= PORT_TEST_CHECK(shmem_double_atomic_swap(&words->swapped, 1.25, 0) == 0, port, 4);
    good &= PORT_TEST_CHECK(shmem_double_atomic_swap(&words->swapped, 3, 0) == 1.25, port, 5);
  }
  shmem_free(words);
  return good;
}

// Signals without data: the sum of what all PEs add to PE 0's, which then sets everybody's.
bool set_and_added(lci::Port& port) {
  const int me = shmem_my_pe();
  auto* const signal = static_cast<std::uint64_t*>(shmem_calloc(2, sizeof(std::uint64_t)));
  shmem_signal_add(signal, static_cast<std::uint64_t>(me) + 1, 0);
  if (me == 0) {
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, kRanks * (kRanks + 1) / 2);
    for (int pe = 0; pe < kRanks; ++pe) {
      shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, signal + 1, 7, pe);
    }
  }
  const bool good =
      PORT_TEST_CHECK(shmem_signal_wait_until(signal + 1, SHMEM_CMP_NE, 0) == 7, port, signal[1]);
  shmem_barrier_all();
  shmem_free(signal);
  return good;
}

// Data goes round the PEs, each of which passes it on when its signal says so.
bool signals(lci::Port& port) {
  const int me = shmem_my_pe();
  constexpr std::size_t kBytes = 20'000;
  auto* const data = static_cast<char*>(shmem_calloc(1, kBytes));
  auto* const signal = static_cast<std::uint64_t*>(shmem_calloc(2, sizeof(std::uint64_t)));
  bool good = true;
  for (int lap = 1; lap <= 4; ++lap) {
    if (me != 0) {
      shmem_signal_wait_until(signal, SHMEM_CMP_GE, static_cast<std::uint64_t>(lap));
      good &= PORT_TEST_CHECK(data[0] == lap && data[kBytes - 1] == lap, port, data[kBytes - 1]);
    } else {
      std::memset(data, lap, kBytes);
    }
    shmem_putmem_signal(data, data, kBytes, signal, 1, SHMEM_SIGNAL_ADD, (me + 1) % kRanks);
    if (me == 0) {
      shmem_signal_wait_until(signal, SHMEM_CMP_EQ, static_cast<std::uint64_t>(lap));
      good &= PORT_TEST_CHECK(data[kBytes / 2] == lap, port, data[kBytes / 2]);
    }
  }
  good &= PORT_TEST_CHECK(shmem_signal_fetch(signal) == 4, port, 4);
  shmem_free(signal);
  shmem_free(data);
  return good;
}

// What is done in sessions of a context is done as without them: they change no completion, may be
// started again and stopped twice, and what began in one may end after it.
bool sessions(lci::Port& port) {
  auto* const words = static_cast<std::uint64_t*>(shmem_calloc(kRanks, sizeof(std::uint64_t)));
  const int me = shmem_my_pe();
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  bool good = PORT_TEST_CHECK(shmem_ctx_create(0, &ctx) == 0, port, me);
  const shmem_session_config_t config{kRanks};
  shmem_session_start(ctx, SHMEM_SESSION_SAME_AMO, &config, SHMEM_SESSION_TOTAL_OPS);
  shmem_session_start(ctx, SHMEM_SESSION_OP_AMO | SHMEM_SESSION_CHAIN, nullptr, 0);
  shmem_session_start(SHMEM_CTX_DEFAULT, 0, nullptr, 0);
  for (int pe = 0; pe < kRanks; ++pe) {
    shmem_ctx_uint64_atomic_xor(ctx, words + me, static_cast<std::uint64_t>(me) + 7, pe);
  }
  shmem_session_stop(ctx);
  shmem_session_stop(ctx);
  shmem_session_stop(SHMEM_CTX_DEFAULT);
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  for (int from = 0; from < kRanks; ++from) {
    good &= PORT_TEST_CHECK(words[from] == static_cast<std::uint64_t>(from) + 7, port, from);
  }
  shmem_ctx_destroy(ctx);
  shmem_barrier_all();
  shmem_free(words);
  return good;
}

TEST_P(ShmemOneSided, moves_changes_and_tells) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    shmem_init();
    lci::Port& port = rank.port();
    bool good = PORT_TEST_CHECK(shmem_n_pes() == kRanks, port, shmem_n_pes());
    for (const std::size_t n : {1, 2, 100, 20'001}) good &= puts_and_gets(port, n);
    good &= strides(port);
    good &= atomics(port);
    good &= signals(port);
    good &= blocks(port);
    good &= set_and_added(port);
    good &= sessions(port);
    shmem_finalize();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
