#include "fairlead/run/wire/welcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "fairlead/fabric/shm/layout.h"
#include "fairlead/lci/endpoint/real_endpoint.h"
#include "fairlead/run/machine/host_address.h"
#include "fairlead/run/option_table.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/wire/network.h"

namespace fairlead::run {
namespace {
Result<void> check_fits(const std::string& text, std::size_t field_bytes, const char* what) {
  if (text.size() < field_bytes) return {};
  return Error{
      fmt::format("{} has {} characters; at most {} fit", what, text.size(), field_bytes - 1)};
}
}  // namespace

Result<void> check_placed_options(const WorldOptions& options) {
  if (Result<void> r = check_options(options); !r.ok()) return r;
  if (Result<void> r = check_fits(options.provider, Welcome::kProviderBytes, "the provider");
      !r.ok()) {
    return r;
  }
  const std::size_t rails = address_list(options.address).size();
  if (rails > RankCard::kRailsMax) {
    return Error{fmt::format("--address {}: a rank has at most {} rails", options.address,
                             RankCard::kRailsMax)};
  }
  if (options.ranks_per_node != 0 && !has_engines(options) && !has_memory_hosts(options) &&
      !is_modelled(options.on)) {
    return Error{
        "--ranks-per-node says how many ranks share a node of a modelled platform, an NI engine "
        "or, with --memory, a host: try --on myrinet-p3, or --on udp --lci nirx"};
  }
  if (Result<void> r = check_fits(options.memory, Welcome::kPathBytes, "--memory"); !r.ok()) {
    return r;
  }
  return check_fits(options.address, Welcome::kAddressBytes, "the address");
}

Result<void> check_real_faults(const WorldOptions& options) {
  const Result<fabric::FaultPlan> plan = fabric::parse_fault_plan(options.faults, options.seed);
  if (!plan.ok()) return plan.error();
  if (Result<void> r = check_kills(plan.value(), options.ranks); !r.ok()) return r;
  return fabric::check_links(plan.value(), options.ranks, false);
}

Result<void> check_shm_options(const WorldOptions& options) {
  if (options.ranks == 0 || options.ranks > fabric::kShmRanksMax) {
    return Error{fmt::format("{} ranks: shared memory carries 1 to {}", options.ranks,
                             fabric::kShmRanksMax)};
  }
  if (Result<void> r = check_real_faults(options); !r.ok()) return r;
  if (Result<bool> r = choose_hrx(options); !r.ok()) return r.error();
  if (Result<void> fits = check_fits(options.faults, Welcome::kFaultsBytes, "the fault plan");
      !fits.ok()) {
    return fits;
  }
  return check_fits(options.trace_path, Welcome::kPathBytes, "the trace's path");
}

fabric::ShmJobOptions memory_of(const WorldOptions& options, std::uint64_t nonce) {
  const MemoryFile file = memory_file(options);
  return {.ranks = options.ranks,
          .region_bytes = region_bytes(options),
          .nonce = nonce,
          .nodes = nodes_of(options),
          .file = file.software ? std::string() : file.path,
          .hosts = has_memory_hosts(options) && !file.software};
}

Result<bool> choose_hrx(const WorldOptions& options) {
  const Result<fabric::FaultPlan> plan = fabric::parse_fault_plan(options.faults, options.seed);
  if (!plan.ok()) return plan.error();
  if (has_engines(options)) return false;
  if (options.lci == lci::kRawImplementation && options.several_nodes) {
    return Error{"--lci raw is for the ranks of one host (--on udp)"};
  }
  return lci::choose_hrx(options.lci, plan.value(), (places_of(options) & kOnUdp) != 0,
                         options.on.c_str());
}

std::optional<fabric::FaultPlan> fault_plan_of(const std::string& faults, std::uint64_t seed) {
  if (faults.empty()) return std::nullopt;
  Result<fabric::FaultPlan> plan = fabric::parse_fault_plan(faults, seed);
  return plan.value();
}

Welcome make_welcome(const WorldOptions& options, const JobGround& ground, const WaitPlan& plan,
                     std::uint32_t rank) {
  auto welcome = make_message<Welcome>(rank);
  welcome.ranks = options.ranks;
  welcome.world = static_cast<std::uint16_t>(ground.world);
  welcome.compute = static_cast<std::uint16_t>(options.compute);
  welcome.nonce = ground.nonce;
  welcome.epoch_ps = ground.epoch.count;
  welcome.seed = options.seed;
  welcome.wait_spins = plan.spins;
  welcome.wait_pauses = plan.pauses;
  welcome.wait_yield_ps = plan.yield_for.count;
  welcome.wait_sleep_ps = plan.sleep_max.count;
  std::copy(ground.key.begin(), ground.key.end(), welcome.key);
  welcome.auth = static_cast<std::uint32_t>(fabric::parse_auth(options.auth).value());
  welcome.mtu = options.mtu;
  welcome.rank_memory_bytes = rank_memory(options);
  welcome.near_first = ground.here.first;
  welcome.near_count = ground.here.count;
  const MemoryFile memory = memory_file(options);
  if (memory.software && !options.several_nodes && options.ranks_per_node != 0) {
    // As if they had a host of their own.
    const std::uint32_t each = options.ranks_per_node;
    welcome.near_first = rank / each * each;
    welcome.near_count = std::min(each, options.ranks - welcome.near_first);
  }
  welcome.network = static_cast<std::uint32_t>(ground.network);
  welcome.engines = has_engines(options) ? nodes_of(options).count() : 0;
  const bool fits =
      set_text(welcome.lci, options.lci) && set_text(welcome.address, options.address) &&
      set_text(welcome.provider, options.provider) && set_text(welcome.faults, options.faults) &&
      set_text(welcome.trace_path, options.trace_path) &&
      set_text(welcome.memory, memory.software ? memory.path : std::string());
  FAIRLEAD_CHECK(fits, "options were not checked");
  return welcome;
}

WaitPlan wait_plan_of(const Welcome& welcome) {
  return WaitPlan{welcome.wait_spins, welcome.wait_pauses, Ps{welcome.wait_yield_ps},
                  Ps{welcome.wait_sleep_ps}};
}

}  // namespace fairlead::run
