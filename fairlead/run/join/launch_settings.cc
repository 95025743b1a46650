#include "fairlead/run/join/launch_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "fairlead/base/numbers.h"
#include "fairlead/fabric/udp/seal.h"
#include "fairlead/run/welcome.h"

namespace fairlead::run {
namespace {

constexpr const char kAuth[] = "FAIRLEAD_AUTH";
constexpr const char kFaults[] = "FAIRLEAD_FAULTS";
constexpr const char kSeed[] = "FAIRLEAD_SEED";
constexpr const char kLci[] = "FAIRLEAD_LCI";
constexpr const char kMtu[] = "FAIRLEAD_MTU";
constexpr const char kNetwork[] = "FAIRLEAD_NETWORK";
constexpr const char kProvider[] = "FAIRLEAD_PROVIDER";
constexpr const char kKeepAlive[] = "FAIRLEAD_KEEPALIVE";
constexpr const char* kKnown[] = {kAuth, kFaults,  kSeed,     kLci,
                                  kMtu,  kNetwork, kProvider, kKeepAlive};

// Options of `fairlead run` that have no meaning where another launcher starts the ranks.
struct Refused {
  const char* name;
  const char* instead;
};
constexpr Refused kRefused[] = {
    {"FAIRLEAD_ENCRYPT", "set FAIRLEAD_AUTH=encrypt"},
    {"FAIRLEAD_ON", "FAIRLEAD_NETWORK says how nodes are joined; models are `fairlead run`'s"},
    {"FAIRLEAD_BIND", "placing the ranks is the launcher's"},
    {"FAIRLEAD_TIMEOUT", "ending the job is the launcher's"},
    {"FAIRLEAD_TRACE", "run the job by `fairlead run --trace`"},
    {"FAIRLEAD_STATS", "run the job by `fairlead run --stats`"},
    {"FAIRLEAD_RANKS_PER_NODE", "a node's ranks share one NI engine"},
    {"FAIRLEAD_COMPUTE", "it is of modelled platforms; run the job by `fairlead run`"},
    {"FAIRLEAD_TOPOLOGY", "it is of modelled platforms; run the job by `fairlead run`"},
    {"FAIRLEAD_SET", "it is of modelled platforms; run the job by `fairlead run`"},
};

Error wrong(const char* name, const std::string& value, std::string_view what) {
  return Error{fmt::format("{}={}: {}", name, value, what)};
}

}  // namespace

Result<LaunchSettings> LaunchSettings::of_environment() {
  for (const Refused& one : kRefused) {
    if (const char* value = std::getenv(one.name); value != nullptr && *value != '\0') {
      return wrong(one.name, value, fmt::format("not under this launcher: {}", one.instead));
    }
  }
  LaunchSettings made;
  for (const char* name : kKnown) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    if (std::string_view(value).find('\n') != std::string_view::npos) {
      return wrong(name, "...", "more than one line");
    }
    made.values_[name] = value;
  }
  return made;
}

Result<LaunchSettings> LaunchSettings::parse(std::string_view text) {
  LaunchSettings made;
  while (!text.empty()) {
    const std::size_t equals = text.find('=');
    const std::size_t end = text.find('\n');
    if (equals == std::string_view::npos || end == std::string_view::npos || equals > end) {
      return Error{"the job's settings are not what Fairlead publishes"};
    }
    made.values_[std::string(text.substr(0, equals))] = text.substr(equals + 1, end - equals - 1);
    text.remove_prefix(end + 1);
  }
  return made;
}

std::string LaunchSettings::text() const {
  std::string text;
  for (const auto& [name, value] : values_) text += fmt::format("{}={}\n", name, value);
  return text;
}

std::uint32_t LaunchSettings::digest() const {
  if (values_.empty()) return 0;
  std::uint32_t hash = 2'166'136'261;  // FNV-1a
  for (const char c : text()) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16'777'619;
  return std::max(hash, 1U);
}

Result<void> LaunchSettings::agree_with(const LaunchSettings& jobs, std::uint32_t rank) const {
  for (const auto& [name, value] : values_) {
    const std::string* theirs = jobs.find(name.c_str());
    if (theirs != nullptr && *theirs == value) continue;
    return Error{fmt::format(
        "rank {} has {}={}, and rank 0, whose settings are the job's, {}: give all ranks the same",
        rank, name, value, theirs == nullptr ? "has none" : fmt::format("has {}", *theirs))};
  }
  return {};
}

const std::string* LaunchSettings::find(const char* name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

Result<void> LaunchSettings::set(WorldOptions& options, Job& job) const {
  if (const std::string* name = find(kNetwork); name != nullptr) {
    if (!is_network(*name)) return wrong(kNetwork, *name, "unknown; valid: udp, ofi");
    job.network = *name == "ofi" ? Network::ofi : Network::udp;
  }
  if (const std::string* auth = find(kAuth); auth != nullptr) {
    if (!fabric::parse_auth(*auth).has_value()) {
      return wrong(kAuth, *auth, "unknown; valid: header, full, encrypt");
    }
    if (job.network == Network::ofi) {
      return wrong(kAuth, *auth, "what libfabric carries is not sealed: FAIRLEAD_NETWORK=udp");
    }
    options.auth = *auth;
  }
  if (const std::string* seed = find(kSeed); seed != nullptr) {
    const auto value = read_whole<std::uint64_t>(fmt::format("{}=", kSeed), *seed);
    if (!value.ok()) return value.error();
    options.seed = value.value();
  }
  if (const std::string* mtu = find(kMtu); mtu != nullptr) {
    const auto value = read_whole(fmt::format("{}=", kMtu), *mtu, kMtuRange);
    if (!value.ok()) return value.error();
    if (job.network == Network::ofi) return wrong(kMtu, *mtu, "it is of udp, and not of ofi");
    options.mtu = value.value();
  }
  if (const std::string* provider = find(kProvider); provider != nullptr) {
    // Without ofi it has no use and does no harm: sites set it for all jobs.
    options.provider = *provider;
  }
  if (const std::string* faults = find(kFaults); faults != nullptr) options.faults = *faults;
  if (const std::string* lci = find(kLci); lci != nullptr) options.lci = *lci;
  job.silence = seconds(kSilenceSeconds);
  if (const std::string* limit = find(kKeepAlive); limit != nullptr) {
    const auto value = whole_number<std::uint32_t>(*limit, {0, 86'400});
    if (!value.has_value()) {
      return wrong(kKeepAlive, *limit, "seconds, 1 to 86400, or 0: other nodes are not watched");
    }
    job.silence = *value == 0 ? kNever : seconds(*value);
  }
  return {};
}

Result<LaunchSettings::Job> LaunchSettings::job(const NodeMap& nodes) const {
  Job job;
  WorldOptions& options = job.options;
  options.ranks = nodes.ranks();
  options.several_nodes = nodes.count() > 1;
  if (Result<void> r = set(options, job); !r.ok()) return r.error();
  if (options.lci == "nirx") {
    if (job.network == Network::ofi) {
      return wrong(kLci, options.lci, "NI engines speak udp: FAIRLEAD_NETWORK=udp");
    }
    options.on = "udp";
    options.node_of = nodes.table();
  } else if (job.network == Network::ofi && options.several_nodes) {
    options.on = "ofi";
  }
  if (options.provider.size() >= Welcome::kProviderBytes) {
    return wrong(kProvider, options.provider, "too long");
  }
  if (Result<void> r = check_shm_options(options); !r.ok()) {
    return Error{fmt::format("{} (as {} and {} say)", r.error().text, kLci, kFaults)};
  }
  return job;
}

}  // namespace fairlead::run
