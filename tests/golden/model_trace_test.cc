// A traced run of the model is the untraced one, and its trace says what happened.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

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
  EXPECT_EQ(lines, (std::set<std::string>{"host", "NI processor", "host DMA", "programmed writes",
                                          "link out"}));
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
    for (int line = 0; line < 5; ++line) {
      // Expect: something on every line
      EXPECT_GT((intervals[{node, line}]), 0) << "node " << node << ", line " << line;
    }
    // Expect: ten packets of its own on the link
    EXPECT_GE((intervals[{node, 4}]), 10);
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
