// How Elanlib names what a program does wrong: the process, the call, the address.
#include <functional>

#include "fairlead/systems/elan/elan.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

class ElanErrors : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(ElanErrors, ::testing::Values("loop", "shm", "myrinet-p3/sdma"));

// Why the job of two ended.
std::string failure_of(const std::string& world,
                       const std::function<void(ELAN_BASE*, unsigned)>& body) {
  const Result<run::RunReport> report = run::run_world(options_of(world, 2), [&](run::Context&) {
    ELAN_BASE* const base = elan_baseInitHeap(0, 1 << 20, "THE_HEAP");
    body(base, base->state->vp);
    elan_fini();
    return 0;
  });
  return report.ok() ? report.value().failure : report.error().text;
}

TEST_P(ElanErrors, name_process_call_and_address) {
  const std::string world = GetParam();
  expect_words(failure_of(world,
                          [](ELAN_BASE* base, unsigned vp) {
                            long here = 0;
                            if (vp == 1) elan_put(base->state, &here, &here, 8, 0);
                          }),
               {"rank 1", "elan_put", "0x", "not symmetric"});
  expect_words(failure_of(world,
                          [](ELAN_BASE* base, unsigned vp) {
                            void* const word = elan_gallocMain(base, base->allGroup, 0, 8);
                            if (vp == 1) elan_get(base->state, word, &vp, 4, 2);
                          }),
               {"rank 1", "elan_get", "process 2 of a job of 2", "0x"});
  expect_words(failure_of(world,
                          [](ELAN_BASE* base, unsigned vp) {
                            auto* const word = static_cast<std::uint64_t*>(
                                elan_gallocMain(base, base->allGroup, 0, 8));
                            if (vp == 0) elan_gallocFree(base, word + 1);
                          }),
               {"rank 0", "elan_gallocFree", "not given out"});
  expect_words(
      failure_of(world, [](ELAN_BASE* base,
                           unsigned vp) { elan_gallocMain(base, base->allGroup, 0, 8 + vp); }),
      {"elan_gallocMain", "8 to 9 elsewhere"});
  expect_words(failure_of(world,
                          [](ELAN_BASE* base, unsigned vp) {
                            auto* const end = static_cast<char*>(
                                elan_gallocMain(base, base->allGroup, 0, 1 << 19));
                            char some[16] = {};
                            if (vp == 0) {
                              elan_put(base->state, some, end + (1 << 20) - 8, 16, 1);
                            }
                          }),
               {"rank 0", "elan_put", "leave the symmetric heap of 1048576 bytes"});
}

TEST_P(ElanErrors, a_full_heap_answers_null) {
  EXPECT_EQ(failure_of(GetParam(),
                       [](ELAN_BASE* base, unsigned vp) {
                         void* const half = elan_gallocMain(base, base->allGroup, 0, 1 << 19);
                         // Expect: nothing of it is taken
                         if (elan_gallocMain(base, base->allGroup, 0, (1 << 19) + 1) != nullptr ||
                             elan_gallocMain(base, base->allGroup, 0, 1 << 19) == nullptr ||
                             half == nullptr) {
                           elan_put(nullptr, nullptr, nullptr, 1, vp);
                         }
                       }),
            "");
}

}  // namespace
}  // namespace fairlead::port_test
