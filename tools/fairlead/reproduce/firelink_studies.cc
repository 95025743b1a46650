// The Sun Fire Link paper: figure 1 and section 2's figures of what a link, an interface and a host
// carry, by stores and loads of remote memory alone. By MPI: firelink_mpi_studies.cc.
#include "tools/fairlead/reproduce/firelink_studies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::tools {

namespace {

constexpr const char* kPlatform = "firelink";
constexpr std::uint64_t kLarge = 262144;

using Words = std::vector<std::string>;

// `pairs` on two nodes, all at once. `set`: keys of the platform's file.
Measurement remote(std::uint32_t pairs, const std::vector<std::uint64_t>& sizes,
                   const Words& set = {}) {
  Words words = {"-n",
                 fmt::format("{}", 2 * pairs),
                 "--ranks-per-node",
                 fmt::format("{}", pairs),
                 "--sizes",
                 fmt::format("{}", fmt::join(sizes, ","))};
  for (const std::string& each : set) words.insert(words.end(), {"--set", each});
  return {"remote", kPlatform, "direct", words};
}

const Words kOneLink = {"links.stripes=1"};
const Words kOneInterface = {"links.nis=1", "links.switches=2", "links.stripes=2"};
const Words kUnswitched = {"links.switches=0"};

Quantity at_large(const std::string& label, const Measurement& measurement, const char* key) {
  return figure_at(label, measurement, key, kLarge);
}

// Each direction's share where both are busy.
Quantity half_of(const std::string& label, Quantity both) {
  Quantity half = std::move(both);
  half.label = label;
  half.value = [value = half.value](std::span<const Measured* const> measured) {
    std::optional<double> whole = value(measured);
    if (whole) *whole /= 2;
    return whole;
  };
  return half;
}

struct Curve {
  const char* name;
  Words set;
};

// One pair at a time cannot fill a link: eight of them, by 1, 2 and 4 stripes.
PanelPlan curves(const char* id, const char* title, const Axis& y, const char* key,
                 std::uint32_t pairs, const std::vector<std::uint64_t>& sizes) {
  const Curve stripes[] = {{"1 stripe", {"links.stripes=1"}},
                           {"2 stripes", {"links.stripes=2"}},
                           {"4 stripes", {"links.stripes=4"}}};
  PanelPlan panel{id, title, {"message size", "bytes", true}, y, {}};
  for (const Curve& each : stripes) {
    panel.series.push_back({each.name, remote(pairs, sizes, each.set), key});
  }
  return panel;
}

Study figure1(bool quick) {
  Study study{
      "figure1", "What the topologies carry: stores and loads of remote memory", true, {}, {}, {}};
  const std::vector<std::uint64_t> large = {kLarge};
  const Measurement link = remote(4, large, kOneLink);
  const Measurement interface = remote(8, large, kOneInterface);
  const Measurement host = remote(16, large);
  const Measurement unswitched = remote(16, large, kUnswitched);
  const Measurement one = remote(1, {8, kLarge});
  const auto cell = [&](const char* row, const char* column, const char* unit, Quantity ours) {
    study.cells.push_back({row, column, unit, std::move(ours), {}});
  };
  cell("One link", "one way", "MB/s", at_large("one link", link, "put_MBps"));
  cell("One link", "each of both ways", "MB/s",
       half_of("one link", at_large("one link", link, "both_MBps")));
  cell("One interface", "both ways", "MB/s", at_large("one interface", interface, "both_MBps"));
  cell("A host, 4 switches", "one way", "MB/s", at_large("a host", host, "put_MBps"));
  cell("A host, 4 switches", "both ways", "MB/s", at_large("a host", host, "both_MBps"));
  cell("A host, no switch", "both ways", "MB/s",
       at_large("a host without a switch", unswitched, "both_MBps"));
  cell("One processor", "stores", "MB/s", at_large("one processor", one, "put_MBps"));
  cell("One processor", "ping-pong of a line", "us", figure_at("a line", one, "ping_pong_us", 8));
  std::vector<std::uint64_t> sizes = {64, 4096, 65536, kLarge};
  if (!quick) sizes = {64, 256, 1024, 2048, 4096, 16384, 65536, kLarge};
  const Axis rate = {"rate", "MB/s", false};
  const Axis time = {"time", "us", false};
  study.panels = {
      curves("figure1-puts", "puts of 8 pairs, one way", rate, "put_MBps", 8, sizes),
      curves("figure1-both", "puts of 8 pairs, both ways", rate, "both_MBps", 8, sizes),
      curves("figure1-gets", "gets of 8 pairs", rate, "get_MBps", 8, sizes),
      curves("figure1-barrier", "a barrier behind a put of one pair", time, "fence_us", 1, sizes)};
  const std::string source = "Sun Fire Link paper, section ";
  const Quantity stores = at_large("one processor's stores", one, "put_MBps");
  study.statements = {
      {"A single processor can utilize a majority of a link's bandwidth",
       source + "2.5",
       {{constant("half a link", 500), stores, 1}, {stores, constant("a link", 1000), 1}}},
      {"An interface has a path of 2.4 GB/s, a host of two a peak of 4.8 GB/s",
       source + "2.2 and 4.1",
       {{at_large("one interface", interface, "both_MBps"), constant("2.4 GB/s", 2400), 1},
        {at_large("a host", host, "both_MBps"), constant("4.8 GB/s", 4800), 1},
        {at_large("a host without a switch", unswitched, "both_MBps"), constant("4.8 GB/s", 4800),
         1}}},
      {"Remote writes are more efficient than remote reads",
       source + "3.2",
       {{figure_at("gets of 4 KiB", remote(1, {4096}), "get_MBps", 4096),
         figure_at("puts of 4 KiB", remote(1, {4096}), "put_MBps", 4096), 1}}},
      {"A memory barrier is relatively expensive: it involves a round trip",
       source + "3.2",
       {{figure_at("a line there", one, "ping_pong_us", 8),
         figure_at("a barrier", one, "fence_us", 8), 1}}}};
  return study;
}

}  // namespace

std::vector<Study> firelink_paper_studies(bool quick) {
  std::vector<Study> all = firelink_mpi_studies(quick);
  all.insert(all.begin(), figure1(quick));
  for (Study& study : firelink_protocol_studies(quick)) all.push_back(std::move(study));
  return all;
}

Measurement firelink_program(const char* name, std::uint32_t ranks, std::uint32_t per_node,
                             const Words& arguments, double expected_s) {
  Measurement made{name, kPlatform, "direct", arguments, ranks, {}};
  made.options = {"--body",       "fiber", "--ranks-per-node", fmt::format("{}", per_node),
                  "--mpi-device", "auto"};
  made.expected_s = expected_s;
  return made;
}

Measurement firelink_pairs(std::uint32_t pairs, std::uint32_t per_node,
                           const std::vector<std::uint64_t>& sizes, const Words& variables) {
  Words words;
  for (const std::uint64_t bytes : sizes) {
    words.insert(words.end(), {"--bytes", fmt::format("{}", bytes)});
  }
  for (const std::string& each : variables) words.insert(words.end(), {"--variable", each});
  double expected_s = 0;
  for (const std::uint64_t bytes : sizes) {
    expected_s += (0.03 + static_cast<double>(bytes) / 3e6) * pairs;
  }
  return firelink_program("pairs", 2 * pairs, per_node, words, expected_s);
}

}  // namespace fairlead::tools
