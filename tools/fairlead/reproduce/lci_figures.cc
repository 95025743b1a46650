// Figures 5 to 9 of the LCI paper.
#include <fmt/format.h>

#include "tools/fairlead/reproduce/lci_studies.h"

namespace fairlead::tools {

namespace {

constexpr const char* kPPro = "myrinet-ppro";
constexpr const char* kP3 = "myrinet-p3";
constexpr std::uint64_t kKib = 1024;
constexpr std::uint64_t kMib = kKib * kKib;
// Far beyond the second-level caches.
constexpr std::uint64_t kLarge = kMib;

using Sizes = std::vector<std::uint64_t>;

// Powers of two, and one and a half times each: between packet sizes.
Sizes doubling(std::uint64_t first, std::uint64_t last) {
  Sizes sizes;
  for (std::uint64_t size = first; size <= last; size *= 2) {
    sizes.push_back(size);
    if (size * 3 / 2 < last) sizes.push_back(size * 3 / 2);
  }
  return sizes;
}

Sizes stepping(std::uint64_t first, std::uint64_t last, std::uint64_t step) {
  Sizes sizes;
  for (std::uint64_t size = first; size <= last; size += step) sizes.push_back(size);
  return sizes;
}

struct Grids {
  Sizes throughput;
  Sizes small;
  Sizes multicast;
};

Grids grids(bool quick) {
  if (quick) {
    return {
        {2 * kKib, 64 * kKib, kLarge}, {16, 256, 512, 1024, 1536, 2048}, {16, 2 * kKib, 16 * kKib}};
  }
  Grids made{doubling(64, kLarge), stepping(64, 2048, 64), doubling(16, 256 * kKib)};
  made.small.insert(made.small.begin(), 16);
  for (const std::uint64_t size : stepping(2304, 4096, 256)) made.small.push_back(size);
  return made;
}

std::vector<std::string> with_sizes(const Sizes& sizes, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"--sizes", fmt::format("{}", fmt::join(sizes, ","))});
  return more;
}

const Axis kSizeAxis = {"message size", "bytes", true};
const Axis kSmallSizeAxis = {"message size", "bytes", false};
const Axis kRateAxis = {"throughput", "MB/s", false};
const Axis kTimeAxis = {"latency", "us", false};

Study figure(const char* id, const char* title) { return {id, title, true, {}, {}, {}}; }

std::string panel_id(const char* figure_id, const PaperPlatform& platform, const char* what = "") {
  const std::string label = platform.label == std::string("PPro") ? "ppro" : "p3";
  return fmt::format("{}-{}{}", figure_id, label, what);
}

class Throughputs {
 public:
  explicit Throughputs(const Sizes& sizes) : sizes_(sizes) {}

  Measurement of(const std::string& platform, const std::string& lci, bool copy = false) const {
    std::vector<std::string> more;
    if (lci == "rcpy") more.emplace_back("--put");
    if (copy) more.emplace_back("--copy");
    return {"throughput", platform, lci, with_sizes(sizes_, more)};
  }
  Quantity at(const std::string& platform, const std::string& lci, std::uint64_t size,
              bool copy = false) const {
    return figure_at(paper_name(lci) + (copy ? " with copy" : ""), of(platform, lci, copy), "MBps",
                     size);
  }
  SeriesPlan series(const std::string& platform, const std::string& lci, bool copy = false) const {
    return {paper_name(lci) + (copy ? " + copy" : ""), of(platform, lci, copy), "MBps",
            lci == "gm"};
  }

 private:
  Sizes sizes_;
};

Study figure5(const Throughputs& rate) {
  Study study = figure("figure5", "Throughput of the reliability implementations");
  for (const PaperPlatform& platform : kLciPlatforms) {
    PanelPlan panel{panel_id("figure5", platform), platform.label, kSizeAxis, kRateAxis, {}};
    for (const char* lci : {"sdma", "nirx", "hrx", "gm"}) {
      panel.series.push_back(rate.series(platform.name, lci));
      study.cells.push_back({"Peak throughput",
                             fmt::format("{} {}", platform.label, paper_name(lci)),
                             "MB/s",
                             peak_of("", rate.of(platform.name, lci), "MBps"),
                             {}});
    }
    study.panels.push_back(panel);
  }
  for (const char* platform : {kPPro, kP3}) {
    const char* label = platform == kPPro ? "PPro" : "P3";
    study.statements.push_back(
        says(fmt::format("{}: with 2 KiB packets I-nirx does not reduce the throughput of I-sdma "
                         "(within 5 %)",
                         label),
             "5.1.3",
             {{rate.at(platform, "sdma", 64 * kKib), rate.at(platform, "nirx", 64 * kKib), 1.05},
              {rate.at(platform, "sdma", kLarge), rate.at(platform, "nirx", kLarge), 1.05}}));
    study.statements.push_back(
        says(fmt::format("{}: I-hrx has a lower throughput than I-sdma", label), "5.1.3",
             {{rate.at(platform, "hrx", 64 * kKib), rate.at(platform, "sdma", 64 * kKib), 1},
              {rate.at(platform, "hrx", kLarge), rate.at(platform, "sdma", kLarge), 1}}));
    study.statements.push_back(
        says(fmt::format("{}: GM's throughput is only slightly lower than I-nirx's (within 20 %)",
                         label),
             "5.1.3",
             {{rate.at(platform, "gm", kLarge), rate.at(platform, "nirx", kLarge), 1},
              {rate.at(platform, "nirx", kLarge), rate.at(platform, "gm", kLarge), 1.25}}));
  }
  return study;
}

Study figure6(const Throughputs& rate) {
  Study study = figure("figure6", "Throughput of PIO- and DMA-based message transfers");
  for (const PaperPlatform& platform : kLciPlatforms) {
    const std::string id = panel_id("figure6", platform);
    PanelPlan panel{id, platform.label, kSizeAxis, kRateAxis, {}};
    for (const char* lci : {"sdma", "pio", "rcpy"}) {
      panel.series.push_back(rate.series(platform.name, lci));
      if (lci != std::string("rcpy")) panel.series.push_back(rate.series(platform.name, lci, true));
      study.cells.push_back({"Peak throughput",
                             fmt::format("{} {}", platform.label, paper_name(lci)),
                             "MB/s",
                             peak_of("", rate.of(platform.name, lci), "MBps"),
                             {MarkPlan::Kind::level, id, 0}});
    }
    study.panels.push_back(panel);
  }
  const auto difference = [&](const char* platform, const char* label) {
    return ratio_of(label, rate.at(platform, "sdma", kLarge), rate.at(platform, "pio", kLarge));
  };
  study.statements = {
      says("PPro: the copy at the receiver noticeably decreases throughput", "5.2.4",
           {{rate.at(kPPro, "sdma", kLarge, true), rate.at(kPPro, "sdma", kLarge), 0.9},
            {rate.at(kPPro, "pio", kLarge, true), rate.at(kPPro, "pio", kLarge), 0.9},
            {rate.at(kPPro, "sdma", kLarge, true), rate.at(kPPro, "rcpy", kLarge), 0.9}}),
      says("P3: there is memory bandwidth to spare for the copy (within 2 %)", "5.2.4",
           {{rate.at(kP3, "sdma", kLarge), rate.at(kP3, "sdma", kLarge, true), 1.02},
            {rate.at(kP3, "pio", kLarge), rate.at(kP3, "pio", kLarge, true), 1.02}}),
      says("The difference between DMA and PIO is much more pronounced on the P3 platform", "5.2.4",
           {{difference(kPPro, "PPro I-sdma / I-pio"), difference(kP3, "P3 I-sdma / I-pio"), 1}})};
  return study;
}

Study figure7(const Sizes& sizes) {
  Study study = figure("figure7", "Host send overhead and end-to-end latency, PIO and DMA");
  const auto overhead = [&](const char* platform, const std::string& lci) {
    return Measurement{"overhead", platform, lci,
                       with_sizes(sizes, lci == "rcpy" ? std::vector<std::string>{"--put"}
                                                       : std::vector<std::string>{})};
  };
  // The receiver of packets copies them to where the data belongs; a remote copy put it there.
  const auto latency = [&](const char* platform, const std::string& lci) {
    return Measurement{"latency", platform, lci,
                       with_sizes(sizes, {lci == "rcpy" ? "--put" : "--copy"})};
  };
  const Axis time = {"send overhead", "us", false};
  for (const PaperPlatform& platform : kLciPlatforms) {
    const std::string id = panel_id("figure7", platform, "-latency");
    PanelPlan left{panel_id("figure7", platform, "-overhead"),
                   fmt::format("{}: host send overhead", platform.label),
                   kSmallSizeAxis,
                   time,
                   {}};
    PanelPlan right{
        id, fmt::format("{}: end-to-end latency", platform.label), kSmallSizeAxis, kTimeAxis, {}};
    for (const char* lci : {"sdma", "pio", "rcpy"}) {
      left.series.push_back({paper_name(lci), overhead(platform.name, lci), "os_us", false});
      right.series.push_back({paper_name(lci), latency(platform.name, lci), "one_way_us", false});
    }
    study.panels.push_back(left);
    study.panels.push_back(right);
    const MarkPlan mark{MarkPlan::Kind::place, id, 0};
    study.cells.push_back(
        {"Cross-over of I-pio and I-sdma latency", platform.label, "bytes",
         crossover_of(latency(platform.name, "pio"), latency(platform.name, "sdma"), "one_way_us"),
         mark});
    study.cells.push_back(
        {"Cross-over of I-rcpy and I-sdma latency", platform.label, "bytes",
         crossover_of(latency(platform.name, "sdma"), latency(platform.name, "rcpy"), "one_way_us"),
         mark});
  }
  const auto send = [&](const char* platform, const std::string& lci, std::uint64_t size) {
    return figure_at(paper_name(lci), overhead(platform, lci), "os_us", size);
  };
  const auto arrive = [&](const char* platform, const std::string& lci, std::uint64_t size) {
    return figure_at(paper_name(lci), latency(platform, lci), "one_way_us", size);
  };
  study.statements = {
      says("I-sdma and I-rcpy reduce the host's send overhead for all but the smallest messages",
           "5.2.4",
           {{send(kPPro, "sdma", 512), send(kPPro, "pio", 512), 1},
            {send(kPPro, "rcpy", 512), send(kPPro, "pio", 512), 1},
            {send(kPPro, "pio", 16), send(kPPro, "sdma", 16), 1},
            {send(kP3, "sdma", 512), send(kP3, "pio", 512), 1},
            {send(kP3, "rcpy", 512), send(kP3, "pio", 512), 1},
            {send(kP3, "pio", 16), send(kP3, "sdma", 16), 1}}),
      says("DMA causes a distinct increase of the latency of small messages", "5.2.4",
           {{arrive(kPPro, "pio", 16), arrive(kPPro, "sdma", 16), 0.9},
            {arrive(kP3, "pio", 16), arrive(kP3, "sdma", 16), 0.9}}),
      says("PPro: I-sdma's copy makes it more expensive than I-rcpy (from about 350 bytes on)",
           "5.2.4",
           {{arrive(kPPro, "rcpy", 1024), arrive(kPPro, "sdma", 1024), 1},
            {arrive(kPPro, "rcpy", 2048), arrive(kPPro, "sdma", 2048), 1}}),
      says("P3: I-sdma and I-rcpy have a similar end-to-end latency (within 15 %)", "5.2.4",
           {{arrive(kP3, "sdma", 1024), arrive(kP3, "rcpy", 1024), 1.15},
            {arrive(kP3, "rcpy", 1024), arrive(kP3, "sdma", 1024), 1.15}})};
  return study;
}

Study figure8(const Throughputs& rate) {
  Study study = figure("figure8", "Throughput by MTU, with a copy at the receiver");
  const std::vector<std::string> ends = {"-1k", "", "-4k"};
  for (const PaperPlatform& platform : kLciPlatforms) {
    const std::string id = panel_id("figure8", platform);
    PanelPlan panel{id, platform.label, kSizeAxis, kRateAxis, {}};
    for (const char* transfer : {"sdma", "pio"}) {
      for (const std::string& end : ends) {
        const std::string lci = transfer + end;
        panel.series.push_back(rate.series(platform.name, lci, true));
        panel.series.back().name = paper_name(lci);
        study.cells.push_back({"Throughput of 1 MiB, with receiver copy",
                               fmt::format("{} {}", platform.label, paper_name(lci)),
                               "MB/s",
                               rate.at(platform.name, lci, kLarge, true),
                               {MarkPlan::Kind::level, id, 0}});
      }
    }
    study.panels.push_back(panel);
  }
  const auto grows = [&](const char* platform, const char* transfer) {
    const std::string name = transfer;
    return std::vector<Order>{{rate.at(platform, name + "-1k", 64 * kKib, true),
                               rate.at(platform, name, 64 * kKib, true), 1},
                              {rate.at(platform, name, 64 * kKib, true),
                               rate.at(platform, name + "-4k", 64 * kKib, true), 1}};
  };
  const auto lost = [&](const char* platform, const char* label) {
    return ratio_of(label, rate.at(platform, "sdma", kLarge),
                    rate.at(platform, "sdma", kLarge, true));
  };
  study.statements = {
      says("PPro, DMA: a larger MTU yields better throughput", "5.3", grows(kPPro, "sdma")),
      says("PPro, PIO: a larger MTU yields better throughput", "5.3", grows(kPPro, "pio")),
      says("P3, DMA: a larger MTU yields better throughput", "5.3", grows(kP3, "sdma")),
      says("P3, PIO: a larger MTU yields better throughput", "5.3", grows(kP3, "pio")),
      says("A copy at the receiver costs much less throughput on the P3 platform", "5.3",
           {{lost(kP3, "P3 without / with copy"), lost(kPPro, "PPro without / with copy"), 1}})};
  return study;
}

Study figure9(const Sizes& sizes) {
  Study study = figure("figure9", "Broadcast latency and throughput on 64 processors");
  const auto multicast = [&](const char* platform, const std::string& lci) {
    return Measurement{"multicast", platform, lci, with_sizes(sizes)};
  };
  const std::pair<const char*, const char*> trees[] = {{"binary", ""}, {"binomial", "-binomial"}};
  for (const PaperPlatform& platform : kLciPlatforms) {
    for (const auto& [tree, end] : trees) {
      const std::string title = fmt::format("{}, {} tree: ", platform.label, tree);
      const std::string id = panel_id("figure9", platform);
      PanelPlan latency{
          fmt::format("{}-{}-latency", id, tree), title + "latency", kSizeAxis, kTimeAxis, {}};
      PanelPlan rate{fmt::format("{}-{}-throughput", id, tree),
                     title + "throughput",
                     kSizeAxis,
                     kRateAxis,
                     {}};
      for (const char* base : {"pio", "sdma", "sdma-hmc"}) {
        const Measurement one = multicast(platform.name, std::string(base) + end);
        const std::string name = paper_name(base);
        latency.series.push_back({name, one, "latency_us", false});
        rate.series.push_back({name, one, "throughput_MBps", false});
        const std::string column = fmt::format("{} {}, {}", platform.label, name, tree);
        study.cells.push_back({"Latency of 16 bytes",
                               column,
                               "us",
                               figure_at("", one, "latency_us", 16),
                               {MarkPlan::Kind::point, latency.id, 16}});
        study.cells.push_back({"Peak throughput",
                               column,
                               "MB/s",
                               peak_of("", one, "throughput_MBps"),
                               {MarkPlan::Kind::level, rate.id, 0}});
      }
      study.panels.push_back(latency);
      study.panels.push_back(rate);
    }
  }
  const auto late = [&](const char* platform, const std::string& lci) {
    return figure_at(paper_name(lci), multicast(platform, lci), "latency_us", 16);
  };
  const auto fast = [&](const char* platform, const std::string& lci) {
    return peak_of(paper_name(lci), multicast(platform, lci), "throughput_MBps");
  };
  std::vector<Order> lower;
  std::vector<Order> drops;
  for (const char* platform : {kPPro, kP3}) {
    for (const std::string lci : {"pio", "sdma", "sdma-hmc"}) {
      lower.push_back({late(platform, lci + "-binomial"), late(platform, lci), 1});
      drops.push_back({fast(platform, lci + "-binomial"), fast(platform, lci), 1});
    }
  }
  study.statements = {
      says("Latencies with binomial trees are lower than with binary trees", "5.4", lower),
      says("The root's fan-out of 6 makes throughput drop with binomial trees", "5.4", drops),
      says("PPro: I-sdma has a lower multicast throughput than I-pio", "5.4",
           {{fast(kPPro, "sdma"), fast(kPPro, "pio"), 1}}),
      says("P3: multicast throughput is higher with DMA than with PIO", "5.5",
           {{fast(kP3, "pio"), fast(kP3, "sdma"), 1}}),
      says("Forwarding by the host takes longer and gives less throughput", "5.4",
           {{late(kPPro, "sdma"), late(kPPro, "sdma-hmc"), 1},
            {late(kP3, "sdma"), late(kP3, "sdma-hmc"), 1},
            {fast(kPPro, "sdma-hmc"), fast(kPPro, "sdma"), 1},
            {fast(kP3, "sdma-hmc"), fast(kP3, "sdma"), 1}})};
  return study;
}

}  // namespace

std::vector<Study> lci_paper_figures(bool quick) {
  const Grids sizes = grids(quick);
  const Throughputs rate(sizes.throughput);
  return {figure5(rate), figure6(rate), figure7(sizes.small), figure8(rate),
          figure9(sizes.multicast)};
}

}  // namespace fairlead::tools
