#include "fairlead/run/join/launch_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "fairlead/base/numbers.h"
#include "fairlead/run/option_table.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

// Beside those of the table of options that set something here.
constexpr const char kNetwork[] = "FAIRLEAD_NETWORK";
constexpr const char kKeepAlive[] = "FAIRLEAD_KEEPALIVE";

// Variables of no option in the table that have no meaning where another launcher starts the ranks.
struct Refused {
  const char* name;
  const char* instead;
};
constexpr Refused kRefused[] = {
    {"FAIRLEAD_ENCRYPT", "set FAIRLEAD_AUTH=encrypt"},
    {"FAIRLEAD_TRACE", "run the job by `fairlead run --trace`"},
    {"FAIRLEAD_STATS", "run the job by `fairlead run --stats`"},
};

bool is_set(const char* value) { return value != nullptr && *value != '\0'; }

bool is_taken(const JobOption& option) { return option.environment == OptionVariable::sets; }

Error wrong(std::string_view name, const std::string& value, std::string_view what) {
  return Error{fmt::format("{}={}: {}", name, value, what)};
}

}  // namespace

Result<LaunchSettings> LaunchSettings::of_environment() {
  const auto refused = [](const std::string& name, const char* value, const char* instead) {
    return wrong(name, value, fmt::format("not under this launcher: {}", instead));
  };
  for (const Refused& one : kRefused) {
    const char* const value = std::getenv(one.name);
    if (is_set(value)) return refused(one.name, value, one.instead);
  }
  std::vector<std::string> names{kNetwork, kKeepAlive};
  for (const JobOption& option : job_options()) {
    if (option.environment == OptionVariable::ignored) continue;
    names.push_back(option.variable());
    if (is_taken(option)) continue;
    const char* const value = std::getenv(names.back().c_str());
    if (is_set(value)) return refused(names.back(), value, option.instead);
  }
  LaunchSettings made;
  for (const std::string& name : names) {
    const char* const value = std::getenv(name.c_str());
    if (!is_set(value)) continue;
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
  for (const JobOption& option : job_options()) {
    if (!is_taken(option)) continue;
    const std::string name = option.variable();
    const std::string* const text = find(name.c_str());
    if (text == nullptr) continue;
    if (Result<void> r = read_option(option, name + "=", *text, options); !r.ok()) return r;
    // That of libfabric has no use elsewhere, and does no harm: sites set it for all jobs.
    if (job.network == Network::ofi && option.places == kOnUdp) {
      return wrong(name, *text, "it is of udp, and not of ofi, whose messages are not sealed");
    }
  }
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
      return wrong(job_option("lci").variable(), options.lci,
                   "NI engines speak udp: FAIRLEAD_NETWORK=udp");
    }
    options.on = "udp";
    options.node_of = nodes.table();
  } else if (job.network == Network::ofi && options.several_nodes) {
    options.on = "ofi";
  }
  if (options.provider.size() >= Welcome::kProviderBytes) {
    return wrong(job_option("provider").variable(), options.provider, "too long");
  }
  if (Result<void> r = check_shm_options(options); !r.ok()) {
    return Error{fmt::format("{} (as {} and {} say)", r.error().text, job_option("lci").variable(),
                             job_option("faults").variable())};
  }
  return job;
}

}  // namespace fairlead::run
