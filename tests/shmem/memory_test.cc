// The symmetric heap.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fairlead/systems/shmem/shmem.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

long g_static_word = 3;

class ShmemMemory : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(ShmemMemory,
                          ::testing::Values("loop", "shm", "udp", "nirx", "myrinet-p3/rcpy"));

TEST_P(ShmemMemory, is_given_out_alike_and_taken_back) {
  setenv("SHMEM_SYMMETRIC_SIZE", "1M", 1);
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    shmem_init();
    lci::Port& port = rank.port();
    bool good = true;
    auto* const aligned = static_cast<char*>(shmem_align(65536, 10));
    good &= PORT_TEST_CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 65536 == 0, port, 0);
    auto* const zeroed = static_cast<char*>(shmem_calloc(1000, 3));
    for (int i = 0; i < 3000; ++i) good = good && PORT_TEST_CHECK(zeroed[i] == 0, port, i);
    std::memset(zeroed, 7, 3000);
    auto* const larger = static_cast<char*>(shmem_realloc(zeroed, 600'000));
    good &= PORT_TEST_CHECK(larger != nullptr && larger[2999] == 7, port, 1);
    // Expect: no room for as much again, which is said by an answer, and nothing is lost
    good &= PORT_TEST_CHECK(shmem_malloc(600'000) == nullptr, port, 2);
    good &= PORT_TEST_CHECK(shmem_malloc(0) == nullptr, port, 3);
    shmem_free(larger);
    good &= PORT_TEST_CHECK(
        shmem_malloc_with_hints(900'000, SHMEM_MALLOC_ATOMICS_REMOTE) != nullptr, port, 4);
    // Expect: an alignment that is no power of two is answered, too, and nothing is lost
    good &=
        PORT_TEST_CHECK(shmem_align(0, 8) == nullptr && shmem_align(63, 8) == nullptr, port, 12);
    // Expect: what is symmetric is known, and a pointer to a peer's leads there
    int here = 0;
    good &= PORT_TEST_CHECK(shmem_addr_accessible(aligned, 1) == 1, port, 5);
    good &= PORT_TEST_CHECK(shmem_addr_accessible(&here, 1) == 0, port, 6);
    good &= PORT_TEST_CHECK(shmem_pe_accessible(1) == 1 && shmem_pe_accessible(2) == 0, port, 7);
    good &= PORT_TEST_CHECK(shmem_ptr(aligned, shmem_my_pe()) == aligned, port, 8);
    if (auto* const theirs = static_cast<char*>(shmem_ptr(aligned, 1)); theirs != nullptr) {
      if (shmem_my_pe() == 0) theirs[5] = 'x';
    } else if (shmem_my_pe() == 0) {
      shmem_char_p(aligned + 5, 'x', 1);
    }
    shmem_barrier_all();
    good &= PORT_TEST_CHECK(shmem_char_g(aligned + 5, 1) == 'x', port, 9);
    // Expect: a static variable of the other's, where each PE has its own
    if (shmem_addr_accessible(&g_static_word, 1) == 1) {
      shmem_long_atomic_add(&g_static_word, 5 + shmem_my_pe(), 1 - shmem_my_pe());
      auto* const theirs = static_cast<long*>(shmem_ptr(&g_static_word, 1 - shmem_my_pe()));
      good &= PORT_TEST_CHECK((theirs != nullptr) == (shmem_ptr(aligned, 0) != nullptr &&
                                                      shmem_ptr(aligned, 1) != nullptr),
                              port, 11);
      shmem_barrier_all();
      good &= PORT_TEST_CHECK(g_static_word == 9 - shmem_my_pe(), port, g_static_word);
    }
    int major = 0;
    int minor = 0;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    good &= PORT_TEST_CHECK(major == 1 && minor == 5 && std::strlen(name) > 0, port, 10);
    int provided = -1;
    shmem_query_thread(&provided);
    good &= PORT_TEST_CHECK(provided == SHMEM_THREAD_SINGLE, port, provided);
    shmem_finalize();
    return good;
  });
  unsetenv("SHMEM_SYMMETRIC_SIZE");
}

}  // namespace
}  // namespace fairlead::port_test
