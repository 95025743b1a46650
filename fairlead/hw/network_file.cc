// Reads the file of a CustomNetwork.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "fairlead/base/numbers.h"
#include "fairlead/base/toml/toml_file.h"
#include "fairlead/hw/custom_network.h"

namespace fairlead::hw {

class NetworkReader {
 public:
  explicit NetworkReader(const std::string& file) : file_(file) {}

  Result<std::shared_ptr<const CustomNetwork>> read() {
    toml::table table;
    if (Result<void> parsed = parse_toml(file_, table); !parsed.ok()) return parsed.error();
    if (Result<void> r = known_keys(table); !r.ok()) return r.error();
    if (Result<void> r = switches(table); !r.ok()) return r.error();
    if (Result<void> r = links(table); !r.ok()) return r.error();
    if (Result<void> r = connected(table); !r.ok()) return r.error();
    network_->make_routes();
    return std::shared_ptr<const CustomNetwork>(network_);
  }

 private:
  // One end of a link: a range of hosts, or a switch.
  struct End {
    bool is_switch = false;
    std::uint32_t first = 0;  // the switch's index, or the first host
    std::uint32_t last = 0;   // host
  };

  Error bad(std::uint32_t line, const std::string& key, const std::string& reason) const {
    return toml_error(file_, line, key, reason);
  }
  static std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

  Result<void> known_keys(const toml::table& table) const {
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (name != "description" && name != "switches" && name != "link") {
        return bad(line_of(node), std::string(name),
                   "unknown; valid: description, switches, [[link]]");
      }
    }
    const toml::node* description = table.get("description");
    if (description == nullptr || !description->is_string()) {
      return bad(description == nullptr ? 1 : line_of(*description), "description",
                 "missing; a text that says which network this is");
    }
    return {};
  }

  Result<void> switches(const toml::table& table) {
    const toml::node* node = table.get("switches");
    const toml::array* names = node == nullptr ? nullptr : node->as_array();
    if (names == nullptr || names->empty()) {
      return bad(node == nullptr ? 1 : line_of(*node), "switches",
                 "missing; the names of the switches, for example [\"left\", \"right\"]");
    }
    if (names->size() > CustomNetwork::kSwitchesMax) {
      return bad(
          line_of(*node), "switches",
          fmt::format("{} are too many; at most {}", names->size(), CustomNetwork::kSwitchesMax));
    }
    for (const toml::node& each : *names) {
      const std::optional<std::string> name = each.value<std::string>();
      if (!name || !each.is_string() || !good_name(*name)) {
        return bad(line_of(each), "switches",
                   "a name is a letter and up to 63 letters, digits, '_' or '.'");
      }
      if (!index_.emplace(*name, network_->size()).second) {
        return bad(line_of(each), "switches", fmt::format("'{}' is there twice", *name));
      }
      network_->switches_.push_back(*name);
    }
    network_->exits_.resize(network_->size());
    return {};
  }

  // As fault plans and trees can name it.
  static bool good_name(const std::string& name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (name.empty() || name.size() > 64 || !letter(name[0])) return false;
    for (const char c : name) {
      if (!letter(c) && !(c >= '0' && c <= '9') && c != '_' && c != '.') return false;
    }
    return true;
  }

  Result<void> links(const toml::table& table) {
    const toml::node* node = table.get("link");
    const toml::array* links = node == nullptr ? nullptr : node->as_array();
    if (links == nullptr) return bad(node == nullptr ? 1 : line_of(*node), "link", "no [[link]]");
    for (const toml::node& each : *links) {
      const toml::table* link = each.as_table();
      if (link == nullptr) return bad(line_of(each), "link", "must be [[link]] tables");
      if (Result<void> r = one_link(*link); !r.ok()) return r;
    }
    return {};
  }

  Result<void> one_link(const toml::table& link) {
    for (const auto& [key, node] : link) {
      const std::string_view name = key.str();
      if (name != "from" && name != "to" && name != "cables" && name != "MBps" && name != "us") {
        return bad(line_of(node), fmt::format("link.{}", name),
                   "unknown key; valid in [[link]]: from, to, cables, MBps, us");
      }
    }
    Result<End> from = end(link, "from");
    if (!from.ok()) return from.error();
    Result<End> to = end(link, "to");
    if (!to.ok()) return to.error();
    Result<double> cables = number(link, "cables", 1, 1, CustomNetwork::kCablesMax);
    if (!cables.ok()) return cables.error();
    Result<double> rate = number(link, "MBps", 0, 0.001, 1e6);
    if (!rate.ok()) return rate.error();
    Result<double> delay = number(link, "us", 0, 0, 1e3);
    if (!delay.ok()) return delay.error();
    const ChannelTraits traits{
        BytesPerSec{static_cast<std::uint64_t>(std::llround(rate.value() * 1e6))},
        microseconds_rounded(delay.value())};
    if (traits.rate.count > 0 || traits.delay > Ps{0}) network_->has_traits_ = true;
    const auto count = static_cast<std::uint32_t>(std::llround(cables.value()));
    const std::uint32_t line = line_of(link);
    if (from.value().is_switch && to.value().is_switch) {
      return join(line, from.value().first, to.value().first, count, traits);
    }
    if (!from.value().is_switch && !to.value().is_switch) {
      return bad(line, "link", "joins hosts with hosts; a host's cable ends at a switch");
    }
    if (count != 1) return bad(line, "link.cables", "a host has one cable");
    const bool forward = to.value().is_switch;
    return attach(line, forward ? from.value() : to.value(), (forward ? to : from).value().first,
                  traits);
  }

  Result<void> join(std::uint32_t line, std::uint32_t a, std::uint32_t b, std::uint32_t cables,
                    const ChannelTraits& traits) {
    if (a == b) return bad(line, "link", "joins a switch with itself");
    const auto pair = std::pair(std::min(a, b), std::max(a, b));
    const auto [before, fresh] = joined_.emplace(pair, line);
    if (!fresh) {
      return bad(line, "link",
                 fmt::format("'{}' and '{}' are joined in line {} already; parallel cables are "
                             "one [[link]] with cables = N",
                             network_->switches_[a], network_->switches_[b], before->second));
    }
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      network_->exits_[from].push_back({to, network_->channels(), cables});
      network_->traits_.insert(network_->traits_.end(), cables, traits);
    }
    return {};
  }

  Result<void> attach(std::uint32_t line, const End& hosts, std::uint32_t to,
                      const ChannelTraits& traits) {
    auto& all = network_->hosts_;
    if (all.size() <= hosts.last) {
      all.resize(hosts.last + std::size_t{1});
      host_line_.resize(all.size());
    }
    for (std::uint32_t host = hosts.first; host <= hosts.last; ++host) {
      if (all[host].at != UINT32_MAX) {
        return bad(line, "link",
                   fmt::format("host {} is attached to '{}' in line {} already", host,
                               network_->switches_[all[host].at], host_line_[host]));
      }
      all[host].at = to;
      all[host].traits = traits;
      host_line_[host] = line;
    }
    return {};
  }

  Result<End> end(const toml::table& link, const char* key) const {
    const std::string path = fmt::format("link.{}", key);
    const toml::node* node = link.get(key);
    if (node == nullptr) return bad(line_of(link), path, "missing");
    if (const auto host = node->value_exact<std::int64_t>()) {
      if (*host < 0 || *host >= CustomNetwork::kHostsMax) {
        return bad(line_of(*node), path,
                   fmt::format("hosts are numbered 0 to {}", CustomNetwork::kHostsMax - 1));
      }
      const auto number = static_cast<std::uint32_t>(*host);
      return End{false, number, number};
    }
    const auto text = node->value_exact<std::string>();
    if (!text) return bad(line_of(*node), path, "must be a host's number or a text");
    if (const auto found = index_.find(*text); found != index_.end()) {
      return End{true, static_cast<std::uint32_t>(found->second), 0};
    }
    return range(*text, line_of(*node), path);
  }

  Result<End> range(const std::string& text, std::uint32_t line, const std::string& path) const {
    End hosts;
    std::string_view rest = text;
    if (!take_whole(rest, hosts.first)) {
      return bad(line, path, fmt::format("'{}' is not in switches", text));
    }
    const auto last = rest.starts_with('-') ? whole_number<std::uint32_t>(rest.substr(1))
                                            : std::optional<std::uint32_t>();
    hosts.last = last.value_or(0);
    if (!last || hosts.last < hosts.first || hosts.last >= CustomNetwork::kHostsMax) {
      return bad(line, path, fmt::format("'{}' is no range of hosts like \"0-7\"", text));
    }
    return hosts;
  }

  // `otherwise` where the key is not given.
  Result<double> number(const toml::table& link, const char* key, double otherwise, double least,
                        double most) const {
    const toml::node* node = link.get(key);
    if (node == nullptr) return otherwise;
    const std::optional<double> value = node->value<double>();
    if (!value || !(*value >= least) || *value > most) {
      return bad(line_of(*node), fmt::format("link.{}", key),
                 fmt::format("must be a number, {} to {}", least, most));
    }
    return *value;
  }

  Result<void> connected(const toml::table& table) {
    const auto& hosts = network_->hosts_;
    if (hosts.empty()) return bad(1, "link", "no host is attached to a switch");
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      if (hosts[host].at == UINT32_MAX) {
        return bad(line_of(*table.get("link")), "link",
                   fmt::format("host {} is not attached, of 0 to {}", host, hosts.size() - 1));
      }
    }
    if (const auto apart = network_->level_switches(); apart.has_value()) {
      return bad(line_of(*table.get("switches")), "switches",
                 fmt::format("no link leads to '{}' from the others", network_->switches_[*apart]));
    }
    return {};
  }

  const std::string& file_;
  std::shared_ptr<CustomNetwork> network_{new CustomNetwork()};
  std::map<std::string, std::size_t, std::less<>> index_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> joined_;  // -> line
  std::vector<std::uint32_t> host_line_;
};

Result<std::shared_ptr<const CustomNetwork>> CustomNetwork::load(const std::string& file) {
  return NetworkReader(file).read();
}

}  // namespace fairlead::hw
