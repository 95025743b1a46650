// Tables V and VI of the LCI paper: the programming systems.
#include <fmt/format.h>

#include <span>

#include "tools/fairlead/reproduce/lci_studies.h"

namespace fairlead::tools {

namespace {

constexpr const char* kPPro = "myrinet-ppro";
constexpr const char* kP3 = "myrinet-p3";
constexpr std::uint64_t kSmall = 16;
// Far above the half-performance size, within the second-level caches.
constexpr std::uint64_t kLarge = 64 * 1024;
// Table V has the most throughput of any size. Up to kLarge: the LCI sends "messages of the same
// size" one after the other for CRL and Orca, with 64 and 63 Mbyte/s where a stream has 68, which
// says that the longest had some 64 Kbyte.
constexpr std::uint64_t kSizes[] = {16 * 1024, 32 * 1024, kLarge};
constexpr std::uint32_t kNodes = 64;

// Each platform with the implementation that table V was measured with.
struct Machine {
  PaperPlatform platform;
  const char* lci;
};
constexpr Machine kMachines[] = {{{kPPro, "PPro"}, "pio"}, {{kP3, "P3"}, "sdma"}};

// A level of a programming system's row.
struct Level {
  const char* row;
  const char* level;  // of pps; empty: the LCI itself
  std::vector<std::string> options;
};

// Those of a row of table V stand on each other.
const Level kLevels[] = {{"LCI/Panda-ST", "panda-st", {}},
                         {"LCI/Panda-ST/MPI", "mpi", {"--mpi-device", "panda"}},
                         {"LCI/Panda-MT", "panda-mt", {}},
                         {"LCI/Panda-MT/Orca", "orca", {}}};
const Level kCrl = {"LCI/CRL", "crl", {}};
// What CRL and Orca send, by the Port alone.
const Level kLciCalls = {"LCI", "lci", {}};

Measurement pps(const Machine& on, const Level& level, const char* what,
                std::span<const std::uint64_t> sizes, std::uint32_t ranks) {
  Measurement made{"pps", on.platform.name, on.lci, {"--level", level.level, "--what", what},
                   ranks, level.options};
  for (const std::uint64_t bytes : sizes) {
    made.arguments.insert(made.arguments.end(), {"--bytes", fmt::format("{}", bytes)});
  }
  made.expected_s = ranks > 2 ? 5 : 1;
  return made;
}

Measurement bench(const Machine& on, const char* name, std::uint64_t bytes) {
  return {name, on.platform.name, on.lci, {"--sizes", fmt::format("{}", bytes)}};
}

Quantity twice(Quantity one) {
  return {one.label, one.needs,
          [value = one.value](std::span<const Measured* const> measured) -> std::optional<double> {
            const std::optional<double> once = value(measured);
            return once ? std::optional(2 * *once) : std::nullopt;
          }};
}

Quantity sum_of(const std::string& label, const Quantity& a, const Quantity& b) {
  Quantity made{label, a.needs, {}};
  made.needs.insert(made.needs.end(), b.needs.begin(), b.needs.end());
  made.value = [a, b](std::span<const Measured* const> measured) -> std::optional<double> {
    const std::optional<double> first = a.value(measured.first(a.needs.size()));
    const std::optional<double> second = b.value(measured.subspan(a.needs.size()));
    return first && second ? std::optional(*first + *second) : std::nullopt;
  };
  return made;
}

std::string column(const Machine& on, const char* what) {
  return fmt::format("{} {}", on.platform.label, what);
}

// --- Table V.

void add_level(Study& study, const Machine& on, const Level& level, const Quantity& latency,
               const Quantity& throughput) {
  study.cells.push_back({level.row, column(on, "latency"), "us", latency, {}});
  study.cells.push_back({level.row, column(on, "throughput"), "MB/s", throughput, {}});
}

Study table5() {
  Study study{"table5", "What the programming systems add to unicast messages", false, {}, {}, {}};
  for (const Machine& on : kMachines) {
    const Measurement logp{"logp", on.platform.name, on.lci, {}};
    add_level(study, on, {"LCI", "", {}}, twice(figure_of("LCI", logp, "end_to_end_us")),
              figure_at("LCI", bench(on, "throughput", kLarge), "MBps", kLarge));
    const auto rate = [&](const Level& level) {
      return peak_of(level.row, pps(on, level, "throughput", kSizes, 2), "mb_per_s");
    };
    for (const char* row : {"LCI, as CRL", "LCI, as Orca"}) {
      study.cells.push_back({row, column(on, "throughput"), "MB/s", rate(kLciCalls), {}});
    }
    const auto add = [&](const Level& level) {
      add_level(study, on, level,
                figure_at(level.row, pps(on, level, "latency", {&kSmall, 1}, 2), "us", kSmall),
                rate(level));
    };
    for (const Level& level : kLevels) add(level);
    add(kCrl);
  }
  return study;
}

// --- Table VI.

// The LCI and Panda-MT levels of an ordered broadcast include the fetch-and-add.
Study table6() {
  Study study{"table6", "What the programming systems add to multicast, 64 nodes", false, {}, {},
              {}};
  for (const Machine& on : kMachines) {
    const Measurement small = bench(on, "multicast", kSmall);
    const Measurement large = bench(on, "multicast", kLarge);
    const Quantity latency = figure_at("LCI", small, "latency_us", kSmall);
    const Quantity rate = figure_at("LCI", large, "throughput_MBps", kLarge);
    add_level(study, on, {"LCI", "", {}}, latency, rate);
    const Measurement logp{"logp", on.platform.name, on.lci, {}};
    add_level(study, on, {"LCI with F&A", "", {}},
              sum_of("LCI", latency, figure_of("LCI", logp, "fetch_add_us")), rate);
    for (const Level& level : kLevels) {
      add_level(
          study, on, level,
          figure_at(level.row, pps(on, level, "multicast", {&kSmall, 1}, kNodes), "us", kSmall),
          figure_at(level.row, pps(on, level, "multicast-throughput", {&kLarge, 1}, kNodes),
                    "mb_per_s", kLarge));
    }
  }
  return study;
}

}  // namespace

std::vector<Study> lci_paper_systems() { return {table5(), table6()}; }

}  // namespace fairlead::tools
