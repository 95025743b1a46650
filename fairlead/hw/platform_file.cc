#include "fairlead/hw/platform.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fairlead/base/numbers.h"
#include "fairlead/base/toml/toml_file.h"
#include "fairlead/hw/custom_network.h"
#include "fairlead/hw/speed_up.h"

namespace fairlead::hw {
namespace {

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

// What stands in the file beside numbers.
std::vector<const char*> texts_of(const PartKind& ni) {
  if (ni.has_steps) return {"description", "topology", "steps"};
  return {"description", "topology"};
}

// "description, topology, [host], [bus]": what may stand at the top of a file.
std::string valid_at_top(const std::vector<const char*>& texts, const std::vector<Key>& keys) {
  std::vector<std::string> names(texts.begin(), texts.end());
  for (const Key& key : keys) {
    std::string section = fmt::format("[{}]", key.section);
    if (std::find(names.begin(), names.end(), section) == names.end())
      names.push_back(std::move(section));
  }
  return fmt::format("{}", fmt::join(names, ", "));
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
    if (Result<void> r = parts(table, platform); !r.ok()) return r.error();
    const std::vector<const char*> texts = texts_of(platform.ni->kind());
    if (Result<void> r = read_texts(table, texts, platform); !r.ok()) return r.error();
    std::vector<Key> keys;
    platform.host.add_keys(keys);
    platform.bus->add_keys(keys);
    platform.ni->add_keys(keys);
    platform.network.add_keys(keys);
    if (Result<void> r = unknown_keys(table, keys, texts, true); !r.ok()) return r.error();
    if (Result<void> r = numbers(table, keys); !r.ok()) return r.error();
    std::vector<Key> step_keys;
    toml::table step_table;
    if (platform.ni->kind().has_steps) {
      platform.ni->add_step_keys(step_keys);
      if (Result<void> r = steps(platform, step_table, step_keys); !r.ok()) return r.error();
    }
    for (const std::string& change : changes_.set) {
      if (Result<void> r = set(change, {table, keys}, {step_table, step_keys}, platform); !r.ok()) {
        return r.error();
      }
    }
    file_ = platform.file;
    NetworkParams& links = platform.network;
    if (links.uplinks_per_switch == 0) links.uplinks_per_switch = links.hosts_per_switch;
    if (Result<void> r = network(table, platform); !r.ok()) return r.error();
    for (const AnyPart* part : {&platform.bus, &platform.ni}) {
      if (Result<void> r = together(table, *part); !r.ok()) return r.error();
    }
    if (Result<void> r = speed_up(platform, changes_.faster); !r.ok()) return r.error();
    return platform;
  }

  // The `kind` of a section. Error: there is none.
  Result<const PartKind*> kind_of(const toml::table& table, const char* section) const {
    const toml::node* in = table.get(section);
    const std::string path = fmt::format("{}.kind", section);
    if (in == nullptr || !in->is_table()) {
      return bad(1, path, fmt::format("missing: no section [{}]", section));
    }
    const toml::node* node = table[section]["kind"].node();
    const std::string said = node == nullptr ? "" : node->value_or<std::string>("");
    Result<const PartKind*> found = find_part_kind(section, said);
    if (found.ok()) return found;
    return bad(node == nullptr ? in->source().begin.line : node->source().begin.line, path,
               found.error().text);
  }

 private:
  Error bad(std::uint32_t line, const std::string& key, const std::string& reason) const {
    return toml_error(file_, line, key, reason);
  }

  // The parts that the file names, which must go together.
  Result<void> parts(const toml::table& table, Platform& platform) const {
    const Result<const PartKind*> bus = kind_of(table, "bus");
    if (!bus.ok()) return bus.error();
    const Result<const PartKind*> ni = kind_of(table, "ni");
    if (!ni.ok()) return ni.error();
    const std::span<const std::string_view> fit = ni.value()->buses;
    if (std::find(fit.begin(), fit.end(), bus.value()->name) == fit.end()) {
      return bad(table["bus"]["kind"].node()->source().begin.line, "bus.kind",
                 fmt::format("a network interface of kind \"{}\" is not on a bus of kind \"{}\"; "
                             "valid: {}",
                             ni.value()->name, bus.value()->name, fmt::join(fit, ", ")));
    }
    platform.bus = AnyPart(bus.value()->make());
    platform.ni = AnyPart(ni.value()->make());
    return {};
  }

  Result<void> read_texts(const toml::table& table, const std::vector<const char*>& texts,
                          Platform& platform) {
    for (const char* key : texts) {
      const toml::node* node = table.get(key);
      if (node == nullptr) return bad(1, key, "missing; it is a text at the top of the file");
      if (!node->is_string()) return bad(node->source().begin.line, key, "must be a text");
    }
    platform.description = *table["description"].value<std::string>();
    if (!platform.ni->kind().has_steps) return {};
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
    platform.network.topology = known->kind;
    if (known->kind != TopologyKind::fat_tree) return {};
    if (platform.network.hosts_per_switch < 2)
      return wrong("needs network.hosts_per_switch of 2 or more");
    if (platform.network.uplinks_per_switch <= platform.network.hosts_per_switch) return {};
    return wrong(fmt::format("network.uplinks_per_switch is {}; at most hosts_per_switch, {}",
                             platform.network.uplinks_per_switch,
                             platform.network.hosts_per_switch));
  }

  // A file that the platform names lies beside it.
  Result<void> custom(const std::string& asked, bool changed, Platform& platform) {
    namespace fs = std::filesystem;
    if (platform.network.host_order != 0) {
      return Error{
          fmt::format("{}: network.host_order is for regular networks; a file of links "
                      "says where each host is",
                      asked)};
    }
    platform.network.topology = TopologyKind::custom;
    platform.network.file =
        changed ? asked : (fs::path(platform.file).parent_path() / asked).string();
    Result<std::shared_ptr<const CustomNetwork>> loaded =
        CustomNetwork::load(platform.network.file);
    if (!loaded.ok()) return loaded.error();
    platform.network.custom = std::move(loaded.value());
    return {};
  }

  static void note(Platform& platform, const std::string& change) {
    platform.changes += (platform.changes.empty() ? "" : ", ") + change;
  }

  // A file and the numbers that may stand in it.
  struct Numbers {
    const toml::table& table;
    const std::vector<Key>& keys;

    const Key* find(std::string_view path) const {
      for (const Key& each : keys) {
        if (fmt::format("{}.{}", each.section, each.name) == path) return &each;
      }
      return nullptr;
    }
    // Adds the keys of `section`, or without one all sections.
    void list(std::string_view section, std::vector<std::string>& to) const {
      for (const Key& each : keys) {
        if (section == each.section) to.push_back(fmt::format("{}.{}", section, each.name));
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
    const Key* const key = in_steps ? of_steps.find(path) : own.find(path);
    if (equals == std::string::npos) return wrong("must be SECTION.KEY=NUMBER");
    if (key == nullptr) {
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
    const Range<double> range{key->least, key->most};
    if (!range.holds(value)) {
      return wrong(fmt::format("{} is impossible; {} to {}", text, range.least, range.most));
    }
    const toml::table& table = (in_steps ? of_steps : own).table;
    const std::optional<double> before = table[key->section][key->name]["value"].value<double>();
    key->store(value);
    note(platform, before ? fmt::format("{} {} ({} in the file)", path, value, *before)
                          : fmt::format("{} {}", path, value));
    return {};
  }

  // `kinds`: the sections of parts name a kind.
  Result<void> unknown_keys(const toml::table& table, const std::vector<Key>& keys,
                            const std::vector<const char*>& texts, bool kinds) {
    for (const auto& [section, node] : table) {
      const std::string name(section.str());
      if (std::find(texts.begin(), texts.end(), name) != texts.end()) continue;
      const toml::table* own = node.as_table();
      const bool kind = kinds && (name == "bus" || name == "ni");
      std::vector<std::string_view> valid;
      if (kind) valid.emplace_back("kind");
      for (const Key& key : keys) {
        if (name == key.section) valid.emplace_back(key.name);
      }
      if (own == nullptr || valid.empty()) {
        return bad(node.source().begin.line, name,
                   fmt::format("unknown; valid: {}", valid_at_top(texts, keys)));
      }
      for (const auto& [key, value] : *own) {
        if (std::find(valid.begin(), valid.end(), key.str()) != valid.end()) continue;
        return bad(value.source().begin.line, fmt::format("{}.{}", name, key.str()),
                   fmt::format("unknown key; valid in [{}]: {}", name, fmt::join(valid, ", ")));
      }
    }
    return {};
  }

  Result<void> numbers(const toml::table& table, const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      if (key.optional && !table[key.section][key.name]) continue;
      Result<double> value = number(table, key.section, key.name, key.least, key.most);
      if (!value.ok()) return value.error();
      key.store(value.value());
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
    return marked_number(file_, *node, path, least, most);
  }

  // Numbers that are possible alone and not together.
  Result<void> together(const toml::table& table, const AnyPart& part) const {
    const std::optional<Part::Conflict> found = part->conflict();
    if (!found) return {};
    return bad(table[found->section][found->key].node()->source().begin.line,
               fmt::format("{}.{}", found->section, found->key), found->reason);
  }

  Result<void> steps(const Platform& platform, toml::table& table, const std::vector<Key>& keys) {
    file_ = (std::filesystem::path(platform.file).parent_path() / steps_file_).string();
    if (Result<void> parsed = parse_toml(file_, table); !parsed.ok()) return parsed;
    if (Result<void> r = unknown_keys(table, keys, {}, false); !r.ok()) return r;
    return numbers(table, keys);
  }

  std::string file_;
  const PlatformChanges& changes_;
  std::string steps_file_;
};

}  // namespace

Result<Platform> load_platform(const std::string& path, const PlatformChanges& changes) {
  return Loader(path, changes).load();
}

Result<std::string> ni_kind_of(const std::string& path) {
  toml::table table;
  if (Result<void> parsed = parse_toml(path, table); !parsed.ok()) return parsed.error();
  const PlatformChanges none;
  const Result<const PartKind*> kind = Loader(path, none).kind_of(table, "ni");
  if (!kind.ok()) return kind.error();
  return std::string(kind.value()->name);
}

}  // namespace fairlead::hw
