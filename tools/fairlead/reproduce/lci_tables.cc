// Tables I, III and IV of the LCI paper.
#include <fmt/format.h>

#include "fairlead/hw/lanai/lanai_params.h"
#include "fairlead/hw/pci/pci_params.h"
#include "fairlead/hw/platform.h"
#include "fairlead/run/platform_files.h"
#include "tools/fairlead/reproduce/lci_studies.h"

namespace fairlead::tools {

namespace {

constexpr const char* kPPro = "myrinet-ppro";
constexpr const char* kP3 = "myrinet-p3";

// A remote-memory copy is what I-rcpy is about; its packets go like I-sdma's.
Measurement logp(const std::string& platform, const std::string& lci) {
  std::vector<std::string> arguments;
  if (lci == "rcpy") arguments.emplace_back("--put");
  return {"logp", platform, lci, arguments};
}

struct Parameter {
  const char* row;
  const char* key;
};
constexpr Parameter kLogP[] = {{"Send overhead (os)", "os_us"},
                               {"Recv overhead (or)", "or_us"},
                               {"Latency (L)", "l_us"},
                               {"Gap (g)", "g_us"},
                               {"End-to-end latency", "end_to_end_us"}};
constexpr Parameter kFetchAdd = {"F&A latency", "fetch_add_us"};

Quantity parameter(const char* key, const char* platform, const std::string& lci) {
  return figure_of(paper_name(lci), logp(platform, lci), key);
}

void add_logp_cells(Study& study, const std::vector<std::string>& implementations,
                    std::span<const Parameter> parameters) {
  for (const PaperPlatform& platform : kLciPlatforms) {
    for (const std::string& lci : implementations) {
      const std::string column = fmt::format("{} {}", platform.label, paper_name(lci));
      for (const Parameter& one : parameters) {
        // GM has no fetch-and-add.
        if (lci == "gm" && one.key == kFetchAdd.key) continue;
        study.cells.push_back({one.row, column, "us", parameter(one.key, platform.name, lci), {}});
      }
    }
  }
}

struct Fact {
  const char* row;
  const char* unit;
  double (*value)(const hw::Platform& platform);
};

constexpr double kMega = 1e6;
constexpr Fact kFacts[] = {
    {"Nodes", "nodes", [](const hw::Platform& p) { return double(p.network.nodes); }},
    {"Host clock", "MHz", [](const hw::Platform& p) { return double(p.host.clock.count) / kMega; }},
    {"L2 cache", "KiB", [](const hw::Platform& p) { return double(p.host.l2_bytes) / 1024; }},
    {"Peak DMA", "MB/s",
     [](const hw::Platform& p) { return double(p.bus.as<hw::PciParams>().peak.count) / kMega; }},
    {"Network bandwidth", "Gbit/s",
     [](const hw::Platform& p) { return double(p.network.link.count) * 8 / 1e9; }},
    {"NI clock", "MHz",
     [](const hw::Platform& p) { return double(p.ni.as<hw::LanaiParams>().clock.count) / kMega; }},
    {"NI receive buffers of 2 KiB", "buffers",
     [](const hw::Platform& p) { return double(p.ni.as<hw::LanaiParams>().receive_buffers); }},
    {"Polling watchdog", "us", [](const hw::Platform& p) { return to_us(p.host.watchdog); }},
};

// From the platform's file: nothing is measured.
std::optional<double> fact(const Fact& fact, const std::string& name) {
  const auto file = run::find_platform(name);
  if (!file.ok()) return std::nullopt;
  const auto platform = hw::load_platform(file.value());
  if (!platform.ok()) return std::nullopt;
  return fact.value(platform.value());
}

Study table1() {
  Study study{"table1", "Platform details: what the model is given", false, {}, {}, {}};
  for (const PaperPlatform& platform : kLciPlatforms) {
    for (const Fact& one : kFacts) {
      const std::string name = platform.name;
      study.cells.push_back({one.row,
                             platform.label,
                             one.unit,
                             {"", {}, [&one, name](auto) { return fact(one, name); }},
                             {}});
    }
  }
  return study;
}

Order less(const char* key, const char* platform, const char* low, const char* high,
           double slack = 1) {
  return {parameter(key, platform, low), parameter(key, platform, high), slack};
}

// How far the slowest of the three is above the fastest, for tables in words.
Quantity latency_ratio(const char* platform, const char* label) {
  return ratio_of(label, parameter("end_to_end_us", platform, "hrx"),
                  parameter("end_to_end_us", platform, "sdma"));
}

Study table3() {
  Study study{"table3", "LogP values and fetch-and-add latency, DMA-based message transfers",
              false,    {},
              {},       {}};
  std::vector<Parameter> parameters(std::begin(kLogP), std::end(kLogP));
  parameters.push_back(kFetchAdd);
  add_logp_cells(study, {"sdma", "nirx", "hrx", "gm"}, parameters);
  const std::string source = "LCI paper, section 5.1.3";
  study.statements = {
      {"I-sdma has the best end-to-end latency",
       source,
       {less("end_to_end_us", kPPro, "sdma", "nirx"), less("end_to_end_us", kPPro, "sdma", "hrx"),
        less("end_to_end_us", kP3, "sdma", "nirx"), less("end_to_end_us", kP3, "sdma", "hrx")}},
      {"I-nirx increases the end-to-end latency slightly less than I-hrx (PPro)",
       source,
       {less("end_to_end_us", kPPro, "nirx", "hrx")}},
      {"I-nirx has a larger gap and latency than I-sdma",
       source,
       {less("g_us", kPPro, "sdma", "nirx"), less("l_us", kPPro, "sdma", "nirx"),
        less("g_us", kP3, "sdma", "nirx"), less("l_us", kP3, "sdma", "nirx")}},
      {"I-hrx has larger send and receive overheads than I-sdma and I-nirx",
       source,
       {less("os_us", kPPro, "sdma", "hrx"), less("or_us", kPPro, "sdma", "hrx"),
        less("os_us", kPPro, "nirx", "hrx"), less("or_us", kPPro, "nirx", "hrx")}},
      {"I-hrx has the lower gap on the PPro platform",
       source,
       {less("g_us", kPPro, "hrx", "sdma"), less("g_us", kPPro, "hrx", "nirx")}},
      {"The end-to-end latencies of the three are much closer on the P3 platform",
       source,
       {{latency_ratio(kP3, "P3 I-hrx / I-sdma"), latency_ratio(kPPro, "PPro I-hrx / I-sdma"), 1}}},
      {"I-sdma has the fastest fetch-and-add, I-hrx the slowest",
       source,
       {less("fetch_add_us", kPPro, "sdma", "nirx"), less("fetch_add_us", kPPro, "nirx", "hrx"),
        less("fetch_add_us", kP3, "sdma", "nirx"), less("fetch_add_us", kP3, "nirx", "hrx")}},
      {"GM's L and g are noticeably higher than I-nirx's on both platforms",
       source,
       {less("l_us", kPPro, "nirx", "gm"), less("g_us", kPPro, "nirx", "gm"),
        less("l_us", kP3, "nirx", "gm"), less("g_us", kP3, "nirx", "gm")}}};
  return study;
}

Study table4() {
  Study study{"table4", "LogP values of the DMA-, PIO- and RCPY-based primitives", false, {}, {},
              {}};
  add_logp_cells(study, {"sdma", "pio", "rcpy"}, kLogP);
  const std::string source = "LCI paper, section 5.2.4";
  study.statements = {
      {"For 16-byte messages the programmed transfer costs no more than preparing a DMA",
       source,
       {less("os_us", kPPro, "pio", "sdma"), less("os_us", kPPro, "pio", "rcpy"),
        less("os_us", kP3, "pio", "sdma"), less("os_us", kP3, "pio", "rcpy")}},
      {"I-rcpy has the smaller receive overhead (PPro): there is no upcall",
       source,
       {less("or_us", kPPro, "rcpy", "sdma"), less("or_us", kPPro, "rcpy", "pio")}},
      {"For small messages I-sdma and I-rcpy suffer from the DMA at the sender: larger L and g",
       source,
       {less("l_us", kPPro, "pio", "sdma"), less("g_us", kPPro, "pio", "sdma"),
        less("l_us", kPPro, "pio", "rcpy"), less("g_us", kPPro, "pio", "rcpy"),
        less("l_us", kP3, "pio", "sdma"), less("g_us", kP3, "pio", "sdma"),
        less("l_us", kP3, "pio", "rcpy"), less("g_us", kP3, "pio", "rcpy")}}};
  return study;
}

}  // namespace

std::vector<Study> lci_paper_tables() { return {table1(), table3(), table4()}; }

StatementPlan says(const std::string& text, const char* section, std::vector<Order> orders) {
  return {text, fmt::format("LCI paper, section {}", section), std::move(orders)};
}

std::string paper_name(const std::string& lci) { return lci == "gm" ? "GM" : "I-" + lci; }

std::vector<Study> lci_paper_studies(bool quick) {
  std::vector<Study> studies = lci_paper_tables();
  for (Study& table : lci_paper_systems()) studies.push_back(std::move(table));
  if (!quick) {
    for (Study& table : lci_paper_applications()) studies.push_back(std::move(table));
  }
  for (Study& figure : lci_paper_figures(quick)) studies.push_back(std::move(figure));
  for (Study& table : lci_paper_interactions()) studies.push_back(std::move(table));
  return studies;
}

}  // namespace fairlead::tools
