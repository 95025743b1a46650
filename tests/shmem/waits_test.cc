// Waiting for one's own words, and looking at them.
#include <algorithm>
#include <limits>
#include <vector>

#include "fairlead/systems/shmem/shmem.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr int kRanks = 3;

class ShmemWaits : public PerWorld {};
INSTANTIATE_PORT_TESTS(ShmemWaits);

// PE 0 waits, the others put into its words, one after the other.
bool waits_of_many(lci::Port& port) {
  constexpr std::size_t kWords = 12;
  constexpr std::size_t kNone = SIZE_MAX;
  auto* const words = static_cast<int*>(shmem_calloc(kWords, sizeof(int)));
  const int me = shmem_my_pe();
  bool good = true;
  if (me != 0) {
    for (std::size_t i = 0; i < kWords; ++i) {
      if (static_cast<int>(i % 2) + 1 == me) shmem_int_p(&words[i], -static_cast<int>(i) - 1, 0);
    }
  } else {
    int taken[kWords] = {};
    std::size_t indices[kWords];
    // Expect: each word once, whichever way it is found
    const std::size_t any = shmem_int_wait_until_any(words, kWords, taken, SHMEM_CMP_LT, 0);
    good &= PORT_TEST_CHECK(any < kWords && words[any] == -static_cast<int>(any) - 1, port, any);
    taken[any] = 1;
    for (std::size_t found = 1; found < kWords;) {
      const std::size_t more =
          shmem_int_wait_until_some(words, kWords, indices, taken, SHMEM_CMP_NE, 0);
      good &= PORT_TEST_CHECK(more > 0, port, more);
      for (std::size_t i = 0; i < more; ++i) {
        good &= PORT_TEST_CHECK(taken[indices[i]] == 0, port, indices[i]);
        taken[indices[i]] = 1;
      }
      found += more;
    }
    // Expect: nothing to wait for is said, not waited for
    good &= PORT_TEST_CHECK(
        shmem_int_wait_until_any(words, kWords, taken, SHMEM_CMP_EQ, 77) == kNone, port, 0);
    good &= PORT_TEST_CHECK(shmem_int_test_any(words, kWords, nullptr, SHMEM_CMP_GT, 0) == kNone,
                            port, 1);
    good &=
        PORT_TEST_CHECK(shmem_int_test_all(words, kWords, nullptr, SHMEM_CMP_LE, -1) == 1, port, 2);
    int values[kWords];
    for (std::size_t i = 0; i < kWords; ++i) values[i] = -static_cast<int>(i) - 1;
    shmem_int_wait_until_all_vector(words, kWords, nullptr, SHMEM_CMP_EQ, values);
    values[3] = 4;
    good &= PORT_TEST_CHECK(shmem_int_test_some_vector(words, kWords, indices, nullptr,
                                                       SHMEM_CMP_EQ, values) == kWords - 1,
                            port, 3);
  }
  shmem_free(words);
  return good;
}

TEST_P(ShmemWaits, for_words_of_each_width) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    shmem_init();
    lci::Port& port = rank.port();
    const int me = shmem_my_pe();
    const int right = (me + 1) % kRanks;
    struct Words {
      short small[2];
      int medium;
      long large;
    };
    auto* const words = static_cast<Words*>(shmem_calloc(1, sizeof(Words)));
    bool good = true;
    for (short lap = 1; lap <= 10; ++lap) {
      // Expect: comparisons are of signed numbers
      const short value = static_cast<short>(-lap);
      if (me == 0) shmem_short_p(&words->small[1], value, right);
      shmem_short_wait_until(&words->small[1], SHMEM_CMP_LE, value);
      if (me != 0) shmem_short_p(&words->small[1], value, right);
      shmem_int_p(&words->medium, lap, right);
      shmem_int_wait_until(&words->medium, SHMEM_CMP_GE, lap);
      shmem_long_p(&words->large, -lap, right);
      while (shmem_long_test(&words->large, SHMEM_CMP_LE, -lap) == 0) {
      }
      shmem_barrier_all();
    }
    good &= PORT_TEST_CHECK(words->small[0] == 0 && words->small[1] == -10, port, 0);
    shmem_free(words);
    good &= waits_of_many(port);
    shmem_finalize();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
