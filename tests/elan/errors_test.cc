// How Elanlib names what a program does wrong: the process, the call, the address.
#include <cstdlib>
#include <functional>

#include "fairlead/systems/elan/elan3.h"
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

// What a descriptor or a queue cannot take.
TEST_P(ElanErrors, name_what_is_wrong_with_a_descriptor) {
  const std::string world = GetParam();
  const auto putdma = [&world](std::uint32_t type, unsigned to, bool tells) {
    return failure_of(world, [=](ELAN_BASE* base, unsigned vp) {
      elan3_init(base);
      E3_DMA dma{};
      dma.dma_type = type;
      dma.dma_size = 8;
      dma.dma_source = &vp;
      dma.dma_dest = &vp;
      dma.dma_destCookieVProc = to;
      if (tells) dma.dma_srcEvent = elan3_event(base->state, 0);
      if (vp == 1) elan3_putdma(base->state, &dma);
    });
  };
  expect_words(putdma(0, 2, false), {"rank 1", "elan3_putdma", "process 2 of a job of 2"});
  expect_words(putdma(0, 0, false), {"rank 1", "elan3_putdma", "0x", "not symmetric"});
  expect_words(putdma(1U << 20, 0, false), {"rank 1", "dma_type 0x100000"});
  expect_words(putdma(E3_DMA_TYPE(0, DMA_READ, 0, 0), 0, true), {"elan3_putdma", "dma_srcEvent"});
  expect_words(putdma(E3_DMA_FLOOD, 0, false), {"elan3_putdma", "0 is no cookie of a group"});
  expect_words(failure_of(world,
                          [](ELAN_BASE* base, unsigned vp) {
                            if (vp == 0) elan3_event(base->state, ELAN3_EVENTS);
                          }),
               {"rank 0", "elan3_event", "event 16 of 16"});
  expect_words(failure_of(world,
                          [](ELAN_BASE* base, unsigned vp) {
                            if (vp == 0) elan3_event(base->state, 0);
                          }),
               {"rank 0", "elan3_event", "before elan3_init"});
  expect_words(failure_of(world,
                          [](ELAN_BASE* base, unsigned vp) {
                            elan3_init(base);
                            if (vp != 0) return;
                            ELAN3_EVENT* const event = elan3_event(base->state, 2);
                            elan3_primeevent(base->state, event, 1);
                            elan3_primeevent(base->state, event, 1);
                          }),
               {"rank 0", "elan3_primeevent", "event 2", "has not fired"});
  expect_words(failure_of(world,
                          [](ELAN_BASE* base, unsigned vp) {
                            ELAN_MAIN_QUEUE* const queue = elan_mainQueueInit(
                                base->state, elan_gallocQueue(base, base->allGroup), 4, 16);
                            if (vp == 0) elan_queueReq(queue, 1, &queue, 17);
                          }),
               {"rank 0", "elan_queueReq", "process 1", "17 bytes", "16"});
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

// Where all see what each brings, calls that are not the same are told apart.
TEST(ElanCalls, OfOneMeetingAreTheSame) {
  for (const char* world : {"loop", "shm"}) {
    expect_words(failure_of(world,
                            [](ELAN_BASE* base, unsigned vp) {
                              long word = 0;
                              vp == 0 ? elan_gsync(base->allGroup)
                                      : elan_bcast(base->allGroup, &word, 8, 0, ELAN_BCAST_SYSTEM);
                            }),
                 {"elan_", "a barrier", "a broadcast", "in the same order"});
    expect_words(failure_of(world,
                            [](ELAN_BASE* base, unsigned vp) {
                              long words[2] = {};
                              elan_bcast(base->allGroup, words, 8 + vp * 8, 0, ELAN_BCAST_SYSTEM);
                            }),
                 {"a broadcast", "of 8", "of 16"});
  }
}
// A process that is gone ends the meeting of the others.
TEST(ElanCalls, EndWithTheLossOfAProcess) {
  expect_words(failure_of("shm",
                          [](ELAN_BASE* base, unsigned vp) {
                            if (vp == 1) std::_Exit(7);
                            elan_gsync(base->allGroup);
                          }),
               {"rank 1", "code 7"});
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
