#include "tools/fairlead/reproduce/qsnet_studies.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace fairlead::tools {

namespace {

constexpr const char* kPlatform = "qsnet-es40";
constexpr std::uint32_t kNodes = 64;
constexpr std::uint64_t kMega = 1 << 20;
constexpr std::uint64_t kQuarter = 1 << 18;

using Words = std::vector<std::string>;

// What else is on the network (section 5.2).
enum class Traffic { none, complement, uniform };
// Where the network does nothing for several processes: trees of the interfaces, of the hosts.
constexpr const char* kTrees[] = {"elan-tree", "elan-host"};

constexpr Traffic kTraffic[] = {Traffic::none, Traffic::complement, Traffic::uniform};

const char* name_of(Traffic traffic) {
  switch (traffic) {
    case Traffic::complement:
      return "complement traffic";
    case Traffic::uniform:
      return "uniform traffic";
    case Traffic::none:
      break;
  }
  return "no traffic";
}

class Plan {
 public:
  explicit Plan(bool quick) : quick_(quick) {}

  bool quick() const { return quick_; }
  // 8 are among them wherever the text says something of them.
  std::vector<std::uint32_t> nodes() const {
    if (quick_) return {4, 8, 16, 64};
    return {4, 8, 16, 32, 64};
  }
  // With machines larger than the paper's.
  std::vector<std::uint32_t> all_nodes() const {
    if (quick_) return nodes();
    return {4, 8, 16, 32, 64, 256, 1024, 4096};
  }
  std::vector<std::uint32_t> loaded_nodes() const {
    if (quick_) return {4, kNodes};
    return nodes();
  }

  // Trees, whose packets under load are many.
  std::vector<std::uint32_t> loaded_trees() const {
    if (quick_) return {};
    return {16, kNodes};
  }

  // A barrier's or a message's test of elanbench.
  Measurement of(const std::string& test, std::uint32_t nodes, Traffic traffic, const Words& more,
                 std::uint32_t rounds, const std::string& lci = "elan") const {
    Words words = {"--test", test, "--rounds", fmt::format("{}", rounds)};
    words.insert(words.end(), more.begin(), more.end());
    Measurement made{"elanbench", kPlatform, lci, words, nodes, {}};
    if (traffic != Traffic::none) {
      made.options = {"--set", traffic == Traffic::complement ? "background.pattern=1"
                                                              : "background.pattern=2"};
    }
    made.expected_s = traffic == Traffic::none ? 2 : 10;
    if (nodes > kNodes) made.expected_s = nodes / 40.0;
    return made;
  }
  Measurement barrier(const std::string& test, std::uint32_t nodes, Traffic traffic = Traffic::none,
                      const std::string& lci = "elan") const {
    const bool quiet = traffic == Traffic::none;
    if (quick_) return of(test, nodes, traffic, {}, quiet ? 100 : 20, lci);
    if (nodes > kNodes) return of(test, nodes, traffic, until_sure(traffic), 300, lci);
    return of(test, nodes, traffic, until_sure(traffic), quiet ? 10'000 : 2000, lci);
  }
  // An average's 95 % interval, where that many operations are enough for it.
  static Words until_sure(Traffic traffic) {
    return {"--within", traffic == Traffic::none ? "1" : "3"};
  }
  // 10,000 of them where nothing else is on the network (section 5.2).
  Measurement spread(const std::string& test, Traffic traffic,
                     const std::string& lci = "elan") const {
    const bool quiet = traffic == Traffic::none;
    const std::uint32_t rounds = quick_ ? (quiet ? 100 : 20) : (quiet ? 10'000 : 2000);
    return of(test, kNodes, traffic, {"--spread"}, rounds, lci);
  }
  Measurement broadcast(const std::string& test, std::uint32_t nodes, bool main, std::uint64_t from,
                        std::uint64_t to, Traffic traffic = Traffic::none,
                        const std::string& lci = "elan") const {
    Words words = {"--from", fmt::format("{}", from), "--to", fmt::format("{}", to)};
    if (main) words.emplace_back("--main");
    const bool few = quick_ || (lci != "elan" && traffic != Traffic::none);
    const Words how = few ? Words{"--warm", "1"} : until_sure(traffic);
    words.insert(words.end(), how.begin(), how.end());
    return of(test, nodes, traffic, words, few ? kFew : broadcasts(to, traffic), lci);
  }
  // How many of a size at most. A daemon in one of a few short ones would be much of their mean.
  std::uint32_t broadcasts(std::uint64_t to, Traffic traffic) const {
    if (to <= 4096) return traffic == Traffic::none ? 2000 : 200;
    return to == kQuarter ? 20 : 10;
  }
  Measurement short_broadcasts(const std::string& test, bool main, Traffic traffic,
                               const std::string& lci = "elan") const {
    return broadcast(test, kNodes, main, 8, 4096, traffic, lci);
  }
  // The longest message of figures 13 and 15, and the curve to it.
  std::uint64_t longest() const { return quick_ ? kQuarter : kMega; }
  Measurement long_broadcasts(const std::string& test, bool main, Traffic traffic,
                              const std::string& lci = "elan") const {
    return broadcast(test, kNodes, main, quick_ ? kQuarter : 8192, longest(), traffic, lci);
  }
  Measurement ping(bool main, std::uint64_t from, std::uint64_t to) const {
    Words words = {"--from", fmt::format("{}", from), "--to", fmt::format("{}", to)};
    if (main) words.emplace_back("--main");
    return of("ping", kNodes, Traffic::none, words, quick_ ? 2 : to > 65536 ? 5 : 200);
  }
  // MPI over Tports from main memory to main memory: one pair, or every node with one across the
  // whole tree.
  Measurement mpi(std::uint32_t nodes, std::uint64_t from, std::uint64_t to,
                  const std::string& lci = "elan") const {
    Words words = {"--count", quick_ ? "2" : "20"};
    if (from == 0) words.insert(words.end(), {"--bytes", "0"});
    for (std::uint64_t bytes = std::max<std::uint64_t>(from, 8); bytes <= to; bytes *= 2) {
      words.insert(words.end(), {"--bytes", fmt::format("{}", bytes)});
    }
    return {"pairs", kPlatform, lci, words, nodes, {}, nodes == 2 ? 2.0 : 10.0};
  }

 private:
  // Broadcasts of a size, for a look, and of trees under load.
  static constexpr std::uint32_t kFew = 2;

  bool quick_;
};

Study study_of(const char* id, const char* title, bool figure = false) {
  return {id, title, figure, {}, {}, {}};
}

StatementPlan says(const char* text, const char* section, std::vector<Order> orders) {
  return {text, fmt::format("Quadrics paper, section {}", section), std::move(orders)};
}

std::string size_row(std::uint64_t bytes) {
  return bytes == kMega ? "1 MB" : fmt::format("{} KB", bytes >> 10);
}
std::string nodes_row(std::uint32_t nodes) { return fmt::format("{} nodes", nodes); }

const char* memory_name(bool main) { return main ? "main memory" : "Elan memory"; }

Quantity percent_of(const Quantity& a, const Quantity& b) {
  Quantity made = ratio_of("", a, b);
  made.value = [value = std::move(made.value)](
                   std::span<const Measured* const> measured) -> std::optional<double> {
    const std::optional<double> ratio = value(measured);
    return ratio ? std::optional(*ratio * 100) : std::nullopt;
  };
  return made;
}

const Axis kSizeAxis = {"message size", "bytes", true};
const Axis kTimeAxis = {"latency", "us", false};
const Axis kRateAxis = {"bandwidth", "MB/s", false};
const Axis kNodesAxis = {"nodes", "", true};

std::string with(Traffic traffic) {
  return traffic == Traffic::none ? "" : fmt::format(", {}", name_of(traffic));
}

std::string id_of(Traffic traffic) {
  const std::string name = name_of(traffic);
  return traffic == Traffic::none ? "quiet" : name.substr(0, name.find(' '));
}

// A curve over nodes, of what `measurement` gives for each number of them.
template <class MeasurementOf>
SeriesPlan over_nodes(const std::string& name, const std::vector<std::uint32_t>& all,
                      const char* key, MeasurementOf&& measurement) {
  std::vector<PointPlan> points;
  for (const std::uint32_t nodes : all) {
    points.push_back({static_cast<double>(nodes), measurement(nodes)});
  }
  return series_over(name, std::move(points), key);
}

// --- Puts.

Study figure8(const Plan& plan) {
  Study study = study_of("figure8", "Puts one way, by Elanlib, and messages of MPI", true);
  const auto small = [&](bool main) { return plan.ping(main, 0, 4096); };
  const auto all = [&](bool main) { return plan.ping(main, 8, kMega); };
  PanelPlan rate{"figure8-bandwidth", "bandwidth", kSizeAxis, kRateAxis, {}};
  PanelPlan time{"figure8-latency", "latency", {"message size", "bytes", false}, kTimeAxis, {}};
  for (const bool main : {false, true}) {
    const std::string name = main ? "main to main" : "Elan to Elan";
    rate.series.push_back({name, all(main), "MBps"});
    time.series.push_back({name, small(main), "us"});
    for (const std::uint64_t bytes : {0u, 64u, 4096u}) {
      add_cell(study, fmt::format("{} bytes, {}", bytes, memory_name(main)), "latency", "us",
               figure_at("", small(main), "us", bytes));
    }
    add_cell(study, fmt::format("1 MB, {}", memory_name(main)), "bandwidth", "MB/s",
             figure_at("", all(main), "MBps", kMega));
  }
  const Measurement mpi_long = plan.mpi(2, 8, kMega);
  const Measurement mpi_small = plan.mpi(kNodes, 0, 4096);
  rate.series.push_back({"MPI", mpi_long, "MBps"});
  time.series.push_back({"MPI", mpi_small, "latency_us"});
  for (const std::uint64_t bytes : {0u, 64u, 4096u}) {
    add_cell(study, fmt::format("{} bytes, MPI", bytes), "latency", "us",
             figure_at("", mpi_small, "latency_us", bytes));
  }
  add_cell(study, "1 MB, MPI", "bandwidth", "MB/s", figure_at("", mpi_long, "MBps", kMega));
  for (const char* lci : kTrees) {
    const std::string name = fmt::format("MPI, {}", lci);
    rate.series.push_back({name, plan.mpi(2, 8, kMega, lci), "MBps"});
    time.series.push_back({name, plan.mpi(kNodes, 0, 4096, lci), "latency_us"});
  }
  study.panels = {rate, time};
  study.statements = {says("The bus is the bottleneck from main to main memory", "6.1",
                           {{figure_at("main to main", all(true), "MBps", kMega),
                             figure_at("Elan to Elan", all(false), "MBps", kMega), 0.8}}),
                      says("Latency is almost constant up to 64 bytes (within a tenth)", "6.1",
                           {{figure_at("64 bytes", small(false), "us", 64),
                             figure_at("0 bytes", small(false), "us", 0), 1.1}})};
  return study;
}

// --- Barriers.

constexpr const char* kBarriers[] = {"gsync", "hgsync", "hgsyncEvent"};

Quantity mean_of(const Plan& plan, const char* test, std::uint32_t nodes,
                 Traffic traffic = Traffic::none, const std::string& lci = "elan") {
  const std::string where = lci == "elan" ? "" : fmt::format(", {}", lci);
  return figure_of(fmt::format("{} of {} nodes with {}{}", test, nodes, name_of(traffic), where),
                   plan.barrier(test, nodes, traffic, lci), "us");
}

// How many times as long on 64 nodes as on 4.
Quantity growth(const Plan& plan, const char* test, Traffic traffic) {
  return ratio_of(fmt::format("{} with {}", test, name_of(traffic)),
                  mean_of(plan, test, kNodes, traffic), mean_of(plan, test, 4, traffic));
}

// What takes how long on how many nodes; trees on those of `trees`.
PanelPlan barrier_panel(const Plan& plan, const std::string& id, Traffic traffic,
                        const std::vector<std::uint32_t>& all,
                        const std::vector<std::uint32_t>& trees) {
  PanelPlan panel{id, "latency" + with(traffic), kNodesAxis, kTimeAxis, {}};
  for (const char* test : kBarriers) {
    panel.series.push_back(over_nodes(fmt::format("elan_{}", test), all, "us", [&](auto nodes) {
      return plan.barrier(test, nodes, traffic);
    }));
  }
  for (const char* lci : kTrees) {
    if (trees.empty()) break;
    panel.series.push_back(
        over_nodes(fmt::format("elan_gsync, {}", lci), trees, "us",
                   [&](auto nodes) { return plan.barrier("gsync", nodes, traffic, lci); }));
  }
  return panel;
}

Study figure9(const Plan& plan) {
  Study study = study_of("figure9", "Barriers on a quiet network", true);
  const std::vector<std::uint32_t> all = plan.all_nodes();
  for (const std::uint32_t nodes : all) {
    for (const char* test : kBarriers) {
      add_cell(study, nodes_row(nodes), fmt::format("elan_{}", test), "us",
               mean_of(plan, test, nodes));
    }
    for (const char* lci : kTrees) {
      add_cell(study, nodes_row(nodes), fmt::format("elan_gsync, {}", lci), "us",
               mean_of(plan, "gsync", nodes, Traffic::none, lci));
    }
  }
  study.panels = {barrier_panel(plan, "figure9-latency", Traffic::none, all, all)};
  const Quantity few = mean_of(plan, "gsync", 4);
  const Quantity many = mean_of(plan, "gsync", kNodes);
  std::vector<Measurement> both = few.needs;
  both.insert(both.end(), many.needs.begin(), many.needs.end());
  add_cell(study, "each time the nodes are four times as many", "elan_gsync", "us",
           {"", both, [](std::span<const Measured* const> measured) {
              return std::optional((measured[1]->figure("us") - measured[0]->figure("us")) / 2);
            }});
  std::vector<Order> below;
  std::vector<Order> notice;
  for (const std::uint32_t nodes : plan.nodes()) {
    below.push_back({mean_of(plan, "hgsyncEvent", nodes), mean_of(plan, "gsync", nodes), 1});
    notice.push_back({mean_of(plan, "hgsync", nodes), mean_of(plan, "hgsyncEvent", nodes), 1});
  }
  study.statements = {
      says("The hardware-based barriers are below the software-based one", "6.2.1", below),
      says("hgsync scales better than gsync", "6.2.1",
           {{growth(plan, "hgsync", Traffic::none), growth(plan, "gsync", Traffic::none), 1}}),
      says("hgsyncEvent is above hgsync, by the event's notice", "6.2.1", notice)};
  return study;
}

// How many times as long on 64 nodes as without traffic.
Quantity slower(const Plan& plan, const char* test, Traffic traffic) {
  return ratio_of(fmt::format("{} with {}, of quiet", test, name_of(traffic)),
                  mean_of(plan, test, kNodes, traffic), mean_of(plan, test, kNodes));
}

void add_trees_under_load(Study& study, const Plan& plan) {
  for (const char* lci : kTrees) {
    for (const Traffic traffic : {Traffic::complement, Traffic::uniform}) {
      for (const std::uint32_t nodes : plan.loaded_trees()) {
        add_cell(study, nodes_row(nodes), fmt::format("elan_gsync, {}, {}", lci, name_of(traffic)),
                 "us", mean_of(plan, "gsync", nodes, traffic, lci));
      }
    }
  }
}

Study figure10(const Plan& plan) {
  Study study = study_of("figure10", "Barriers with traffic of another job", true);
  for (const Traffic traffic : kTraffic) {
    study.panels.push_back(barrier_panel(plan, fmt::format("figure10-{}", id_of(traffic)), traffic,
                                         plan.loaded_nodes(), plan.loaded_trees()));
  }
  for (const char* test : kBarriers) {
    for (const Traffic traffic : kTraffic) {
      const std::string column = fmt::format("elan_{}, {}", test, name_of(traffic));
      for (const std::uint32_t nodes : plan.loaded_nodes()) {
        add_cell(study, nodes_row(nodes), column, "us", mean_of(plan, test, nodes, traffic));
      }
      add_cell(study, "64 nodes, of 4", column, "x", growth(plan, test, traffic));
      if (traffic != Traffic::none) {
        add_cell(study, "64 nodes, of quiet ones", column, "x", slower(plan, test, traffic));
      }
    }
  }
  add_trees_under_load(study, plan);
  std::vector<Order> worse;
  for (const char* test : kBarriers) {
    worse.push_back({mean_of(plan, test, kNodes, Traffic::complement),
                     mean_of(plan, test, kNodes, Traffic::uniform), 1});
  }
  std::vector<Order> alike;
  for (const char* a : kBarriers) {
    for (const char* b : kBarriers) {
      if (a == b) continue;
      alike.push_back({growth(plan, a, Traffic::uniform), growth(plan, b, Traffic::uniform), 1.5});
    }
  }
  study.statements = {
      says("Uniform traffic degrades every barrier more than complement traffic", "6.2.1", worse),
      says("The hardware-based barrier suffers less than the software-based one", "6.2.1",
           {{slower(plan, "hgsync", Traffic::uniform), slower(plan, "gsync", Traffic::uniform), 1},
            {slower(plan, "hgsync", Traffic::complement),
             slower(plan, "gsync", Traffic::complement), 1}}),
      says("The software-based barrier's scalability is more sensitive to complement traffic",
           "6.2.1",
           {{growth(plan, "hgsync", Traffic::complement),
             growth(plan, "gsync", Traffic::complement), 1}}),
      says("With uniform traffic the three scale alike (within a half)", "6.2.1", alike)};
  return study;
}

// How a barrier's times are spread on 64 nodes.
Study spread(const char* id, const char* test, const Plan& plan) {
  Study study = study_of(id, "", true);
  study.title = fmt::format("Spread of elan_{} on 64 nodes", test);
  PanelPlan panel{fmt::format("{}-within", id),
                  "operations within a latency",
                  {"latency", "us", true},
                  {"operations within it", "%", false},
                  {}};
  struct Row {
    const char* name;
    const char* unit;
    const char* key;
  };
  constexpr Row kRows[] = {{"half of them within", "us", "median_us"},
                           {"90 % of them within", "us", "p90_us"},
                           {"99 % of them within", "us", "p99_us"},
                           {"the longest", "us", "longest_us"},
                           {"above 30 us", "%", "above_30us_percent"}};
  for (const Traffic traffic : kTraffic) {
    const Measurement measured = plan.spread(test, traffic);
    panel.series.push_back({name_of(traffic), measured, "within"});
    for (const Row& row : kRows) {
      add_cell(study, row.name, name_of(traffic), row.unit, figure_of("", measured, row.key));
    }
  }
  // Their elan_hgsync is elan_gsync.
  for (const char* lci : kTrees) {
    if (plan.quick() || std::string("gsync") != test) break;
    for (const Traffic traffic : kTraffic) {
      panel.series.push_back({fmt::format("{}, {}", lci, name_of(traffic)),
                              plan.spread(test, traffic, lci), "within"});
    }
  }
  study.panels = {panel};
  return study;
}

// --- Broadcasts.

Quantity broadcast_at(const Plan& plan, const char* test, bool main, std::uint64_t bytes,
                      const char* key, Traffic traffic = Traffic::none) {
  const bool small = bytes <= 4096;
  return figure_at(
      fmt::format("{} of {} bytes in {}, {}", test, bytes, memory_name(main), name_of(traffic)),
      small ? plan.short_broadcasts(test, main, traffic)
            : plan.long_broadcasts(test, main, traffic),
      key, bytes);
}

void add_broadcasts(Study& study, const Plan& plan, Traffic traffic) {
  const std::string about = with(traffic);
  const std::string id = fmt::format("{}-{}", study.id, id_of(traffic));
  PanelPlan time{id + "-latency", "latency" + about, kSizeAxis, kTimeAxis, {}};
  PanelPlan rate{id + "-bandwidth", "bandwidth" + about, kSizeAxis, kRateAxis, {}};
  for (const char* test : {"bcast", "hbcast"}) {
    for (const bool main : {false, true}) {
      const std::string name = fmt::format("elan_{}, {}", test, memory_name(main));
      time.series.push_back({name, plan.short_broadcasts(test, main, traffic), "us"});
      rate.series.push_back({name, plan.long_broadcasts(test, main, traffic), "MBps"});
      for (const std::uint64_t bytes : {8u, 256u, 2048u}) {
        add_cell(study, fmt::format("{} bytes{}", bytes, about), name, "us",
                 broadcast_at(plan, test, main, bytes, "us", traffic));
      }
      const std::uint64_t longest = plan.longest();
      add_cell(study, size_row(longest) + about, name, "MB/s",
               broadcast_at(plan, test, main, longest, "MBps", traffic));
    }
  }
  // Their elan_hbcast is elan_bcast. Under load long ones are figure 16's, of fewer nodes.
  for (const char* lci : kTrees) {
    if (plan.quick()) break;
    for (const bool main : {false, true}) {
      const std::string name = fmt::format("elan_bcast, {}, {}", memory_name(main), lci);
      time.series.push_back({name, plan.short_broadcasts("bcast", main, traffic, lci), "us"});
      if (traffic != Traffic::none) continue;
      rate.series.push_back({name, plan.long_broadcasts("bcast", main, traffic, lci), "MBps"});
    }
  }
  study.panels.insert(study.panels.end(), {time, rate});
}

Study figure13(const Plan& plan) {
  Study study = study_of("figure13", "Broadcasts on 64 nodes", true);
  add_broadcasts(study, plan, Traffic::none);
  std::vector<Order> flat;
  for (const char* test : {"bcast", "hbcast"}) {
    flat.push_back({broadcast_at(plan, test, false, 256, "us"),
                    broadcast_at(plan, test, false, 8, "us"), 1.1});
  }
  study.statements = {
      says("Both broadcasts have the same bandwidth with long messages (within 2 %)", "6.2.2",
           {{broadcast_at(plan, "bcast", false, plan.longest(), "MBps"),
             broadcast_at(plan, "hbcast", false, plan.longest(), "MBps"), 1.02},
            {broadcast_at(plan, "hbcast", false, plan.longest(), "MBps"),
             broadcast_at(plan, "bcast", false, plan.longest(), "MBps"), 1.02}}),
      says("hbcast is faster where messages are short", "6.2.2",
           {{broadcast_at(plan, "hbcast", false, 8, "us"),
             broadcast_at(plan, "bcast", false, 8, "us"), 1}}),
      says("Latency is constant up to 256 bytes (within a tenth)", "6.2.2", flat),
      says("Elan memory gives the best performance", "6.2.2",
           {{broadcast_at(plan, "hbcast", true, plan.longest(), "MBps"),
             broadcast_at(plan, "hbcast", false, plan.longest(), "MBps"), 1}})};
  return study;
}

Quantity broadcast_on(const Plan& plan, const char* test, std::uint32_t nodes, bool main,
                      const char* key, Traffic traffic = Traffic::none) {
  return figure_of(fmt::format("{} on {} nodes in {}", test, nodes, memory_name(main)),
                   plan.broadcast(test, nodes, main, kQuarter, kQuarter, traffic), key);
}

// 256 KB on how many nodes; trees under load on 16 alone, as they take as many times longer as
// there are nodes.
PanelPlan scaling_panel(const Plan& plan, const std::string& id, Traffic traffic) {
  PanelPlan panel{id, "bandwidth" + with(traffic), kNodesAxis, kRateAxis, {}};
  const auto add = [&](const std::string& name, const std::vector<std::uint32_t>& all,
                       const char* test, bool main, const char* lci) {
    panel.series.push_back(over_nodes(name, all, "MBps", [&](auto nodes) {
      return plan.broadcast(test, nodes, main, kQuarter, kQuarter, traffic, lci);
    }));
  };
  for (const bool main : {false, true}) {
    add(fmt::format("elan_hbcast, {}", memory_name(main)), plan.nodes(), "hbcast", main, "elan");
  }
  for (const char* lci : kTrees) {
    if (plan.quick()) break;
    for (const bool main : {false, true}) {
      add(fmt::format("elan_bcast, {}, {}", memory_name(main), lci),
          traffic == Traffic::none ? plan.nodes() : std::vector<std::uint32_t>{16}, "bcast", main,
          lci);
    }
  }
  return panel;
}

void add_scaling(Study& study, const Plan& plan, Traffic traffic) {
  const std::string about = with(traffic);
  study.panels.push_back(
      scaling_panel(plan, fmt::format("{}-{}", study.id, id_of(traffic)), traffic));
  for (const bool main : {false, true}) {
    const std::string of = fmt::format(", {}{}", memory_name(main), about);
    const auto rate = [&](std::uint32_t nodes) {
      return broadcast_on(plan, "hbcast", nodes, main, "MBps", traffic);
    };
    for (const std::uint32_t nodes : plan.nodes()) {
      add_cell(study, nodes_row(nodes), "bandwidth" + of, "MB/s", rate(nodes));
      add_cell(study, nodes_row(nodes), "latency" + of, "us",
               broadcast_on(plan, "hbcast", nodes, main, "us", traffic));
    }
    const auto share = [&](const char* row, std::uint32_t many, std::uint32_t few) {
      add_cell(study, row, "bandwidth" + of, "%", percent_of(rate(many), rate(few)));
    };
    share("16 nodes, of that of 4", 16, 4);
    share("64 nodes, of that of 16", 64, 16);
    share("64 nodes, of that of 4", 64, 4);
  }
}

Study figure14(const Plan& plan) {
  Study study = study_of("figure14", "Broadcasts of 256 KB by nodes", true);
  add_scaling(study, plan, Traffic::none);
  const auto rate = [&](std::uint32_t nodes, bool main) {
    return broadcast_on(plan, "hbcast", nodes, main, "MBps");
  };
  study.statements = {
      says("From main memory the number of nodes does not matter (within 1 %)", "6.2.2",
           {{rate(4, true), rate(64, true), 1.01}, {rate(64, true), rate(4, true), 1.01}}),
      says("From Elan memory the bandwidth falls as nodes increase", "6.2.2",
           {{rate(16, false), rate(4, false), 1}, {rate(64, false), rate(16, false), 1}})};
  return study;
}

Study figure15(const Plan& plan) {
  Study study = study_of("figure15", "Broadcasts on 64 nodes with traffic of another job", true);
  std::vector<Order> best;
  std::vector<Order> faster;
  for (const Traffic traffic : {Traffic::complement, Traffic::uniform}) {
    add_broadcasts(study, plan, traffic);
    for (const char* test : {"bcast", "hbcast"}) {
      best.push_back({broadcast_at(plan, test, false, plan.longest(), "MBps", traffic),
                      broadcast_at(plan, test, true, plan.longest(), "MBps", traffic), 1});
    }
    faster.push_back({broadcast_at(plan, "hbcast", true, 2048, "us", traffic),
                      broadcast_at(plan, "bcast", true, 2048, "us", traffic), 1});
  }
  study.statements = {says("Main memory gives the largest bandwidth under load", "6.2.2", best),
                      says("hbcast is better for short messages under load", "6.2.2", faster)};
  return study;
}

Study figure16(const Plan& plan) {
  Study study =
      study_of("figure16", "Broadcasts of 256 KB by nodes, with traffic of another job", true);
  std::vector<Order> flattens;
  for (const Traffic traffic : {Traffic::complement, Traffic::uniform}) {
    add_scaling(study, plan, traffic);
    const auto fall = [&](std::uint32_t few, std::uint32_t many) {
      return ratio_of(fmt::format("{} of {} nodes, {}", few, many, name_of(traffic)),
                      broadcast_on(plan, "hbcast", few, true, "MBps", traffic),
                      broadcast_on(plan, "hbcast", many, true, "MBps", traffic));
    };
    flattens.push_back({fall(16, 64), fall(4, 16), 1});
  }
  study.statements = {says("The fall slows down as nodes increase", "6.2.2", flattens)};
  return study;
}

}  // namespace

std::vector<Study> qsnet_paper_studies(bool quick) {
  const Plan plan(quick);
  std::vector<Study> studies = {figure8(plan),
                                figure9(plan),
                                figure10(plan),
                                spread("figure11", "hgsync", plan),
                                spread("figure12", "gsync", plan),
                                figure13(plan),
                                figure14(plan)};
  // Broadcasts that wait for another job's packets take too long for a look.
  if (!quick) {
    studies.push_back(figure15(plan));
    studies.push_back(figure16(plan));
  }
  return studies;
}

}  // namespace fairlead::tools
