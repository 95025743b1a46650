// Figures 6-4 and 6-5 of the Split-C paper: bulk operations, and the five applications on 1 to 16
// processors, on the Millennium cluster by all implementations and on the NOW.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/fairlead/reproduce/splitc_studies.h"

namespace fairlead::tools {

namespace {

using Words = std::vector<std::string>;

// An implementation of Split-C on its machine.
struct Way {
  const char* label;
  const char* splitc;
  const char* platform = "millennium";
  const char* lci = "via";
  bool pairs = false;  // two ranks a node, the processors of one

  // `program` on so many ranks.
  Measurement run(const char* program, const Words& arguments, std::uint32_t ranks) const {
    Measurement made{program, platform, lci, arguments, ranks, {"--splitc", splitc}};
    if (pairs && ranks > 1) {
      made.options.insert(made.options.end(), {"--ranks-per-node", "2"});
    }
    return made;
  }
};
constexpr Way kAmvia = {"amvia", "amvia"};
constexpr Way kAmviaShm = {"amvia-shm", "amvia-shm", "millennium", "via", true};
constexpr Way kVia = {"via", "via"};
constexpr Way kViaUnreliable = {"via-unreliable", "via-unreliable"};
constexpr Way kNow = {"NOW", "am", "now", "nirx"};
// Those that have one rank a node on Millennium.
constexpr Way kSingle[] = {kAmvia, kVia, kViaUnreliable};

StatementPlan says(std::string text, const char* section, std::vector<Order> orders) {
  return {std::move(text), fmt::format("Split-C paper, section {}", section), std::move(orders)};
}

// --- Figure 6-4.

constexpr std::uint64_t kLeast = 4;
constexpr std::uint64_t kMost = 4096;

Measurement bulk(const Way& way, const char* op, bool two_way, bool quick) {
  Words arguments = {"--bulk", "--op", op, "--rounds", quick ? "50" : "1000"};
  if (two_way) arguments.emplace_back("--two-way");
  Measurement made = way.run("splitcbench", arguments, 2);
  made.expected_s = quick ? 1 : 5;
  return made;
}

Study figure6_4(bool quick) {
  Study study{"figure6-4", "Split-C's bulk operations", true, {}, {}, {}};
  struct Plan {
    const char* op;
    bool two_way;
  };
  constexpr Plan kPlans[] = {{"get", false}, {"read", true}, {"get", true}, {"store", true}};
  constexpr Way kWays[] = {kAmvia, kAmviaShm, kVia, kViaUnreliable, kNow};
  const auto time = [quick](const Way& way, const Plan& plan, std::uint64_t bytes) {
    return figure_at(fmt::format("{} of {} bytes over {}{}", plan.op, bytes, way.label,
                                 plan.two_way ? ", both ways" : ""),
                     bulk(way, plan.op, plan.two_way, quick), "us", bytes);
  };
  for (const Plan& plan : kPlans) {
    const std::string title =
        fmt::format("bulk {}, {}", plan.op, plan.two_way ? "two-way" : "one-way");
    PanelPlan panel{fmt::format("figure6-4-{}-{}", plan.op, plan.two_way ? "two" : "one"),
                    title,
                    {"block", "bytes", true},
                    {"time", "us", false},
                    {}};
    for (const Way& way : kWays) {
      panel.series.push_back({way.label, bulk(way, plan.op, plan.two_way, quick), "us"});
      for (const std::uint64_t bytes : {kLeast, kMost}) {
        add_cell(study, fmt::format("{}, {} bytes", title, bytes), way.label, "us",
                 time(way, plan, bytes));
      }
    }
    study.panels.push_back(std::move(panel));
  }
  std::vector<Order> twice;
  std::vector<Order> less;
  for (const Way& way : kSingle) {
    const auto both = [&](std::uint64_t bytes) {
      return ratio_of(fmt::format("{}, {} bytes, both ways of one way", way.label, bytes),
                      time(way, kPlans[2], bytes), time(way, kPlans[0], bytes));
    };
    twice.push_back({constant("1.7", 1.7), both(kLeast), 1});
    twice.push_back({both(kLeast), constant("2.3", 2.3), 1});
    less.push_back({both(kMost), both(kLeast), 0.95});
  }
  const auto slope = [&](const Plan& plan) {
    return ratio_of(fmt::format("{}{}: {} of {} bytes", plan.op, plan.two_way ? ", both ways" : "",
                                kMost, kLeast),
                    time(kAmviaShm, plan, kMost), time(kAmviaShm, plan, kLeast));
  };
  study.statements = {
      says("Gets of 4 bytes are twice as slow both ways", "6.2", twice),
      says("For 4 Kbyte the difference between both ways and one way is smaller", "6.2", less),
      says("Over shared memory the slope is steeper both ways (true sharing)", "6.2",
           {{slope(kPlans[0]), slope(kPlans[2]), 1 / 1.1}})};
  return study;
}

// --- Figure 6-5.

struct Application {
  const char* name;
  const char* program;
  Words arguments;
  Words quick;
  double expected_s;   // of a run on one processor of ours
  bool grows = false;  // with the processors
};

const std::vector<Application>& applications() {
  static const std::vector<Application> kApplications = {
      {"fft3d", "fft3d_splitc", {"--paper", "--no-verify"}, {"--n", "16", "--steps", "1"}, 8},
      {"cg", "cg", {}, {"--grid", "24"}, 4},
      {"cholesky", "cholesky", {"--paper"}, {"--size", "192"}, 6},
      {"em3d", "em3d", {"--variant", "store"}, {"--variant", "store", "--nodes", "100"}, 4, true},
      {"raytrace", "raytrace", {"--no-verify"}, {"--width", "48", "--height", "48"}, 3}};
  return kApplications;
}

class Applications {
 public:
  explicit Applications(bool quick) : quick_(quick) {}

  std::vector<std::uint32_t> counts() const {
    return quick_ ? std::vector<std::uint32_t>{1, 4} : std::vector<std::uint32_t>{1, 2, 4, 8, 16};
  }
  std::uint32_t most() const { return counts().back(); }

  Quantity time(const Application& app, const Way& way, std::uint32_t ranks) const {
    Measurement made = way.run(app.program, quick_ ? app.quick : app.arguments, ranks);
    made.expected_s = quick_ ? 0.5 : app.expected_s;
    return figure_of(fmt::format("{}, {}, {} processors", app.name, way.label, ranks), made,
                     "seconds");
  }
  // For as much work, or as many times as much where the problem grows.
  Quantity speed_up(const Application& app, const Way& way, std::uint32_t ranks) const {
    Quantity ratio = ratio_of(fmt::format("{}, {}, {} processors", app.name, way.label, ranks),
                              time(app, way, 1), time(app, way, ranks));
    if (!app.grows) return ratio;
    ratio.value = [plain = ratio.value, ranks](std::span<const Measured* const> measured) {
      const std::optional<double> value = plain(measured);
      return value ? std::optional(*value * ranks) : std::nullopt;
    };
    return ratio;
  }

  Study study() const {
    Study made{"figure6-5", "Split-C's applications, 1 to 16 processors", false, {}, {}, {}};
    for (const Application& app : applications()) {
      for (const Way& way : {kAmvia, kAmviaShm, kVia, kViaUnreliable, kNow}) {
        for (const std::uint32_t ranks : counts()) {
          if (way.pairs && !measured_in_pairs(app, ranks)) continue;
          const std::string row = fmt::format("{}, {}", app.name, ranks);
          add_cell(made, row, fmt::format("{} time", way.label), "s", time(app, way, ranks));
          add_cell(made, row, fmt::format("{} speed-up", way.label), "", speed_up(app, way, ranks));
        }
      }
    }
    made.statements = {stores(),    best_and_worst(), one_card(), one_node(),
                       now_stops(), now_cholesky(),   overall()};
    return made;
  }

 private:
  static const Application& app(std::string_view name) {
    return *std::find_if(applications().begin(), applications().end(),
                         [name](const Application& each) { return each.name == name; });
  }
  // What the paper has of it: 3D FFT, and raytrace and cholesky on one node.
  static bool measured_in_pairs(const Application& app, std::uint32_t ranks) {
    const std::string_view name = app.name;
    return name == "fft3d" || (ranks <= 2 && (name == "raytrace" || name == "cholesky"));
  }

  StatementPlan stores() const {
    std::vector<Order> orders;
    for (const char* const name : {"cg", "em3d"}) {
      for (const Way& way : {kVia, kViaUnreliable}) {
        for (const std::uint32_t ranks : counts()) {
          if (ranks == 1) continue;
          orders.push_back({time(app(name), way, ranks), time(app(name), kAmvia, ranks), 1});
        }
      }
    }
    return says("cg and em3d, which store, are faster over VIA than over AMVIA", "6.3", orders);
  }
  StatementPlan best_and_worst() const {
    std::vector<Order> orders;
    for (const Way& way : kSingle) {
      for (const Application& other : applications()) {
        const std::string_view name = other.name;
        if (name == "raytrace") continue;
        orders.push_back({speed_up(other, way, most()), speed_up(app("raytrace"), way, most()), 1});
        if (name == "cg" || name == "em3d") continue;
        for (const char* const worst : {"cg", "em3d"}) {
          orders.push_back({speed_up(app(worst), way, most()), speed_up(other, way, most()), 1});
        }
      }
    }
    return says("The ray tracer scales best, cg and em3d worst", "6.3", orders);
  }
  StatementPlan one_card() const {
    std::vector<Order> orders;
    for (const std::uint32_t ranks : counts()) {
      if (ranks < 4) continue;  // two are one node
      orders.push_back(
          {time(app("fft3d"), kAmvia, ranks), time(app("fft3d"), kAmviaShm, ranks), 1});
    }
    return says("3D FFT is slower where two processors share a network interface", "6.3", orders);
  }
  StatementPlan one_node() const {
    const Quantity one = time(app("cholesky"), kAmviaShm, 1);
    const Quantity two = time(app("cholesky"), kAmviaShm, 2);
    return says("cholesky over shared memory scales linearly with two processors (1.9 at least)",
                "6.3", {{two, one, 1 / 1.9}});
  }
  StatementPlan now_stops() const {
    return says(
        "3D FFT does not scale past 8 processors on the NOW (predicted)", "6.3",
        {{speed_up(app("fft3d"), kNow, most()), speed_up(app("fft3d"), kNow, most() / 2), 1.1}});
  }
  StatementPlan now_cholesky() const {
    std::vector<Order> orders;
    for (const Application& each : applications()) {
      for (const Way& way : kSingle) {
        const Quantity here = time(each, way, most());
        const Quantity there = time(each, kNow, most());
        const bool now_wins = std::string_view(each.name) == "cholesky";
        orders.push_back({now_wins ? there : here, now_wins ? here : there, 1});
      }
    }
    return says("cholesky alone is faster on many processors of the NOW (predicted)", "6.3",
                orders);
  }
  StatementPlan overall() const {
    std::vector<Order> orders;
    for (const Application& each : applications()) {
      for (const Way& way : kSingle) {
        orders.push_back({time(each, kViaUnreliable, most()), time(each, way, most()), 1.02});
      }
    }
    return says("Unreliable VIA is fastest as a whole, slightly ahead of reliable VIA (within 2 %)",
                "6.3", orders);
  }

  bool quick_;
};

}  // namespace

Study splitc_figure6_4(bool quick) { return figure6_4(quick); }
Study splitc_figure6_5(bool quick) { return Applications(quick).study(); }

}  // namespace fairlead::tools
