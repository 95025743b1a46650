// The Split-C paper: Active Messages over VIA and Split-C's primitives on the Millennium cluster,
// its virtual interfaces on the modelled network interfaces (--lci via).
#include "tools/fairlead/reproduce/splitc_studies.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::tools {

namespace {

constexpr const char* kPlatform = "millennium";
constexpr std::uint32_t kNodes = 16;

using Words = std::vector<std::string>;

// Two of `ranks` are active. The others of Active Messages have virtual interfaces to all.
Measurement vibench(const std::string& api, std::uint32_t ranks, const Words& words) {
  Measurement made{"vibench", kPlatform, "via", {"--api", api}, ranks, {"--body", "fiber"}};
  made.arguments.insert(made.arguments.end(), words.begin(), words.end());
  if (api == "am") made.options.insert(made.options.end(), {"--am", "amvia"});
  made.expected_s = 2;
  return made;
}
Measurement logp(std::uint32_t ranks = kNodes) { return vibench("am", ranks, {"--what", "logp"}); }
Measurement one_way(const char* api, const Words& sizes = {}) {
  Words words = {"--what", "one-way"};
  words.insert(words.end(), sizes.begin(), sizes.end());
  return vibench(api, 2, words);
}
Measurement signature(int delta_us, std::uint32_t ranks = kNodes) {
  return vibench("am", ranks, {"--what", "signature", "--delta", fmt::format("{}", delta_us)});
}
// Two of `ranks` are active.
Measurement primitive(const char* splitc, const char* op, bool two_way, bool quick,
                      std::uint32_t ranks = 2) {
  Measurement made{"splitcbench", kPlatform, "via", {"--op", op}, ranks, {"--splitc", splitc}};
  if (splitc == std::string_view("am")) {
    made.platform = "now";
    made.lci = "nirx";
  }
  // Its two ranks are the processors of one node.
  if (splitc == std::string_view("amvia-shm")) {
    made.options.insert(made.options.end(), {"--ranks-per-node", "2"});
  }
  if (two_way) made.arguments.emplace_back("--two-way");
  made.arguments.insert(made.arguments.end(), {"--rounds", quick ? "1000" : "10000"});
  made.expected_s = quick ? 1 : 5;
  return made;
}

StatementPlan says(const char* text, const char* section, std::vector<Order> orders) {
  return {text, fmt::format("Split-C paper, section {}", section), std::move(orders)};
}

// Both are about the same: each at most `slack` times the other.
std::vector<Order> alike(const Quantity& a, const Quantity& b, double slack) {
  return {{a, b, slack}, {b, a, slack}};
}

Study table6_1() {
  Study study{"table6-1", "LogP of Active Messages over VIA, 16 nodes", false, {}, {}, {}};
  const std::pair<const char*, const char*> keys[] = {
      {"L", "l_us"}, {"o_s", "os_us"}, {"o_r", "or_us"}, {"g", "g_us"}};
  for (const auto& [row, key] : keys)
    add_cell(study, row, "AMVIA", "us", figure_of(row, logp(), key));
  return study;
}

Study figure6_1(bool quick) {
  Study study{"figure6-1", "One-way time and streaming of VIA and AMVIA", true, {}, {}, {}};
  const Quantity via = figure_at("VIA", one_way("via"), "one_way_us", 4);
  const Quantity amvia = figure_of("AMVIA", logp(), "one_way_us");
  add_cell(study, "VIA", "one way", "us", via);
  add_cell(study, "AMVIA", "one way", "us", amvia);
  add_cell(study, "AMVIA, 2 nodes", "one way", "us",
           figure_at("AMVIA of 2 nodes", one_way("am"), "one_way_us", 4));
  const Measurement now{"vibench", "now",
                        "nirx",    {"--api", "am", "--what", "one-way"},
                        2,         {"--body", "fiber", "--am", "direct"}};
  add_cell(study, "AM on the NOW", "one way", "us",
           figure_at("AM on the NOW", now, "one_way_us", 4));
  const Words sizes =
      quick ? Words{"--from", "512", "--to", "2048"} : Words{"--from", "4", "--to", "2048"};
  const Axis bytes = {"message size", "bytes", true};
  Words stream = {"--what", "stream", "--from", quick ? "1004" : "251", "--to", "4016"};
  add_cell(study, "AMVIA, 4016 bytes", "stream", "MB/s",
           figure_at("AMVIA", vibench("am", 2, stream), "MBps", 4016));
  study.panels = {{"figure6-1-time",
                   "one-way time",
                   bytes,
                   {"time", "us", false},
                   {{"VIA", one_way("via", sizes), "one_way_us"},
                    {"AMVIA", one_way("am", sizes), "one_way_us"}}},
                  {"figure6-1-stream",
                   "streaming",
                   bytes,
                   {"rate", "MB/s", false},
                   {{"AMVIA", vibench("am", 2, stream), "MBps"}}}};
  return study;
}

Study figure6_2(bool quick) {
  Study study{"figure6-2", "LogP signature of Active Messages over VIA, 16 nodes", true, {}, {},
              {}};
  const auto burst = [](int delta, std::uint64_t count) {
    return figure_at(fmt::format("{} messages with {} us between", count, delta), signature(delta),
                     "us", count);
  };
  for (const std::uint64_t count : {1u, 16u, 64u, 256u}) {
    add_cell(study, count == 1 ? "one" : fmt::format("burst of {}", count), "a message", "us",
             burst(0, count));
  }
  // The plateau by the doorbells that an interface looks at: one of the Port and three of a MAP for
  // each other node.
  for (const unsigned nodes : {2u, 4u, 8u, kNodes}) {
    const unsigned doorbells = 4 * (nodes - 1);
    add_cell(study, fmt::format("burst of 64, {} doorbells", doorbells), "a message", "us",
             figure_at(fmt::format("{} doorbells", doorbells), signature(0, nodes), "us", 64));
  }
  PanelPlan panel{"figure6-2",
                  "time of a message, its computing included",
                  {"burst", "messages", true},
                  {"time", "us", false},
                  {}};
  for (const int delta : quick ? std::vector<int>{0, 50} : std::vector<int>{0, 5, 10, 15, 25, 50}) {
    panel.series.push_back({fmt::format("delta {} us", delta), signature(delta), "us"});
  }
  study.panels = {std::move(panel)};
  study.statements = {
      says(
          "The time per message increases rapidly to a plateau, and above a burst of 64 to the gap",
          "6.1",
          {{burst(0, 1), burst(0, 16), 0.5},
           {burst(0, 16), burst(0, 64), 1.25},
           {burst(0, 64), burst(0, 16), 1.25},
           {burst(0, 64), burst(0, 256), 0.75}}),
      says("A message of a burst waits for the interface to look at its doorbell among all of them",
           "6.1", {{figure_at("on 2 nodes", signature(0, 2), "us", 64), burst(0, 64), 0.75}}),
      says("With a long delay no message waits for the doorbell", "6.1",
           {{burst(50, 16), constant("50 us and o_s of 3", 53), 1.25}})};
  return study;
}

Study figure6_3(bool quick) {
  Study study{"figure6-3", "Split-C's primitives on an int", true, {}, {}, {}};
  const char* const ops[] = {"read", "write", "get", "put", "store"};
  for (const char* const splitc : {"amvia", "amvia-shm", "via", "via-unreliable", "am"}) {
    for (const char* const op : ops) {
      for (const bool two_way : {false, true}) {
        const char* const label = splitc == std::string_view("am") ? "NOW" : splitc;
        add_cell(study, op, fmt::format("{}, {}", label, two_way ? "two-way" : "one-way"), "us",
                 figure_at(op, primitive(splitc, op, two_way, quick), "us", 4));
      }
    }
  }
  const auto of = [quick](const char* splitc, const char* op, bool two_way) {
    return figure_at(fmt::format("{} over {}{}", op, splitc, two_way ? ", both ways" : ""),
                     primitive(splitc, op, two_way, quick), "us", 4);
  };
  std::vector<Order> stores;
  std::vector<Order> same;
  std::vector<Order> same_of_all;
  std::vector<Order> slower;
  std::vector<Order> near;
  std::vector<Order> now;
  for (const char* const op : ops) {
    for (const char* const splitc : {"amvia", "via", "via-unreliable"}) {
      now.push_back({of("am", op, false), of(splitc, op, false), 1});
    }
    for (const bool two_way : {false, true}) {
      near.push_back({of("amvia-shm", op, two_way), constant("400 ns", 0.4), 1});
    }
  }
  for (const char* const op : {"get", "put"}) {
    for (const char* const splitc : {"via", "via-unreliable"}) {
      stores.push_back({of(splitc, "store", false), of(splitc, op, false), 0.6});
    }
    for (const char* const splitc : {"amvia", "via", "via-unreliable"}) {
      slower.push_back({of(splitc, op, false), of(splitc, op, true), 1 / 1.7});
      slower.push_back({of(splitc, op, true), of(splitc, op, false), 2.3});
    }
  }
  for (const char* const op : {"read", "write"}) {
    for (const char* const splitc : {"amvia", "via", "via-unreliable"}) {
      for (const Order& each : alike(of(splitc, op, true), of(splitc, op, false), 1.15)) {
        same.push_back(each);
      }
      const auto of_all = [&](bool two_way) {
        return figure_at(
            fmt::format("{} over {}, 16 nodes{}", op, splitc, two_way ? ", both ways" : ""),
            primitive(splitc, op, two_way, quick, kNodes), "us", 4);
      };
      for (const Order& each : alike(of_all(true), of_all(false), 1.15)) {
        same_of_all.push_back(each);
      }
    }
  }
  study.statements = {
      says("Stores are twice as fast as gets and puts over VIA, reliable and unreliable", "6.2",
           stores),
      says("Stores are as fast as gets and puts over AMVIA", "6.2",
           alike(of("amvia", "store", false), of("amvia", "put", false), 1.1)),
      says("Reads and writes take the same time both ways (2 nodes)", "6.2", same),
      says("Reads and writes take the same time both ways (2 of 16 nodes that are connected)",
           "6.2", same_of_all),
      says("Gets and puts are twice as slow both ways", "6.2", slower),
      says("Over shared memory every primitive takes less than 400 ns", "6.2", near),
      says("The NOW is faster than all implementations over VIA", "6.2", now)};
  return study;
}

}  // namespace

std::vector<Study> splitc_paper_studies(bool quick) {
  return {table6_1(),       figure6_1(quick),        figure6_2(quick),
          figure6_3(quick), splitc_figure6_4(quick), splitc_figure6_5(quick)};
}

}  // namespace fairlead::tools
