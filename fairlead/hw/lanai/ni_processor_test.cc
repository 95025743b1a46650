#include "fairlead/hw/lanai/ni_processor.h"

#include <gtest/gtest.h>

#include <vector>

#include "fairlead/hw/test_platform.h"

namespace fairlead::hw {
namespace {

struct Turn {
  std::uint32_t packet;
  Ps began;
  friend bool operator==(Turn, Turn) = default;
};

class NiProcessorTest : public testing::Test {
 protected:
  // Two steps a turn; packet 50 brings packet 51 along.
  static void program(void* self, NiWork work) {
    auto* test = static_cast<NiProcessorTest*>(self);
    test->turns_.push_back({work.packet, test->processor_.now()});
    test->processor_.charge(Step::detect);
    if (work.packet == 50) test->processor_.submit({0, 51});
    test->processor_.charge(Step::deliver);
  }
  void submit_at(Ps when, std::uint32_t packet) {
    engine_.at(
        when, 0, kDoorbellEvent,
        [](void* self, std::uint64_t id, std::uint64_t) {
          static_cast<NiProcessorTest*>(self)->processor_.submit(
              {0, static_cast<std::uint32_t>(id)});
        },
        this, packet);
  }

  LanaiParams params_ = round_ni();
  sim::Engine engine_{1};
  NiFirmware firmware_{engine_, params_, &NiProcessorTest::program};
  NiProcessor processor_{firmware_, this, 0};
  std::vector<Turn> turns_;
};

TEST_F(NiProcessorTest, WorkRunsToCompletionInOrder) {
  submit_at(Ps{0}, 1);
  submit_at(nanoseconds(10), 2);
  submit_at(nanoseconds(20), 3);
  (void)engine_.run_until_idle();
  // Expect: two steps of 100 ns and the main loop's 100 ns each, one after the other
  EXPECT_EQ(turns_, (std::vector<Turn>{{1, Ps{0}}, {2, nanoseconds(300)}, {3, nanoseconds(600)}}));
  EXPECT_EQ(processor_.busy(), nanoseconds(900));
}

TEST_F(NiProcessorTest, AnIdleProcessorStartsAtOnce) {
  submit_at(microseconds(5), 1);
  submit_at(microseconds(9), 2);
  (void)engine_.run_until_idle();
  // Expect: no wait for a turn of the main loop
  EXPECT_EQ(turns_, (std::vector<Turn>{{1, microseconds(5)}, {2, microseconds(9)}}));
}

TEST_F(NiProcessorTest, WorkOfATurnWaitsForItsEnd) {
  submit_at(Ps{0}, 50);
  submit_at(nanoseconds(150), 2);
  (void)engine_.run_until_idle();
  // Expect: what the program submits itself comes first, it was there first
  EXPECT_EQ(turns_,
            (std::vector<Turn>{{50, Ps{0}}, {51, nanoseconds(300)}, {2, nanoseconds(600)}}));
}

}  // namespace
}  // namespace fairlead::hw
