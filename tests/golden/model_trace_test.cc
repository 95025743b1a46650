// A traced run of the model is the untraced one, and its trace says what happened.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "fairlead/fabric/model/figures.h"
#include "tests/golden/bodies.h"

namespace fairlead::golden {
namespace {

using nlohmann::json;

class TracedModel : public testing::Test {
 protected:
  ~TracedModel() override { std::filesystem::remove(path_); }
  run::RunReport run(run::WorldOptions options, const run::Body& body) {
    const auto report = run::run_world(options, body);
    EXPECT_TRUE(report.ok()) << report.error().text;
    return report.ok() ? report.value() : run::RunReport{};
  }
  json trace() const { return json::parse(std::ifstream(path_)); }

  std::string path_ = testing::TempDir() + "fairlead-model-" + std::to_string(::getpid()) + ".json";
};

TEST_F(TracedModel, TracingChangesNothing) {
  const run::Body body = [](run::Context& rank) { return all_to_all(rank, 5); };
  for (const char* lci : {"sdma", "pio"}) {
    run::WorldOptions options = modelled("myrinet-p3", lci, 4);
    const run::RunReport plain = run(options, body);
    options.trace_path = path_;
    const run::RunReport traced = run(options, body);
    EXPECT_EQ(traced.failure, "");
    // Expect: the same events at the same times
    EXPECT_EQ(traced.digest, plain.digest);
    EXPECT_EQ(traced.virtual_time, plain.virtual_time);
    EXPECT_EQ(traced.events, plain.events);
  }
}

TEST_F(TracedModel, CountingChangesNothing) {
  const run::Body body = [](run::Context& rank) { return all_to_all(rank, 5); };
  for (const char* lci : {"sdma", "hrx", "nirx"}) {
    run::WorldOptions options = modelled("myrinet-p3", lci, 4);
    const run::RunReport plain = run(options, body);
    options.figures = true;
    const run::RunReport counted = run(options, body);
    // Expect: the same events at the same times
    EXPECT_EQ(plain.figures, nullptr);
    ASSERT_NE(counted.figures, nullptr);
    EXPECT_EQ(counted.digest, plain.digest);
    EXPECT_EQ(counted.events, plain.events);
    EXPECT_GT(counted.figures->messages.count(), 0u);
  }
}

TEST_F(TracedModel, EverySendLeadsToItsUpcall) {
  run::WorldOptions options = modelled("myrinet-ppro", "sdma", 2);
  options.trace_path = path_;
  (void)run(options, [](run::Context& rank) { return ping_pong(rank, 16, 10); });
  struct End {
    double at;
    int node;
  };
  std::map<std::string, End> begins;
  std::map<std::string, End> ends;
  std::map<std::pair<int, int>, int> intervals;
  std::set<std::string> lines;
  for (const json& event : trace()) {
    const std::string kind = event["ph"];
    if (kind == "s") begins[event["id"]] = {event["ts"], event["pid"]};
    if (kind == "f") ends[event["id"]] = {event["ts"], event["pid"]};
    if (kind == "X") ++intervals[{event["pid"], event["tid"]}];
    if (event["name"] == "thread_name") lines.insert(event["args"]["name"]);
  }
  EXPECT_EQ(lines, (std::set<std::string>{"host", "NI processor", "host DMA", "I/O bus", "send DMA",
                                          "link out", "link in", "receive DMA"}));
  // Expect: an arrow each, of another id, to the other node and forward in time
  EXPECT_EQ(begins.size(), 20u);
  ASSERT_EQ(ends.size(), 20u);
  for (const auto& [id, end] : ends) {
    ASSERT_TRUE(begins.contains(id));
    EXPECT_NE(begins[id].node, end.node);
    // Expect: at least 5 us and at most 50, the one-way time of tables III and IV
    EXPECT_GT(end.at - begins[id].at, 5);
    EXPECT_LT(end.at - begins[id].at, 50);
  }
  for (int node = 0; node < 2; ++node) {
    for (int line = 0; line < 8; ++line) {
      // Expect: something on every line
      EXPECT_GT((intervals[{node, line}]), 0) << "node " << node << ", line " << line;
    }
    // Expect: ten packets on its links and the network's DMA engines
    for (int line = 4; line < 8; ++line) EXPECT_GE((intervals[{node, line}]), 10) << line;
  }
}

// What overlaps on one line would not be drawn: intervals nest or follow each other.
TEST_F(TracedModel, NothingOverlapsOnALine) {
  run::WorldOptions options = modelled("myrinet-p3", "sdma", 4);
  options.trace_path = path_;
  (void)run(options, [](run::Context& rank) { return all_to_all(rank, 5); });
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> intervals;
  for (const json& event : trace()) {
    if (event["ph"] != "X") continue;
    const auto from = std::llround(event["ts"].get<double>() * 1e6);
    const auto length = std::llround(event["dur"].get<double>() * 1e6);
    intervals[{event["pid"], event["tid"]}].push_back({from, -(from + length)});
  }
  EXPECT_EQ(intervals.size(), 4u * 8u);
  for (auto& [line, all] : intervals) {
    std::sort(all.begin(), all.end());
    std::vector<std::int64_t> open;
    for (const auto& [from, minus_to] : all) {
      while (!open.empty() && open.back() <= from) open.pop_back();
      // Expect: within the one it began in
      if (!open.empty()) {
        EXPECT_LE(-minus_to, open.back()) << "node " << line.first << ", line " << line.second;
      }
      open.push_back(-minus_to);
    }
  }
}

TEST_F(TracedModel, EveryPacketsStagesAreItsWholeJourney) {
  for (const char* lci : {"sdma", "pio"}) {
    run::WorldOptions options = modelled("myrinet-ppro", lci, 2);
    options.trace_path = path_;
    (void)run(options, [](run::Context& rank) { return ping_pong(rank, 16, 10); });
    std::map<std::string, std::int64_t> ends;
    std::map<std::string, std::int64_t> passed;
    const json events = trace();
    for (const json& event : events) {
      if (event["ph"] == "e") ends[event["id"]] = std::llround(event["ts"].get<double>() * 1e6);
      if (event["ph"] == "t") ++passed[event["id"]];
    }
    int journeys = 0;
    for (const json& event : events) {
      if (event["ph"] != "b") continue;
      ++journeys;
      std::int64_t sum = 0;
      for (const auto& [key, value] : event["args"].items()) {
        if (key.ends_with("_ps")) sum += value.get<std::int64_t>();
      }
      const auto began = std::llround(event["ts"].get<double>() * 1e6);
      EXPECT_EQ(sum, ends[event["id"]] - began);
      // Expect: the bus, the NI and the wire take what the platform file says
      EXPECT_EQ(event["args"]["visibility_ps"], 1'200'000);
      // and a stage that took no time is not there
      EXPECT_FALSE(event["args"].contains("wait_credit_ps"));
      EXPECT_EQ(!event["args"].contains("fetch_dma_ps"), std::string(lci) == "pio");
      // Expect: NI, link out, link in and their DMA engines, NI, host DMA; the fetch and its turn
      EXPECT_EQ(passed[event["id"]], std::string(lci) == "pio" ? 7 : 9);
    }
    EXPECT_EQ(journeys, 20);
  }
}

TEST_F(TracedModel, APathThatCannotBeWrittenIsAnError) {
  run::WorldOptions options = modelled("myrinet-p3", "sdma", 2);
  options.trace_path = "/no/such/folder/t.json";
  const auto report = run::run_world(options, [](run::Context&) { return 0; });
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().text.find("/no/such/folder/t.json"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::golden
