#include "tools/fairlead/reproduce/dsm_studies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

namespace fairlead::tools {

namespace {

using Words = std::vector<std::string>;
using Sizes = std::vector<std::uint64_t>;

constexpr const PaperPlatform& kPciX = kDsmPlatforms[0];
constexpr const PaperPlatform& kPciExpress = kDsmPlatforms[1];

struct ProtocolPlan {
  const char* name;   // of --dsm-protocol
  const char* label;  // the paper's
};
constexpr ProtocolPlan kAsync = {"async", "ASYNC"};
constexpr ProtocolPlan kNewgen = {"newgen", "NEWGENDSM"};

std::string source(const char* section) {
  return fmt::format("NEWGENDSM paper, section {}", section);
}

// --- Figure 2.

constexpr std::uint64_t kShort = 4;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLong = 65536;

Measurement rdma(const PaperPlatform& platform, const Sizes& sizes) {
  return {"rdma", platform.name, "direct", {"--sizes", fmt::format("{}", fmt::join(sizes, ","))}};
}

struct Figure2Row {
  const char* name;
  const char* key;
  const char* unit;
  std::uint64_t bytes;
};
constexpr Figure2Row kFigure2[] = {{"write of 4 bytes", "write_us", "us", kShort},
                                   {"read of 4 bytes", "read_us", "us", kShort},
                                   {"write of 4 KiB", "write_us", "us", kPage},
                                   {"read of 4 KiB", "read_us", "us", kPage},
                                   {"writes of 64 KiB, one way", "write_MBps", "MB/s", kLong},
                                   {"writes of 64 KiB, both ways", "both_MBps", "MB/s", kLong},
                                   {"reads of 64 KiB", "read_MBps", "MB/s", kLong}};

Study figure2(bool quick) {
  Study study{"figure2", "RDMA write and read on PCI-X and PCI-Express", true, {}, {}, {}};
  Sizes to_16k = {kShort, 1024, kPage, 16384};
  if (!quick) to_16k = {4, 16, 64, 256, 1024, 4096, 16384};
  Sizes to_64k = to_16k;
  to_64k.push_back(kLong);
  for (const Figure2Row& row : kFigure2) {
    for (const PaperPlatform& platform : kDsmPlatforms) {
      add_cell(study, row.name, platform.label, row.unit,
               figure_at(platform.label, rdma(platform, to_64k), row.key, row.bytes));
    }
  }
  struct PanelRow {
    const char* id;
    const char* title;
    const char* key;
    bool time;
  };
  constexpr PanelRow kPanels[] = {
      {"figure2-write-latency", "RDMA write, latency", "write_us", true},
      {"figure2-read-latency", "RDMA read, latency", "read_us", true},
      {"figure2-write-bandwidth", "RDMA write, bandwidth", "write_MBps", false},
      {"figure2-read-bandwidth", "RDMA read, bandwidth", "read_MBps", false}};
  for (const PanelRow& row : kPanels) {
    const Axis y = row.time ? Axis{"latency", "us", false} : Axis{"bandwidth", "MB/s", false};
    PanelPlan panel{row.id, row.title, {"message size", "bytes", true}, y, {}};
    for (const PaperPlatform& platform : kDsmPlatforms) {
      panel.series.push_back({platform.label, rdma(platform, row.time ? to_16k : to_64k), row.key});
    }
    study.panels.push_back(std::move(panel));
  }
  std::vector<Order> sooner;
  std::vector<Order> more;
  for (const std::uint64_t bytes : to_16k) {
    for (const char* key : {"write_us", "read_us"}) {
      sooner.push_back({figure_at(kPciExpress.label, rdma(kPciExpress, to_64k), key, bytes),
                        figure_at(kPciX.label, rdma(kPciX, to_64k), key, bytes), 1});
    }
  }
  for (const char* key : {"write_MBps", "read_MBps"}) {
    more.push_back({figure_at(kPciX.label, rdma(kPciX, to_64k), key, kLong),
                    figure_at(kPciExpress.label, rdma(kPciExpress, to_64k), key, kLong), 1});
  }
  study.statements = {
      {"PCI-Express improves latency, of writes and of reads", source("3.3"), sooner},
      {"PCI-X, 1 Gbyte/s both ways together, limits InfiniBand 4X", source("1"), more}};
  return study;
}

// --- Table 2.

constexpr std::uint32_t kPortsOfSwitch = 8;

// As many as the paper has; fewer where ranks, processes that take turns, are many.
const char* pages_of(std::uint32_t nodes, bool quick) {
  if (quick) return "16";
  return nodes > kPortsOfSwitch ? "256" : "1024";
}

Measurement page_fetch(const PaperPlatform& platform, const ProtocolPlan& protocol,
                       std::uint32_t nodes, bool quick) {
  Measurement made{"pages",  platform.name,
                   "direct", {"--only", "page", "--pages", pages_of(nodes, quick)},
                   nodes,    {"--dsm-protocol", protocol.name, "--dsm-faithful"}};
  made.expected_s = quick ? 0.5 : 0.5 * nodes;
  return made;
}

Study table2(bool quick) {
  Study study{"table2", "Time of a page fetch", false, {}, {}, {}};
  const auto fetch = [quick](const PaperPlatform& platform, const ProtocolPlan& protocol,
                             std::uint32_t nodes) {
    return figure_of(fmt::format("{}, {}, {} nodes", protocol.label, platform.label, nodes),
                     page_fetch(platform, protocol, nodes, quick), "page_us");
  };
  // Eight, which the paper did not have, are what its switch has ports for; more are predictions
  // for a larger one.
  std::vector<std::uint32_t> all = {2, 4};
  if (!quick) all.insert(all.end(), {kPortsOfSwitch, 16, 32, 64});
  for (const std::uint32_t nodes : all) {
    for (const ProtocolPlan& protocol : {kAsync, kNewgen}) {
      for (const PaperPlatform& platform : kDsmPlatforms) {
        add_cell(study, fmt::format("{} nodes", nodes),
                 fmt::format("{}, {}", protocol.label, platform.label), "us",
                 fetch(platform, protocol, nodes));
      }
    }
  }
  std::vector<Order> one_sided;
  std::vector<Order> serial;
  std::vector<Order> growing;
  for (const std::uint32_t nodes : {2u, 4u}) {
    for (const PaperPlatform& platform : kDsmPlatforms) {
      one_sided.push_back({fetch(platform, kNewgen, nodes), fetch(platform, kAsync, nodes), 1});
    }
    for (const ProtocolPlan& protocol : {kAsync, kNewgen}) {
      serial.push_back({fetch(kPciExpress, protocol, nodes), fetch(kPciX, protocol, nodes), 1});
    }
  }
  for (const ProtocolPlan& protocol : {kAsync, kNewgen}) {
    const auto part = [&](std::uint32_t nodes) {
      return ratio_of(fmt::format("{}, {} nodes: PCI-Express of PCI-X", protocol.label, nodes),
                      fetch(kPciExpress, protocol, nodes), fetch(kPciX, protocol, nodes));
    };
    growing.push_back({part(4), part(2), 1});
  }
  study.statements = {{"NEWGENDSM is not slower than ASYNC, at 2 and 4 nodes, on either bus",
                       source("4.2"), one_sided},
                      {"PCI-Express performs better than PCI-X for both", source("4.2"), serial},
                      {"It improves 4 nodes more than 2", source("4.2"), growing}};
  return study;
}

// --- Applications.

// Small sizes, as the ranks are processes that take turns; the paper had them larger.
struct Application {
  const char* name;
  Words arguments;
  // Half and double the size, as ratios depend on it.
  Words half;
  Words twice;
  double expected_s;  // a node
};

Measurement application(const Application& app, const Words& arguments,
                        const PaperPlatform& platform, const ProtocolPlan& protocol,
                        std::uint32_t nodes) {
  Measurement made{app.name,  platform.name, "direct",
                   arguments, nodes,         {"--dsm-protocol", protocol.name, "--dsm-faithful"}};
  made.expected_s = app.expected_s * nodes;
  return made;
}

Study apps() {
  static const std::vector<Application> kApplications = {
      {"fft3d", {"--n", "32"}, {"--n", "16"}, {"--n", "64"}, 10},
      {"is", {"--class", "S"}, {"--keys", "32768"}, {"--keys", "131072"}, 3},
      {"lu", {"--n", "128"}, {"--n", "64"}, {"--n", "256"}, 2},
      {"barnes_dsm",
       {"--bodies", "512", "--steps", "2"},
       {"--bodies", "256", "--steps", "2"},
       {"--bodies", "1024", "--steps", "2"},
       1}};
  Study study{"apps", "Times of applications", false, {}, {}, {}};
  std::vector<Order> faster;
  for (const Application& app : kApplications) {
    const auto time_of = [&](const Words& arguments, const PaperPlatform& platform,
                             const ProtocolPlan& protocol, std::uint32_t nodes) {
      return figure_of(fmt::format("{} {}, {}, {}, {} nodes", app.name, fmt::join(arguments, " "),
                                   protocol.label, platform.label, nodes),
                       application(app, arguments, platform, protocol, nodes), "seconds");
    };
    const auto time = [&](const PaperPlatform& platform, const ProtocolPlan& protocol,
                          std::uint32_t nodes) {
      return time_of(app.arguments, platform, protocol, nodes);
    };
    const auto add_row = [&](const std::string& row, const Words& arguments, std::uint32_t nodes) {
      for (const ProtocolPlan& protocol : {kAsync, kNewgen}) {
        for (const PaperPlatform& platform : kDsmPlatforms) {
          add_cell(study, row, fmt::format("{}, {}", protocol.label, platform.label), "s",
                   time_of(arguments, platform, protocol, nodes));
        }
      }
    };
    for (const std::uint32_t nodes : {1u, 2u, 4u, 8u, 16u}) {
      add_row(fmt::format("{}, {} nodes", app.name, nodes), app.arguments, nodes);
    }
    add_row(fmt::format("{} {}, 4 nodes", app.name, fmt::join(app.half, " ")), app.half, 4);
    add_row(fmt::format("{} {}, 4 nodes", app.name, fmt::join(app.twice, " ")), app.twice, 4);
    for (const ProtocolPlan& protocol : {kAsync, kNewgen}) {
      faster.push_back({time(kPciExpress, protocol, 4), time(kPciX, protocol, 4), 1});
    }
  }
  study.statements = {
      {"Applications of 4 nodes are faster on PCI-Express", "NEWGENDSM paper, abstract", faster}};
  return study;
}

}  // namespace

std::vector<Study> dsm_paper_studies(bool quick) {
  std::vector<Study> studies = {figure2(quick), table2(quick)};
  // The ranks of an application are processes, which take turns: too slow for a look.
  if (!quick) studies.push_back(apps());
  return studies;
}

}  // namespace fairlead::tools
