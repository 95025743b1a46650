#include "fairlead/base/trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fairlead {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TraceTest : public testing::Test {
 protected:
  TraceTest() { fs::create_directories(folder_); }
  ~TraceTest() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::unique_ptr<TraceWriter> writer(const char* name, TraceWriter::Form form) const {
    Result<std::unique_ptr<TraceWriter>> made = TraceWriter::create(path(name), form);
    EXPECT_TRUE(made.ok());
    return std::move(made.value());
  }
  json parsed(const char* name) const { return json::parse(std::ifstream(path(name))); }

  fs::path folder_ =
      fs::path(testing::TempDir()) / ("fairlead-trace-" + std::to_string(::getpid()));
};

TEST_F(TraceTest, EventsReadBackAsTheyWere) {
  auto trace = writer("t.json", TraceWriter::Form::whole);
  trace->name_node(3, "node 3");
  trace->name_lane({3, 1}, "NI \"processor\"\n\\");
  trace->interval({3, 1}, nanoseconds(1500), microseconds(2), "turn", {"packet", 7}, {"bytes", 16});
  trace->instant({3, 1}, Ps{1}, "lost");
  trace->arrow_begins({3, 0}, seconds(1000) + Ps{123}, 0xfedcba9876543210u);
  trace->arrow_ends({4, 0}, seconds(1001), 0xfedcba9876543210u);
  ASSERT_TRUE(trace->close().ok());
  const json events = parsed("t.json");
  ASSERT_EQ(events.size(), 7u);
  EXPECT_EQ(events[0]["args"]["name"], "node 3");
  // Expect: names survive quoting
  EXPECT_EQ(events[1]["args"]["name"], "NI \"processor\"\n\\");
  const json& turn = events[3];
  EXPECT_EQ(turn["ph"], "X");
  EXPECT_EQ(turn["pid"], 3);
  EXPECT_EQ(turn["tid"], 1);
  EXPECT_DOUBLE_EQ(turn["ts"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(turn["dur"].get<double>(), 0.5);
  EXPECT_EQ(turn["args"]["packet"], 7);
  EXPECT_EQ(turn["args"]["bytes"], 16);
  EXPECT_EQ(events[4]["ph"], "i");
  EXPECT_DOUBLE_EQ(events[4]["ts"].get<double>(), 1e-6);
  // Expect: both ends of the arrow carry the same 64-bit id, and the end binds to its interval
  EXPECT_EQ(events[5]["id"], "0xfedcba9876543210");
  EXPECT_EQ(events[6]["id"], events[5]["id"]);
  EXPECT_EQ(events[6]["bp"], "e");
  EXPECT_EQ(events[6]["pid"], 4);
  EXPECT_EQ(events[6]["ts"].get<double>(), 1'001'000'000);
  EXPECT_EQ(events[5]["ts"].get<double>(), 1'000'000'000.000123);
  // Expect: what the importers do without is not there
  for (std::size_t i = 5; i < 7; ++i) EXPECT_FALSE(events[i].contains("cat"));
}

TEST_F(TraceTest, ATraceWithoutEventsIsADocument) {
  ASSERT_TRUE(writer("t.json", TraceWriter::Form::whole)->close().ok());
  EXPECT_EQ(parsed("t.json"), json::array());
}

TEST_F(TraceTest, ALargeTraceIsStreamed) {
  constexpr int kEvents = 20'000;
  auto trace = writer("t.json", TraceWriter::Form::whole);
  std::uintmax_t before = 0;
  for (int i = 0; i < kEvents; ++i) trace->instant({0, 0}, nanoseconds(i), "tick");
  before = fs::file_size(path("t.json"));
  ASSERT_TRUE(trace->close().ok());
  // Expect: all but the two buffers was in the file before the end
  EXPECT_LE(fs::file_size(path("t.json")) - before, 2 * TraceWriter::kBufferBytes + 256);
  EXPECT_EQ(parsed("t.json").size(), std::size_t{kEvents});
}

TEST_F(TraceTest, NumbersOfEveryLengthAreWhatTheyWere) {
  auto trace = writer("t.json", TraceWriter::Form::whole);
  std::vector<std::int64_t> times;
  for (std::int64_t power = 1; power < 10'000'000'000'000; power *= 10) {
    for (const std::int64_t digit : {power - 1, power, power + 1, 9 * power, 25 * power + 4}) {
      times.push_back(digit);
    }
  }
  for (const std::int64_t ps : times) {
    trace->counter(7, Ps{ps}, "level", static_cast<std::uint64_t>(ps));
  }
  ASSERT_TRUE(trace->close().ok());
  const json events = parsed("t.json");
  ASSERT_EQ(events.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(events[i]["args"]["value"], times[i]);
    EXPECT_EQ(std::llround(events[i]["ts"].get<double>() * 1e6), times[i]);
  }
}

TEST_F(TraceTest, LargePartsAreJoinedLineByLine) {
  auto part = writer("part", TraceWriter::Form::part);
  part->instant({0, 0}, Ps{0}, "first");
  part->flush();
  const std::string parts[] = {path("part")};
  ASSERT_TRUE(merge_traces(path("t.json"), parts).ok());
  EXPECT_EQ(parsed("t.json").size(), 1u);
  for (int i = 0; i < 5'000; ++i) part->instant({0, 0}, nanoseconds(i), "tick");
  ASSERT_TRUE(part->close().ok());
  // Expect: parts larger than what is joined at once, each of their lines once
  const std::string twice[] = {path("part"), path("part")};
  ASSERT_TRUE(merge_traces(path("t.json"), twice).ok());
  EXPECT_EQ(parsed("t.json").size(), 2u * 5'001u);
}

TEST_F(TraceTest, LongNamesAreCutAndLongDetailsAreNot) {
  auto trace = writer("t.json", TraceWriter::Form::whole);
  // All of it escaped, as often as fills the buffer some times over.
  const std::string name(10 * TraceWriter::kNameBytes, '\x01');
  const std::string key(10 * TraceWriter::kNameBytes, 'k');
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.push_back(std::to_string(i) + key);
  std::vector<TraceDetail> details;
  for (const std::string& one : keys) details.push_back({one.c_str(), ~std::uint64_t{0}});
  constexpr int kEvents = 20;
  for (int i = 0; i < kEvents; ++i) {
    trace->journey(~0u, Ps{0}, kNever, ~std::uint64_t{0}, name, details);
    trace->interval({~0u, ~0u}, Ps{-1}, kNever - Ps{1}, name, {key.c_str(), 1}, {nullptr, 2});
    trace->interval({0, 0}, Ps{0}, Ps{1}, "bare");
  }
  ASSERT_TRUE(trace->close().ok());
  const json events = parsed("t.json");
  ASSERT_EQ(events.size(), std::size_t{4 * kEvents});
  const json& first = events[0];
  EXPECT_EQ(first["name"].get<std::string>(), name.substr(0, TraceWriter::kNameBytes));
  EXPECT_EQ(first["args"].size(), keys.size());
  EXPECT_EQ(first["args"][keys[39]], ~std::uint64_t{0});
  EXPECT_EQ(events[2]["args"].size(), 1u);
  // Expect: no empty list of details.
  EXPECT_FALSE(events[3].contains("args"));
}

TEST_F(TraceTest, PartsMergeAndACutOneIsKeptAsFarAsWritten) {
  for (const char* name : {"rank-0", "rank-1"}) {
    auto part = writer(name, TraceWriter::Form::part);
    part->instant({0, 0}, Ps{0}, "first");
    part->interval({1, 0}, Ps{0}, Ps{1}, "second", {"n", 1});
    part->flush();
  }
  // Killed in the middle of a line that looks whole.
  const std::uintmax_t size = fs::file_size(path("rank-1"));
  fs::resize_file(path("rank-1"), size - 3);
  const std::string parts[] = {path("rank-0"), path("rank-1"), path("never-started")};
  ASSERT_TRUE(merge_traces(path("t.json"), parts).ok());
  // Expect: two of rank 0, one of rank 1
  EXPECT_EQ(parsed("t.json").size(), 3u);
  ASSERT_TRUE(merge_traces(path("none.json"), {}).ok());
  EXPECT_EQ(parsed("none.json"), json::array());
}

TEST_F(TraceTest, WhatCannotBeWrittenIsNamed) {
  const auto made = TraceWriter::create(path("no/such/folder.json"), TraceWriter::Form::whole);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().text.find("no/such/folder.json: No such file"), std::string::npos)
      << made.error().text;
  EXPECT_FALSE(merge_traces(path("no/such/folder.json"), {}).ok());
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  auto full = TraceWriter::create("/dev/full", TraceWriter::Form::whole);
  ASSERT_TRUE(full.ok());
  // Expect: a full disk does not stop the run, it is said at the end
  for (int i = 0; i < 5000; ++i) full.value()->instant({0, 0}, Ps{0}, "tick");
  const Result<void> closed = full.value()->close();
  ASSERT_FALSE(closed.ok());
  EXPECT_NE(closed.error().text.find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace fairlead
