#include "fairlead/fabric/model/figures.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace fairlead::fabric::model {
namespace {

constexpr const char* kHandlers[] = {"first", "second"};

TEST(Occupancy, IsWeightedByTime) {
  Occupancy queue("queue", 4);
  queue.stayed(0, microseconds(90));
  queue.stayed(2, microseconds(8));
  queue.stayed(4, microseconds(2));
  EXPECT_DOUBLE_EQ(queue.mean(), (2 * 8 + 4 * 2) / 100.0);
  EXPECT_DOUBLE_EQ(queue.in_use(), 0.1);
  EXPECT_DOUBLE_EQ(queue.full(), 0.02);
  EXPECT_EQ(queue.most(), 4u);
  // Expect: two of a hundred exceed 2.
  EXPECT_EQ(queue.p99(), 4u);
  queue.stayed(0, microseconds(200));
  EXPECT_EQ(queue.p99(), 2u);
}

TEST(Occupancy, HasABoundForLevels) {
  Occupancy queue("queue", 0);
  EXPECT_EQ(queue.mean(), 0);
  EXPECT_EQ(queue.p99(), 0u);
  queue.stayed(100'000, microseconds(1));
  EXPECT_DOUBLE_EQ(queue.mean(), 100'000);
  EXPECT_EQ(queue.p99(), 100'000u);
  EXPECT_EQ(queue.full(), 0);
}

TEST(TimeHistogram, KeepsQuantiles) {
  TimeHistogram times;
  EXPECT_EQ(times.quantile_us(0.99), 0);
  for (int i = 1; i <= 1000; ++i) times.add(microseconds(i));
  EXPECT_EQ(times.count(), 1000u);
  EXPECT_DOUBLE_EQ(times.mean_us(), 500.5);
  EXPECT_DOUBLE_EQ(times.most_us(), 1000);
  EXPECT_NEAR(times.quantile_us(0.99), 990, 990 * 0.032);
  EXPECT_NEAR(times.quantile_us(0.5), 500, 500 * 0.032);
  times.add(Ps{0});
  times.add(kNever - Ps{1});
  EXPECT_EQ(times.count(), 1002u);
}

TEST(Figures, FollowLevels) {
  Figures figures({4, 2}, 2, 8, 16, kHandlers, Hertz{1'000'000});
  figures.level(Figures::kSendBuffers, 3, microseconds(10), 8);
  figures.change(Figures::kNoCredit, 1, microseconds(10), 2);
  figures.change(Figures::kNoCredit, 1, microseconds(15), -1);
  figures.handled(1, microseconds(3));
  figures.conclude(microseconds(20));
  // Expect: one of four ranks for half of the time.
  EXPECT_DOUBLE_EQ(figures.queues[Figures::kSendBuffers].full(), 0.125);
  EXPECT_DOUBLE_EQ(figures.queues[Figures::kNoCredit].mean(), (2 * 5 + 1 * 5) / 40.0);
  EXPECT_EQ(figures.handlers[1].count, 1u);
}

TEST(Figures, TakeTheTimeOfAMessageToItsLastPart) {
  Figures figures({4, 2}, 2, 8, 16, kHandlers, Hertz{1'000'000});
  const Figures::Stream stream{.from = 0, .to = 3, .chan = 7};
  const Figures::Stream back{.from = 3, .to = 0, .chan = 7, .lane = 1};
  // A copy of a packet has the time of its first; two parts come behind it, the second while the
  // next message, of one packet, is on its way; what goes the other way is of the protocol.
  figures.begins(700, microseconds(1));
  figures.copied(700, 5);
  figures.begins(1, microseconds(2));
  figures.begins(2, microseconds(3));
  figures.begins(3, microseconds(6));
  figures.ends(5, microseconds(4), stream, false);
  figures.begins(4, microseconds(4));
  figures.ends(4, microseconds(5), back, true);
  figures.ends(1, microseconds(5), stream, true);
  figures.ends(2, microseconds(8), stream, true);
  figures.ends(3, microseconds(9), stream, false);
  // One on another channel meanwhile.
  Figures::Stream other = stream;
  other.chan = 8;
  figures.begins(6, microseconds(9));
  figures.ends(6, microseconds(20), other, false);
  figures.conclude(microseconds(20));
  // Expect: 7, 3 and 11 us.
  EXPECT_EQ(figures.messages.count(), 3u);
  EXPECT_DOUBLE_EQ(figures.messages.mean_us(), 7);
  EXPECT_DOUBLE_EQ(figures.messages.most_us(), 11);
}

TEST(Figures, ShareABusOverTime) {
  Figures figures({4, 2}, 2, 8, 16, kHandlers, Hertz{1'000'000});
  constexpr Ps kTime = Figures::kShareTime;
  figures.bus(0, kTime / 2, kTime / 4);
  // A transfer that goes on for another half of the time.
  figures.bus(0, kTime, kTime * 3 / 2);
  figures.bus(0, kTime * 3 / 2, kTime * 3 / 2);
  figures.conclude(kTime * 2);
  // Expect: all of the first half and half of the second one on one node, nothing on the other.
  const Occupancy& bus = figures.queues[Figures::kBusShare];
  EXPECT_EQ(bus.capacity(), 100u);
  EXPECT_EQ(bus.most(), 100u);
  EXPECT_DOUBLE_EQ(bus.full(), 0.25);
  EXPECT_DOUBLE_EQ(bus.mean(), (100 + 50) / 4.0);
}

TEST(Figures, DrawLevelsThatLast) {
  namespace fs = std::filesystem;
  const fs::path path =
      fs::path(testing::TempDir()) / ("fairlead-figures-" + std::to_string(::getpid()));
  auto writer = TraceWriter::create(path.string(), TraceWriter::Form::whole);
  ASSERT_TRUE(writer.ok());
  Figures figures({4, 2}, 2, 8, 16, kHandlers, Hertz{1'000'000});
  figures.trace(*writer.value());
  figures.level(Figures::kNiWork, 1, microseconds(10), 1);
  // Expect: nothing of a level that is over when it begins.
  figures.change(Figures::kNiWork, 1, microseconds(12), 1);
  figures.change(Figures::kNiWork, 1, microseconds(12), -1);
  figures.change(Figures::kNiWork, 1, microseconds(15), -1);
  figures.level(Figures::kSendBuffers, 3, Ps{0}, 2);
  figures.conclude(microseconds(20));
  ASSERT_TRUE(writer.value()->close().ok());
  std::vector<std::tuple<std::string, int, double, int>> drawn;
  for (const auto& event : nlohmann::json::parse(std::ifstream(path))) {
    drawn.emplace_back(event["name"], event["pid"], event["ts"], event["args"]["value"]);
  }
  fs::remove(path);
  std::sort(drawn.begin(), drawn.end());
  // Expect: a curve of each that changed, from its first level to its last, each level once.
  EXPECT_EQ(drawn, (std::vector<std::tuple<std::string, int, double, int>>{
                       {"NI work queue", 1, 0, 0},
                       {"NI work queue", 1, 10, 1},
                       {"NI work queue", 1, 15, 0},
                       {"send buffers taken, rank 2", 1, 0, 2}}));
}

}  // namespace
}  // namespace fairlead::fabric::model
