#include "tools/fairlead/packet_counts.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

struct Count {
  std::string name;
  std::uint64_t value;
};

std::vector<Count> drops_of(const PortCounters& counters) {
  constexpr std::string_view kEnd = "_dropped";
  std::vector<Count> drops;
  for_each_counter(counters, [&](std::string_view name, std::uint64_t value) {
    if (!name.ends_with(kEnd)) return;
    drops.push_back({std::string(name.substr(0, name.size() - kEnd.size())), value});
  });
  return drops;
}

std::vector<Count> types_of(const PortCounters& counters) {
  return {{"data", counters.packets_sent},
          {"bytes", counters.bytes_sent},
          {"multicasts", counters.multicasts_sent},
          {"multicasts_forwarded", counters.multicasts_forwarded},
          {"acks_explicit", counters.acks_sent},
          {"acks_piggybacked", counters.acks_piggybacked},
          {"retransmissions", counters.retransmissions},
          {"fetch_adds", counters.fetch_adds_served}};
}

}  // namespace

Json packets_json(const PortCounters& counters) {
  Json json;
  for (const Count& one : types_of(counters)) json[one.name] = one.value;
  json["received"] = {{"data", counters.packets_received},
                      {"bytes", counters.bytes_received},
                      {"multicasts", counters.multicasts_received},
                      {"acks", counters.acks_received}};
  json["drops"] = Json::object();
  for (const Count& one : drops_of(counters)) json["drops"][one.name] = one.value;
  return json;
}

std::string packets_text(const PortCounters& counters) {
  Table table({"packets", "count", "a data packet"});
  const double data = static_cast<double>(counters.packets_sent + counters.multicasts_sent);
  const auto add = [&](const std::string& name, std::uint64_t value) {
    if (value == 0) return;
    table.add({name, fmt::format("{}", value),
               data == 0 ? "-" : show_number(static_cast<double>(value) / data)});
  };
  for (const Count& one : types_of(counters)) add(one.name, one.value);
  for (const Count& one : drops_of(counters)) add("dropped: " + one.name, one.value);
  return table.text();
}

}  // namespace fairlead::tools
