#include "fairlead/hw/platform.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "fairlead/base/numbers.h"
#include "fairlead/hw/custom_network.h"
#include "fairlead/hw/speed_up.h"
#include "fairlead/base/toml/toml_file.h"

namespace fairlead::hw {
namespace {

constexpr std::string_view kMarks[] = {"measured", "from paper", "fitted", "guessed"};

std::string known_marks() {
  std::string text;
  for (std::string_view mark : kMarks) text += fmt::format("{}{}", text.empty() ? "" : ", ", mark);
  return text;
}

struct Named {
  std::string_view name;
  TopologyKind kind;
};
constexpr Named kTopologies[] = {{"grid", TopologyKind::grid},
                                 {"clos", TopologyKind::clos},
                                 {"fat-tree", TopologyKind::fat_tree},
                                 {"single-switch", TopologyKind::single_switch}};

std::string topology_names() {
  std::string text;
  for (const Named& each : kTopologies) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", each.name);
  }
  return text;
}

// One number of the file: where it stands, its range, where it goes.
struct Field {
  const char* section;
  const char* key;
  double least;
  double most;
  std::function<void(double)> store;
  bool optional = false;
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

std::vector<Field> host_fields_of(Platform& p) {
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
  };
}

// [bus] and [ni] of the kind "lanai": a shared bus, and a processor with firmware.
void add_lanai_fields(std::vector<Field>& fields, Platform& p) {
  const std::vector<Field> own = {
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
  };
  fields.insert(fields.end(), own.begin(), own.end());
}

void add_network_fields(std::vector<Field>& fields, Platform& p) {
  const std::vector<Field> own = {
      {"network", "link_MBps", 1, 1e6, rate_from_mb(p.link)},
      {"network", "switch_us", 0, 1e3, ps_from_us(p.switch_delay)},
      {"network", "fixed_us", 0, 1e3, ps_from_us(p.network_fixed)},
      {"network", "header_bytes", 1, 4096, whole(p.header_bytes)},
      {"network", "hosts_per_switch", 1, 4096, whole(p.hosts_per_switch)},
      // Without it as many as hosts_per_switch.
      {"network", "uplinks_per_switch", 1, 4096, whole(p.uplinks_per_switch), true},
      {"network", "nodes", 1, 1e6, whole(p.nodes)},
      {"network", "host_order", 0, 1e9, whole(p.host_order), true},
  };
  fields.insert(fields.end(), own.begin(), own.end());
}

std::function<void(double)> cycles(Cycles& to) {
  return [&to](double count) { to = Cycles{std::llround(count)}; };
}

// Those of the kind "rdma": two one-way lanes, and an engine whose library has steps of its own.
void add_rdma_fields(std::vector<Field>& fields, RdmaParams& p) {
  const std::vector<Field> own = {
      {"bus", "lane_MBps", 1, 1e6, rate_from_mb(p.lanes.rate)},
      {"bus", "payload_bytes", 8, 65536, whole(p.lanes.payload_bytes)},
      {"bus", "overhead_bytes", 0, 4096, whole(p.lanes.overhead_bytes)},
      {"bus", "latency_ns", 0, 1e6, ps_from_ns(p.lanes.latency)},
      {"bus", "memory_read_ns", 0, 1e6, ps_from_ns(p.lanes.memory_read)},
      {"bus", "store_line_ns", 0, 1e6, ps_from_ns(p.lanes.store_line)},
      {"bus", "store_line_bytes", 4, 4096, whole(p.lanes.store_line_bytes)},
      {"ni", "work_entry_ns", 0, 1e6, ps_from_ns(p.ni.work_entry)},
      {"ni", "packet_ns", 0, 1e6, ps_from_ns(p.ni.packet)},
      {"ni", "translate_ns", 0, 1e6, ps_from_ns(p.ni.translate)},
      {"ni", "atomic_ns", 0, 1e6, ps_from_ns(p.ni.atomic)},
      {"ni", "mtu_bytes", 512, 65536, whole(p.ni.mtu_bytes)},
      {"ni", "inline_bytes", 0, 96, whole(p.ni.inline_bytes)},
      {"ni", "entry_bytes", 16, 1024, whole(p.ni.entry_bytes)},
      {"ni", "completion_bytes", 8, 1024, whole(p.ni.completion_bytes)},
      {"ni", "send_queue", 2, 65536, whole(p.ni.send_queue)},
      {"ni", "receive_queue", 2, 65536, whole(p.ni.receive_queue)},
      {"ni", "signal_every", 1, 65536, whole(p.ni.signal_every)},
      {"ni", "reads_ahead", 1, 1024, whole(p.ni.reads_ahead)},
      {"ni", "copies", 1, 65536, whole(p.ni.copies)},
      {"library", "post_cycles", 0, 1e6, cycles(p.library.post)},
      {"library", "poll_cycles", 1, 1e6, cycles(p.library.poll)},
      {"library", "receive_cycles", 0, 1e6, cycles(p.library.receive)},
      {"library", "completion_cycles", 0, 1e6, cycles(p.library.completion)},
  };
  fields.insert(fields.end(), own.begin(), own.end());
}

// The step names outlive every field.
const char* key_of(std::size_t step) { return kStepNames[step].data(); }

// Of the file of steps: the protocol's own numbers, then the cycles of each step. A step may cost
// nothing.
std::vector<Field> step_fields_of(Platform& p) {
  std::vector<Field> fields = {
      {"protocol", "resend_window", 1, 1e4, whole(p.resend_window)},
      {"protocol", "host_window", 1, 1e4, whole(p.host_window), true},
      {"protocol", "resend_timeout_us", 1, 1e9, ps_from_us(p.resend_timeout)},
      {"protocol", "ack_delay_us", 0, 1e9, ps_from_us(p.ack_delay)},
  };
  for (std::size_t step = 0; step < kSteps; ++step) {
    fields.push_back({"host", key_of(step), 0, 1e6, cycles(p.host_cycles[step]), true});
    fields.push_back({"ni", key_of(step), 0, 1e6, cycles(p.ni_cycles[step]), true});
  }
  return fields;
}

class Loader {
 public:
  Loader(std::string file, const PlatformChanges& changes)
      : file_(std::move(file)), changes_(changes) {}

  Result<Platform> load() {
    toml::table table;
    if (Result<void> parsed = parse_toml(file_, table); !parsed.ok()) return parsed.error();
    Platform platform;
    platform.file = file_;
    platform.name = std::filesystem::path(file_).stem().string();
    RdmaParams params;
    const Result<bool> rdma = is_rdma(table);
    if (!rdma.ok()) return rdma.error();
    if (Result<void> r = texts(table, platform, rdma.value()); !r.ok()) return r.error();
    std::vector<Field> fields = host_fields_of(platform);
    rdma.value() ? add_rdma_fields(fields, params) : add_lanai_fields(fields, platform);
    add_network_fields(fields, platform);
    if (Result<void> r = unknown_keys(table, fields,
                                      rdma.value() ? "description, topology, [host], [bus], [ni], "
                                                     "[library], [network]"
                                                   : "description, topology, steps, [host], "
                                                     "[bus], [ni], [network]");
        !r.ok()) {
      return r.error();
    }
    if (Result<void> r = numbers(table, fields); !r.ok()) return r.error();
    std::vector<Field> step_fields;
    toml::table step_table;
    if (!rdma.value()) {
      step_fields = step_fields_of(platform);
      if (Result<void> r = steps(platform, step_table, step_fields); !r.ok()) return r.error();
    }
    for (const std::string& change : changes_.set) {
      if (Result<void> r = set(change, {table, fields}, {step_table, step_fields}, platform);
          !r.ok()) {
        return r.error();
      }
    }
    file_ = platform.file;
    if (platform.uplinks_per_switch == 0) platform.uplinks_per_switch = platform.hosts_per_switch;
    if (Result<void> r = network(table, platform); !r.ok()) return r.error();
    if (rdma.value()) {
      if (Result<void> r = together(table, params); !r.ok()) return r.error();
      platform.rdma = std::make_shared<const RdmaParams>(params);
    } else if (Result<void> r = together(table, platform); !r.ok()) {
      return r.error();
    }
    if (Result<void> r = speed_up(platform, changes_.faster); !r.ok()) return r.error();
    return platform;
  }

 private:
  Error bad(std::uint32_t line, const std::string& key, const std::string& reason) const {
    return toml_error(file_, line, key, reason);
  }

  // [ni] kind: "lanai", which a file need not say, or "rdma".
  Result<bool> is_rdma(const toml::table& table) const {
    const toml::node* kind = table["ni"]["kind"].node();
    if (kind == nullptr) return false;
    const std::string said = kind->value_or<std::string>("");
    if (said == "rdma" || said == "lanai") return said == "rdma";
    return bad(kind->source().begin.line, "ni.kind", "unknown; valid: \"lanai\", \"rdma\"");
  }

  Result<void> texts(const toml::table& table, Platform& platform, bool rdma) {
    for (const char* key : {"description", "topology", "steps"}) {
      if (rdma && std::string_view(key) == "steps") continue;
      const toml::node* node = table.get(key);
      if (node == nullptr) return bad(1, key, "missing; it is a text at the top of the file");
      if (!node->is_string()) return bad(node->source().begin.line, key, "must be a text");
    }
    platform.description = *table["description"].value<std::string>();
    if (rdma) return {};
    steps_file_ = changes_.steps.empty() ? *table["steps"].value<std::string>() : changes_.steps;
    return {};
  }

  // The network that the file, or a change, asks for.
  Result<void> network(const toml::table& table, Platform& platform) {
    const std::string own = *table["topology"].value<std::string>();
    const bool changed = !changes_.topology.empty() && changes_.topology != own;
    const std::string& asked = changed ? changes_.topology : own;
    const std::uint32_t line = table.get("topology")->source().begin.line;
    const auto wrong = [&](const std::string& reason) {
      return changed ? Error{fmt::format("--topology {}: {}", asked, reason)}
                     : bad(line, "topology", reason);
    };
    if (changed) note(platform, fmt::format("topology {} ({} in the file)", asked, own));
    if (asked.ends_with(".toml")) return custom(asked, changed, platform);
    const auto* known = std::find_if(std::begin(kTopologies), std::end(kTopologies),
                                     [&](const Named& each) { return each.name == asked; });
    if (known == std::end(kTopologies)) {
      return wrong(fmt::format("unknown '{}'; valid: {}, or a network's file (.toml)", asked,
                               topology_names()));
    }
    platform.topology = known->kind;
    if (known->kind != TopologyKind::fat_tree) return {};
    if (platform.hosts_per_switch < 2) return wrong("needs network.hosts_per_switch of 2 or more");
    if (platform.uplinks_per_switch <= platform.hosts_per_switch) return {};
    return wrong(fmt::format("network.uplinks_per_switch is {}; at most hosts_per_switch, {}",
                             platform.uplinks_per_switch, platform.hosts_per_switch));
  }

  // A file that the platform names lies beside it.
  Result<void> custom(const std::string& asked, bool changed, Platform& platform) {
    namespace fs = std::filesystem;
    if (platform.host_order != 0) {
      return Error{
          fmt::format("{}: network.host_order is for regular networks; a file of links "
                      "says where each host is",
                      asked)};
    }
    platform.topology = TopologyKind::custom;
    platform.network_file =
        changed ? asked : (fs::path(platform.file).parent_path() / asked).string();
    Result<std::shared_ptr<const CustomNetwork>> loaded =
        CustomNetwork::load(platform.network_file);
    if (!loaded.ok()) return loaded.error();
    platform.custom_network = std::move(loaded.value());
    return {};
  }

  static void note(Platform& platform, const std::string& change) {
    platform.changes += (platform.changes.empty() ? "" : ", ") + change;
  }

  // A file and the numbers that may stand in it.
  struct Numbers {
    const toml::table& table;
    const std::vector<Field>& fields;

    const Field* find(std::string_view path) const {
      for (const Field& each : fields) {
        if (fmt::format("{}.{}", each.section, each.key) == path) return &each;
      }
      return nullptr;
    }
    // Adds the keys of `section`, or without one all sections.
    void list(std::string_view section, std::vector<std::string>& to) const {
      for (const Field& each : fields) {
        if (section == each.section) to.push_back(fmt::format("{}.{}", section, each.key));
        if (!section.empty() || std::find(to.begin(), to.end(), each.section) != to.end()) continue;
        to.emplace_back(each.section);
      }
    }
  };

  // Applies "section.key=value" to a number of the platform's file, or of its file of steps.
  Result<void> set(const std::string& change, const Numbers& own, const Numbers& of_steps,
                   Platform& platform) const {
    const std::size_t equals = change.find('=');
    const std::string path = change.substr(0, equals);
    const auto wrong = [&change](const std::string& reason) {
      return Error{fmt::format("--set {}: {}", change, reason)};
    };
    const bool in_steps = own.find(path) == nullptr;
    const Field* const field = in_steps ? of_steps.find(path) : own.find(path);
    if (equals == std::string::npos) return wrong("must be SECTION.KEY=NUMBER");
    if (field == nullptr) {
      std::vector<std::string> valid;
      for (const Numbers* each : {&own, &of_steps})
        each->list(path.substr(0, path.find('.')), valid);
      if (!valid.empty())
        return wrong(fmt::format("no such key; valid: {}", fmt::join(valid, ", ")));
      for (const Numbers* each : {&own, &of_steps}) each->list("", valid);
      return wrong(fmt::format("no such section; valid: {}", fmt::join(valid, ", ")));
    }
    const std::string_view text = std::string_view(change).substr(equals + 1);
    const std::optional<double> read = real_number(text);
    if (!read) return wrong("the value must be a number");
    const double value = *read;
    const Range<double> range{field->least, field->most};
    if (!range.holds(value)) {
      return wrong(fmt::format("{} is impossible; {} to {}", text, range.least, range.most));
    }
    const toml::table& table = (in_steps ? of_steps : own).table;
    const std::optional<double> before = table[field->section][field->key]["value"].value<double>();
    field->store(value);
    note(platform, before ? fmt::format("{} {} ({} in the file)", path, value, *before)
                          : fmt::format("{} {}", path, value));
    return {};
  }

  // `valid_sections`: what may stand at the top of the file.
  Result<void> unknown_keys(const toml::table& table, const std::vector<Field>& fields,
                            std::string_view valid_sections) {
    for (const auto& [section, node] : table) {
      const std::string name(section.str());
      if (node.is_string() && valid_sections.find(name) != std::string_view::npos) continue;
      const toml::table* keys = node.as_table();
      std::string valid;
      for (const Field& field : fields) {
        if (name == field.section)
          valid += fmt::format("{}{}", valid.empty() ? "" : ", ", field.key);
      }
      if (keys == nullptr || valid.empty()) {
        return bad(node.source().begin.line, name,
                   fmt::format("unknown; valid: {}", valid_sections));
      }
      for (const auto& [key, value] : *keys) {
        const std::string_view given = key.str();
        if (name == "ni" && given == "kind") continue;
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

  Result<void> numbers(const toml::table& table, const std::vector<Field>& fields) {
    for (const Field& field : fields) {
      if (field.optional && !table[field.section][field.key]) continue;
      Result<double> value = number(table, field.section, field.key, field.least, field.most);
      if (!value.ok()) return value.error();
      field.store(value.value());
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

  Result<void> together(const toml::table& table, const RdmaParams& params) const {
    if (params.ni.signal_every <= params.ni.send_queue) return {};
    return bad(table["ni"]["signal_every"].node()->source().begin.line, "ni.signal_every",
               fmt::format("{} is more than send_queue, {}: no completion would come",
                           params.ni.signal_every, params.ni.send_queue));
  }

  Result<void> steps(const Platform& platform, toml::table& table,
                     const std::vector<Field>& fields) {
    file_ = (std::filesystem::path(platform.file).parent_path() / steps_file_).string();
    if (Result<void> parsed = parse_toml(file_, table); !parsed.ok()) return parsed;
    if (Result<void> r = unknown_keys(table, fields, "[protocol], [host], [ni]"); !r.ok()) return r;
    return numbers(table, fields);
  }

  std::string file_;
  const PlatformChanges& changes_;
  std::string steps_file_;
};

}  // namespace

Result<Platform> load_platform(const std::string& path, const PlatformChanges& changes) {
  return Loader(path, changes).load();
}

}  // namespace fairlead::hw
