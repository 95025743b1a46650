#include "fairlead/hw/platform.h"

#include <stdexcept>

// toml++ 3.3 asserts, or with NDEBUG assumes, what its parser does not ensure for every input (a
// key that begins with a stray character). A file must not end the program: make it an error.
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? void() : fairlead::hw::toml_violated(#expr))
namespace fairlead::hw {
[[noreturn]] static void toml_violated(const char* what) { throw std::logic_error(what); }
}  // namespace fairlead::hw
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace fairlead::hw {
namespace {

constexpr std::string_view kMarks[] = {"measured", "from paper", "fitted", "guessed"};

std::string known_marks() {
  std::string text;
  for (std::string_view mark : kMarks) text += fmt::format("{}{}", text.empty() ? "" : ", ", mark);
  return text;
}

// One number of the file: where it stands, its range, where it goes.
struct Field {
  const char* section;
  const char* key;
  double least;
  double most;
  std::function<void(double)> store;
};

std::function<void(double)> hertz_from_mhz(Hertz& to) {
  return [&to](double mhz) { to = Hertz{static_cast<std::uint64_t>(std::llround(mhz * 1e6))}; };
}
std::function<void(double)> rate_from_mb(BytesPerSec& to) {
  return [&to](double mb) { to = BytesPerSec{static_cast<std::uint64_t>(std::llround(mb * 1e6))}; };
}
std::function<void(double)> ps_from_us(Ps& to) {
  return [&to](double us) { to = microseconds_rounded(us); };
}
std::function<void(double)> ps_from_ns(Ps& to) {
  return [&to](double ns) { to = microseconds_rounded(ns / 1e3); };
}
template <class Integer>
std::function<void(double)> whole(Integer& to) {
  return [&to](double n) { to = static_cast<Integer>(std::llround(n)); };
}

std::vector<Field> fields_of(Platform& p) {
  return {
      {"host", "clock_MHz", 1, 1e5, hertz_from_mhz(p.host_clock)},
      {"host", "l2_KiB", 1, 1e6,
       [&p](double kib) { p.l2_bytes = static_cast<std::uint64_t>(kib * 1024); }},
      {"host", "line_bytes", 8, 4096, whole(p.line_bytes)},
      {"host", "memory_latency_ns", 1, 1e6, ps_from_ns(p.memory_latency)},
      {"host", "l2_latency_ns", 0.1, 1e6, ps_from_ns(p.l2_latency)},
      {"host", "memcpy_memory_MBps", 1, 1e7, rate_from_mb(p.memcpy_memory)},
      {"host", "memcpy_l2_MBps", 1, 1e7, rate_from_mb(p.memcpy_l2)},
      {"host", "interrupt_us", 0, 1e4, ps_from_us(p.interrupt)},
      {"host", "watchdog_us", 0, 1e6, ps_from_us(p.watchdog)},
      {"bus", "peak_MBps", 1, 1e6, rate_from_mb(p.bus_peak)},
      {"bus", "clock_MHz", 1, 1e4, hertz_from_mhz(p.bus_clock)},
      {"bus", "dma_burst_clocks", 1, 4096, whole(p.dma_burst_clocks)},
      {"bus", "dma_overhead_clocks", 0, 4096, whole(p.dma_overhead_clocks)},
      {"bus", "pio_issue_us", 0, 1e3, ps_from_us(p.pio_issue)},
      {"bus", "pio_line_bytes", 4, 4096, whole(p.pio_line_bytes)},
      {"bus", "pio_line_us", 0.0001, 1e3, ps_from_us(p.pio_line)},
      {"bus", "pio_posted_lines", 0, 1024, whole(p.pio_posted_lines)},
      {"bus", "doorbell_us", 0, 1e3, ps_from_us(p.doorbell)},
      {"ni", "clock_MHz", 1, 1e5, hertz_from_mhz(p.ni_clock)},
      {"ni", "dma_latency_us", 0, 1e3, ps_from_us(p.dma_latency)},
      {"ni", "dma_fixed_us", 0, 1e3, ps_from_us(p.dma_fixed)},
      {"ni", "host_visible_us", 0, 1e3, ps_from_us(p.host_visible)},
      {"ni", "receive_buffers", 1, 1e6, whole(p.receive_buffers)},
      {"ni", "send_buffers", 1, 1e6, whole(p.send_buffers)},
      {"ni", "host_buffers", 2, 1e6, whole(p.host_buffers)},
      {"ni", "completion_batch", 1, 1e4, whole(p.completion_batch)},
      {"ni", "host_ring_batch", 1, 1e4, whole(p.host_ring_batch)},
      {"network", "link_MBps", 1, 1e6, rate_from_mb(p.link)},
      {"network", "switch_us", 0, 1e3, ps_from_us(p.switch_delay)},
      {"network", "fixed_us", 0, 1e3, ps_from_us(p.network_fixed)},
      {"network", "header_bytes", 1, 4096, whole(p.header_bytes)},
      {"network", "hosts_per_switch", 1, 4096, whole(p.hosts_per_switch)},
      {"network", "nodes", 1, 1e6, whole(p.nodes)},
  };
}

class Loader {
 public:
  explicit Loader(std::string file) : file_(std::move(file)) {}

  Result<Platform> load() {
    toml::table table;
    if (Result<void> parsed = parse(file_, table); !parsed.ok()) return parsed.error();
    Platform platform;
    platform.file = file_;
    platform.name = std::filesystem::path(file_).stem().string();
    if (Result<void> r = texts(table, platform); !r.ok()) return r.error();
    const std::vector<Field> fields = fields_of(platform);
    if (Result<void> r = unknown_keys(table, fields); !r.ok()) return r.error();
    for (const Field& field : fields) {
      Result<double> value = number(table, field.section, field.key, field.least, field.most);
      if (!value.ok()) return value.error();
      field.store(value.value());
    }
    if (Result<void> r = together(table, platform); !r.ok()) return r.error();
    if (Result<void> r = steps(platform); !r.ok()) return r.error();
    return platform;
  }

 private:
  Error bad(std::uint32_t line, const std::string& key, const std::string& reason) const {
    return Error{fmt::format("{}:{}: {}: {}", file_, line, key, reason)};
  }

  Result<void> parse(const std::string& file, toml::table& into) const {
    try {
      into = toml::parse_file(file);
      return {};
    } catch (const toml::parse_error& e) {
      return Error{
          fmt::format("{}:{}: not a TOML file: {}", file, e.source().begin.line, e.description())};
    } catch (const std::logic_error&) {
      return Error{fmt::format("{}:1: not a TOML file: a stray character in a key", file)};
    }
  }

  Result<void> texts(const toml::table& table, Platform& platform) {
    for (const char* key : {"description", "topology", "steps"}) {
      const toml::node* node = table.get(key);
      if (node == nullptr) return bad(1, key, "missing; it is a text at the top of the file");
      if (!node->is_string()) return bad(node->source().begin.line, key, "must be a text");
    }
    platform.description = *table["description"].value<std::string>();
    steps_file_ = *table["steps"].value<std::string>();
    const std::string topology = *table["topology"].value<std::string>();
    if (topology == "grid") {
      platform.topology = TopologyKind::grid;
    } else if (topology == "clos") {
      platform.topology = TopologyKind::clos;
    } else if (topology == "single-switch") {
      platform.topology = TopologyKind::single_switch;
    } else {
      return bad(table.get("topology")->source().begin.line, "topology",
                 fmt::format("unknown '{}'; valid: grid, clos, single-switch", topology));
    }
    return {};
  }

  Result<void> unknown_keys(const toml::table& table, const std::vector<Field>& fields) {
    for (const auto& [section, node] : table) {
      const std::string name(section.str());
      if (name == "description" || name == "topology" || name == "steps") continue;
      const toml::table* keys = node.as_table();
      std::string valid;
      for (const Field& field : fields) {
        if (name == field.section)
          valid += fmt::format("{}{}", valid.empty() ? "" : ", ", field.key);
      }
      if (keys == nullptr || valid.empty()) {
        return bad(node.source().begin.line, name,
                   "unknown; valid: description, topology, steps, [host], [bus], [ni], [network]");
      }
      for (const auto& [key, value] : *keys) {
        const std::string_view given = key.str();
        const bool known = std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
          return name == field.section && given == field.key;
        });
        if (!known) {
          return bad(value.source().begin.line, fmt::format("{}.{}", name, key.str()),
                     fmt::format("unknown key; valid in [{}]: {}", name, valid));
        }
      }
    }
    return {};
  }

  // { value = 2.1, source = "...", mark = "fitted" }
  Result<double> number(const toml::table& table, const std::string& section,
                        const std::string& key, double least, double most) {
    const std::string path = fmt::format("{}.{}", section, key);
    const toml::node* in = table.get(section);
    const toml::table* keys = in == nullptr ? nullptr : in->as_table();
    if (keys == nullptr) return bad(1, path, fmt::format("missing: no section [{}]", section));
    const toml::node* node = keys->get(key);
    if (node == nullptr) return bad(in->source().begin.line, path, "missing");
    return number_of(*node, path, least, most);
  }

  Result<double> number_of(const toml::node& node, const std::string& path, double least,
                           double most) {
    const std::uint32_t line = node.source().begin.line;
    const toml::table* entry = node.as_table();
    if (entry == nullptr) {
      return bad(line, path, "must be { value = NUMBER, source = \"...\", mark = \"...\" }");
    }
    const std::optional<double> value = (*entry)["value"].value<double>();
    if (!value || !std::isfinite(*value)) return bad(line, path, "value must be a number");
    if (*value < least || *value > most) {
      return bad(line, path, fmt::format("{} is impossible; {} to {}", *value, least, most));
    }
    const std::optional<std::string> source = (*entry)["source"].value<std::string>();
    if (!source || source->empty()) return bad(line, path, "has no source");
    const std::optional<std::string> mark = (*entry)["mark"].value<std::string>();
    if (!mark || std::find(std::begin(kMarks), std::end(kMarks), *mark) == std::end(kMarks)) {
      return bad(line, path, fmt::format("mark must be one of: {}", known_marks()));
    }
    for (const auto& [key, unused] : *entry) {
      if (key.str() != "value" && key.str() != "source" && key.str() != "mark") {
        return bad(line, fmt::format("{}.{}", path, key.str()),
                   "unknown; valid: value, source, mark");
      }
    }
    return *value;
  }

  // Numbers that are possible alone and not together.
  Result<void> together(const toml::table& table, const Platform& platform) const {
    const auto line_of = [&table](const char* section, const char* key) {
      return table[section][key].node()->source().begin.line;
    };
    if (platform.dma_burst_bytes() == 0 || platform.dma_rate().count == 0) {
      return bad(line_of("bus", "dma_burst_clocks"), "bus.dma_burst_clocks",
                 fmt::format(
                     "{} clocks of {} MHz at {} MB/s move less than a byte; more clocks, or "
                     "a faster bus",
                     platform.dma_burst_clocks, static_cast<double>(platform.bus_clock.count) / 1e6,
                     static_cast<double>(platform.bus_peak.count) / 1e6));
    }
    if (platform.dma_latency < platform.dma_fixed) {
      return bad(line_of("ni", "dma_latency_us"), "ni.dma_latency_us",
                 fmt::format("{} is less than dma_fixed_us, {}: a transfer is seen as done after "
                             "its start",
                             to_us(platform.dma_latency), to_us(platform.dma_fixed)));
    }
    return {};
  }

  Result<void> steps(Platform& platform) {
    file_ = (std::filesystem::path(platform.file).parent_path() / steps_file_).string();
    toml::table table;
    if (Result<void> parsed = parse(file_, table); !parsed.ok()) return parsed;
    for (const auto& [name, node] : table) {
      const bool host = name.str() == "host";
      if ((!host && name.str() != "ni") || node.as_table() == nullptr) {
        return bad(node.source().begin.line, std::string(name.str()),
                   "unknown; valid: [host], [ni]");
      }
      for (const auto& [key, value] : *node.as_table()) {
        const std::string path = fmt::format("{}.{}", name.str(), key.str());
        const auto* step = std::find(std::begin(kStepNames), std::end(kStepNames), key.str());
        if (step == std::end(kStepNames))
          return bad(value.source().begin.line, path, "no such step");
        Result<double> cycles = number_of(value, path, 0, 1e6);
        if (!cycles.ok()) return cycles.error();
        auto& to = host ? platform.host_cycles : platform.ni_cycles;
        to[static_cast<std::size_t>(step - std::begin(kStepNames))] =
            Cycles{std::llround(cycles.value())};
      }
    }
    return {};
  }

  std::string file_;
  std::string steps_file_;
};

}  // namespace

Result<Platform> load_platform(const std::string& path) { return Loader(path).load(); }

}  // namespace fairlead::hw
