#include "fairlead/run/job/binding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>

#include "fairlead/base/numbers.h"

namespace fairlead::run {
namespace {

constexpr std::uint32_t kProcessorsMax = 65536;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;
struct FreeTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, FreeTopology>;

// hwloc without its plugins, which find devices and graphics: loading them, and the libraries they
// bring, takes longer than all the rest. It asks the environment where they are.
class WithoutPlugins {
 public:
  WithoutPlugins() : ours_(std::getenv(kPath) == nullptr) {
    if (ours_) ::setenv(kPath, "", 0);
  }
  ~WithoutPlugins() {
    if (ours_) ::unsetenv(kPath);
  }
  WithoutPlugins(const WithoutPlugins&) = delete;
  WithoutPlugins& operator=(const WithoutPlugins&) = delete;

 private:
  static constexpr const char* kPath = "HWLOC_PLUGINS_PATH";
  bool ours_;
};

// Packages, caches and cores only: below a millisecond on a small machine, where devices would cost
// 30.
Topology load_topology() {
  const WithoutPlugins without;
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

// No more of it than the processors of `allowed`.
Topology load_topology(const std::vector<std::uint32_t>& allowed) {
  Topology topology = load_topology();
  if (topology == nullptr) return nullptr;
  const Bitmap mine(hwloc_bitmap_alloc());
  for (const std::uint32_t processor : allowed) hwloc_bitmap_set(mine.get(), processor);
  if (hwloc_topology_restrict(topology.get(), mine.get(), 0) != 0) return nullptr;
  return topology;
}

// One core each, as far apart as the machine allows, neighbours near each other. Empty: hwloc does
// not know this machine.
std::vector<std::uint32_t> spread(std::uint32_t ranks, const std::vector<std::uint32_t>& allowed) {
  const Topology topology = load_topology(allowed);
  if (topology == nullptr) return {};
  hwloc_obj_t root = hwloc_get_root_obj(topology.get());
  std::vector<hwloc_bitmap_t> raw(ranks, nullptr);
  const int distributed = hwloc_distrib(topology.get(), &root, 1, raw.data(), ranks, INT_MAX, 0);
  std::vector<Bitmap> sets(raw.begin(), raw.end());
  if (distributed != 0) return {};
  std::vector<std::uint32_t> processors;
  for (const Bitmap& set : sets) {
    const int first = set == nullptr ? -1 : hwloc_bitmap_first(set.get());
    if (first < 0) return {};
    processors.push_back(static_cast<std::uint32_t>(first));
  }
  return processors;
}

WaitPlan plan_for(std::uint32_t ranks, std::uint32_t processors) {
  return ranks <= processors ? wait_plan_dedicated() : wait_plan_oversubscribed();
}

bool contains(const std::vector<std::uint32_t>& all, std::uint32_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

Result<Binding> bind_to_list(const std::string& list, std::uint32_t ranks,
                             const CpuLimits& limits) {
  const Result<std::vector<std::uint32_t>> parsed = parse_cpu_list(list);
  if (!parsed.ok()) return parsed.error();
  const std::vector<std::uint32_t>& given = parsed.value();
  for (const std::uint32_t processor : given) {
    if (contains(limits.allowed, processor)) continue;
    return Error{fmt::format("--bind {}: processor {} is not this job's to use; it may use {}",
                             list, processor, fmt::join(limits.allowed, ","))};
  }
  Binding binding;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    binding.processors.push_back(given[rank % given.size()]);
  }
  std::vector<std::uint32_t> distinct = binding.processors;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  binding.wait =
      plan_for(ranks, std::min(static_cast<std::uint32_t>(distinct.size()), limits.usable));
  return binding;
}

}  // namespace

Result<Binding> choose_binding(const std::string& how, std::uint32_t ranks, const CpuLimits& limits,
                               std::uint32_t engines) {
  if (engines > 0) {
    Result<Binding> all = choose_binding(how, ranks + engines, limits);
    if (!all.ok() || all.value().processors.empty()) return all;
    std::vector<std::uint32_t>& processors = all.value().processors;
    all.value().engines.assign(processors.begin() + ranks, processors.end());
    processors.resize(ranks);
    return all;
  }
  if (how != "none" && how != "auto") return bind_to_list(how, ranks, limits);
  Binding binding;
  binding.wait = plan_for(ranks, limits.usable);
  if (how == "none" || ranks > limits.usable) return binding;
  // Distinct processors or none: two ranks on one would be worse than no binding.
  std::vector<std::uint32_t> processors = spread(ranks, limits.allowed);
  std::vector<std::uint32_t> sorted = processors;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) {
    binding.processors = std::move(processors);
  }
  return binding;
}

Result<Binding> choose_model_binding(const std::string& how, std::uint32_t ranks,
                                     const CpuLimits& limits) {
  if (how != "none" && how != "auto") return bind_to_list(how, ranks, limits);
  Binding binding;
  binding.wait = wait_plan_oversubscribed();
  const int here = how == "auto" ? ::sched_getcpu() : -1;
  if (here >= 0) binding.processors.assign(ranks, static_cast<std::uint32_t>(here));
  return binding;
}

Result<std::vector<std::uint32_t>> parse_cpu_list(const std::string& text) {
  const Error wrong{fmt::format(
      "--bind {}: not a list of processors; write auto, none or a list such as 0,2-3", text)};
  std::vector<std::uint32_t> processors;
  std::string_view rest = text;
  const auto number = [&rest](std::uint32_t& value) {
    return take_whole(rest, value) && value < kProcessorsMax;
  };
  const auto next_is = [&rest](char mark) {
    if (!rest.starts_with(mark)) return false;
    rest.remove_prefix(1);
    return true;
  };
  for (;;) {
    std::uint32_t first = 0;
    if (!number(first)) return wrong;
    std::uint32_t last = first;
    if (next_is('-') && (!number(last) || last < first)) return wrong;
    for (std::uint32_t one = first; one <= last; ++one) processors.push_back(one);
    if (rest.empty()) return processors;
    if (!next_is(',')) return wrong;
  }
}

void bind_to(std::uint32_t processor) {
  const std::size_t bytes = CPU_ALLOC_SIZE(processor + 1);
  cpu_set_t* mask = CPU_ALLOC(processor + 1);
  CPU_ZERO_S(bytes, mask);
  CPU_SET_S(processor, bytes, mask);
  (void)::sched_setaffinity(0, bytes, mask);
  CPU_FREE(mask);
}

std::vector<HardwareKind> hardware_kinds() {
  const Topology topology = load_topology();
  const Bitmap mine(hwloc_bitmap_alloc());
  if (topology == nullptr ||
      hwloc_get_cpubind(topology.get(), mine.get(), HWLOC_CPUBIND_THREAD) != 0) {
    return {};
  }
  std::vector<HardwareKind> kinds;
  for (const hwloc_obj_type_t type :
       {HWLOC_OBJ_MACHINE, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_L3CACHE,
        HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_CORE, HWLOC_OBJ_PU}) {
    hwloc_obj_t one = nullptr;
    bool any = false;
    bool restricted = false;
    while ((one = hwloc_get_next_obj_by_type(topology.get(), type, one)) != nullptr) {
      any = true;
      restricted |= hwloc_bitmap_isincluded(mine.get(), one->cpuset) != 0;
    }
    if (any) kinds.push_back({hwloc_obj_type_string(type), restricted});
  }
  return kinds;
}

}  // namespace fairlead::run
