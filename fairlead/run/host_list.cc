#include "fairlead/run/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "fairlead/base/numbers.h"
#include "fairlead/fabric/shm/layout.h"

namespace fairlead::run {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

bool take_count(std::string_view text, std::uint32_t& count) {
  const auto number = whole_number<std::uint32_t>(text, {1, fabric::kShmRanksMax});
  count = number.value_or(count);
  return number.has_value();
}

// A name goes to a remote shell as an argument of its own, and must not be an option.
bool is_name(std::string_view name) {
  constexpr std::string_view kMarks = ".-_@:[]%";
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

Result<HostSlots> parse_host(std::string_view entry) {
  HostSlots host;
  const std::size_t colon = entry.rfind(':');
  const std::size_t bracket = entry.rfind(']');
  const bool counted =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  host.name = entry.substr(0, counted ? colon : entry.size());
  if (!is_name(host.name) || (counted && !take_count(entry.substr(colon + 1), host.ranks))) {
    return Error{fmt::format("'{}' is no host: write name or name:ranks", entry)};
  }
  // ssh wants an address without the brackets that keep its colons apart from the count's.
  if (host.name.front() == '[' && host.name.back() == ']') {
    host.name = host.name.substr(1, host.name.size() - 2);
  }
  return host;
}

Result<HostSlots> parse_line(std::string_view line) {
  const std::size_t blank = line.find_first_of(kBlank);
  if (blank == std::string_view::npos) return parse_host(line);
  Result<HostSlots> host = parse_host(line.substr(0, blank));
  if (!host.ok()) return host;
  constexpr std::string_view kSlots = "slots=";
  const std::string_view rest = trimmed(line.substr(blank));
  if (!rest.starts_with(kSlots) || !take_count(rest.substr(kSlots.size()), host.value().ranks)) {
    return Error{fmt::format("'{}': write slots=RANKS after a host", rest)};
  }
  return host;
}

}  // namespace

Result<std::vector<HostSlots>> parse_hosts(std::string_view text) {
  std::vector<HostSlots> hosts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    Result<HostSlots> host = parse_host(trimmed(text.substr(at, end - at)));
    if (!host.ok()) return host.error();
    hosts.push_back(std::move(host.value()));
    at = end + 1;
  }
  return hosts;
}

Result<std::vector<HostSlots>> parse_hostfile(std::string_view text) {
  std::vector<HostSlots> hosts;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    Result<HostSlots> host = parse_line(line);
    if (!host.ok()) return Error{fmt::format("line {}: {}", number, host.error().text)};
    hosts.push_back(std::move(host.value()));
  }
  if (hosts.empty()) return Error{"names no host"};
  return hosts;
}

Result<std::vector<HostSlots>> read_hostfile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad()) {
    return Error{fmt::format("--hostfile {}: cannot be read", path)};
  }
  Result<std::vector<HostSlots>> hosts = parse_hostfile(text.str());
  if (!hosts.ok()) return Error{fmt::format("--hostfile {}: {}", path, hosts.error().text)};
  return hosts;
}

std::uint32_t slots_of(const std::vector<HostSlots>& hosts) {
  std::uint32_t all = 0;
  for (const HostSlots& host : hosts) all += host.ranks;
  return all;
}

Result<std::vector<HostSlots>> place_ranks(const std::vector<HostSlots>& hosts,
                                           std::uint32_t ranks) {
  if (ranks > slots_of(hosts)) {
    return Error{
        fmt::format("the hosts have room for {} ranks and not for {}: write name:ranks "
                    "for those that take more than one",
                    slots_of(hosts), ranks)};
  }
  std::vector<HostSlots> placed;
  for (const HostSlots& host : hosts) {
    if (ranks == 0) break;
    placed.push_back({host.name, std::min(host.ranks, ranks)});
    ranks -= placed.back().ranks;
  }
  return placed;
}

}  // namespace fairlead::run
