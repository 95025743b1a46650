// Teams, active sets, and the contexts that belong to teams.
#include <fmt/format.h>

#include <algorithm>

#include "fairlead/systems/shmem/api.h"

namespace fairlead::shmem {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd | 4;  // not the world's
}

shmem_team_config_t config_of(const shmem_team_config_t* config, long mask) {
  return config != nullptr && (mask & SHMEM_TEAM_NUM_CONTEXTS) != 0 ? *config
                                                                    : shmem_team_config_t{};
}

}  // namespace

Team* Core::make_team(std::uint64_t name, std::vector<int> pes) {
  const lci::PortTurn turn(port_);
  const std::vector<unsigned> members(pes.begin(), pes.end());
  ELAN_GROUP* const group =
      elan_groupMake(base_->state, name, static_cast<unsigned>(members.size()), members.data());
  if (group == nullptr) return nullptr;
  Team team;
  team.group = group;
  team.self = static_cast<int>(elan_groupSelf(group));
  team.pes = std::move(pes);
  team.name = name;
  return teams_.add(std::move(team));
}

void Core::destroy_team(Team& team, const char* call) {
  std::vector<shmem_ctx*> its;
  const lci::PortTurn turn(port_);
  contexts_.for_each_alive([&](shmem_ctx& ctx) {
    if (ctx.team == &team) its.push_back(&ctx);
  });
  for (shmem_ctx* const ctx : its) destroy_ctx(*ctx, call);
  elan_groupFree(team.group);
  teams_.retire(team);
}

Team* Core::team_of(shmem_team_t team, const char* call) {
  if (team == SHMEM_TEAM_INVALID) return nullptr;
  if (team == SHMEM_TEAM_WORLD) return &world_;
  if (team == SHMEM_TEAM_SHARED) {
    const lci::PortTurn turn(port_);
    if (shared_ == nullptr) {
      std::vector<int> pes;
      const Peer here = context_.node_of(static_cast<Rank>(self()));
      for (int pe = 0; pe < size(); ++pe) {
        if (context_.node_of(static_cast<Rank>(pe)) == here) pes.push_back(pe);
      }
      shared_ = make_team(2, std::move(pes));
    }
    return shared_;
  }
  if (!team->alive) fail(call, "the team was destroyed");
  return team;
}

// Nobody here uses pSync, and early reuse by one PE while others are in the call before does no
// harm. What the standard demands of it on entry is looked at all the same: elsewhere such a
// program hangs, or is right by luck.
void Core::check_sync(const ActiveSet& set, const char* call) {
  for (int i = 0; set.sync != nullptr && i < SHMEM_SYNC_SIZE; ++i) {
    if (set.sync[i] == SHMEM_SYNC_VALUE) continue;
    fail(call, fmt::format("pSync at {} has {} at [{}], not SHMEM_SYNC_VALUE: it was never set, or "
                           "is used for something else",
                           static_cast<const void*>(set.sync), set.sync[i], i));
  }
}

Team& Core::set_of(const ActiveSet& set, const char* call) {
  check_sync(set, call);
  const lci::PortTurn turn(port_);
  Team*& team = sets_[{set.start, set.log_stride, set.size}];
  if (team != nullptr) return *team;
  std::vector<int> pes;
  if (set.start >= 0 && set.log_stride >= 0 && set.log_stride < 31) {
    for (std::int64_t i = 0; i < set.size; ++i) {
      const std::int64_t pe = set.start + (i << set.log_stride);
      if (pe >= size()) break;
      pes.push_back(static_cast<int>(pe));
    }
  }
  if (pes.empty() || static_cast<int>(pes.size()) != set.size) {
    fail(call, fmt::format("PE_start {}, logPE_stride {}, PE_size {} are not within {} PEs",
                           set.start, set.log_stride, set.size, size()));
  }
  const std::uint64_t name = mix(mix(mix(3, static_cast<std::uint64_t>(set.start)),
                                     static_cast<std::uint64_t>(set.log_stride)),
                                 static_cast<std::uint64_t>(set.size));
  team = make_team(name, std::move(pes));
  if (team == nullptr) fail(call, fmt::format("PE {} is not in the active set", self()));
  return *team;
}

int team_my_pe(shmem_team_t team, const char* call) {
  const Team* const its = running(call).team_of(team, call);
  return its == nullptr ? -1 : its->self;
}
int team_n_pes(shmem_team_t team, const char* call) {
  const Team* const its = running(call).team_of(team, call);
  return its == nullptr ? -1 : static_cast<int>(its->pes.size());
}
int team_get_config(shmem_team_t team, long mask, shmem_team_config_t* config, const char* call) {
  const Team* const its = running(call).team_of(team, call);
  if (its == nullptr || (mask != 0 && config == nullptr)) return -1;
  if ((mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) *config = its->config;
  return 0;
}
int team_translate_pe(shmem_team_t from, int pe, shmem_team_t to, const char* call) {
  Core& core = running(call);
  const Team* const source = core.team_of(from, call);
  const Team* const dest = core.team_of(to, call);
  if (source == nullptr || dest == nullptr || pe < 0 ||
      pe >= static_cast<int>(source->pes.size())) {
    return -1;
  }
  const int world = source->pes[static_cast<std::size_t>(pe)];
  const auto at = std::find(dest->pes.begin(), dest->pes.end(), world);
  return at == dest->pes.end() ? -1 : static_cast<int>(at - dest->pes.begin());
}

int team_split_strided(shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* made,
                       const char* call) {
  Core& core = running(call);
  *made = SHMEM_TEAM_INVALID;
  Team* const from = core.team_of(parent, call);
  if (from == nullptr) return -1;
  std::uint64_t name = mix(from->name, ++from->splits);
  const auto members = static_cast<std::int64_t>(from->pes.size());
  const std::int64_t last = start + (std::int64_t{size} - 1) * stride;
  // A team of one may have any stride; others reach distinct members.
  const bool fits = size >= 1 && start >= 0 && start < members && last >= 0 && last < members &&
                    (stride != 0 || size == 1);
  if (!fits) return -1;
  std::vector<int> pes;
  for (int i = 0; i < size; ++i) {
    pes.push_back(from->pes[static_cast<std::size_t>(start + i * stride)]);
  }
  for (const std::int64_t part : {std::int64_t{start}, std::int64_t{stride}, std::int64_t{size}}) {
    name = mix(name, static_cast<std::uint64_t>(part));
  }
  if (Team* const team = core.make_team(name, std::move(pes)); team != nullptr) {
    team->config = config_of(config, mask);
    *made = team;
  }
  return 0;
}

int team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t* xconfig, long xmask,
                  shmem_team_t* xteam, const shmem_team_config_t* yconfig, long ymask,
                  shmem_team_t* yteam, const char* call) {
  Core& core = running(call);
  *xteam = *yteam = SHMEM_TEAM_INVALID;
  const Team* const from = core.team_of(parent, call);
  if (from == nullptr || xrange < 1) return -1;
  const int all = static_cast<int>(from->pes.size());
  const int width = std::min(xrange, all);
  const int self = from->self;
  const int row = self / width * width;
  const int column = self % width;
  if (team_split_strided(parent, row, 1, std::min(width, all - row), xconfig, xmask, xteam, call) !=
      0) {
    return -1;
  }
  return team_split_strided(parent, column, width, (all - column + width - 1) / width, yconfig,
                            ymask, yteam, call);
}

void* team_ptr(shmem_team_t team, const void* dest, int pe, const char* call) {
  Core& core = running(call);
  const Team* const its = core.team_of(team, call);
  if (its == nullptr || pe < 0 || pe >= static_cast<int>(its->pes.size())) return nullptr;
  return core.pointer(dest, its->pes[static_cast<std::size_t>(pe)]);
}

void team_destroy(shmem_team_t team, const char* call) {
  Core& core = running(call);
  Team* const its = core.team_of(team, call);
  if (its == nullptr) return;
  if (team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED) {
    core.fail(call, "the library's own teams stay");
  }
  core.destroy_team(*its, call);
}

int create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx, const char* call) {
  Core& core = running(call);
  *ctx = SHMEM_CTX_INVALID;
  Team* const its = core.team_of(team, call);
  if (its == nullptr) return -1;
  *ctx = core.make_ctx(*its, options);
  return 0;
}
void destroy_ctx(shmem_ctx_t ctx, const char* call) {
  if (ctx == SHMEM_CTX_INVALID) return;
  Core& core = running(call);
  if (ctx == SHMEM_CTX_DEFAULT) core.fail(call, "the default context stays");
  core.destroy_ctx(core.ctx_of(ctx, call), call);
}
int team_of_ctx(shmem_ctx_t ctx, shmem_team_t* team, const char* call) {
  Core& core = running(call);
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return -1;
  Team* const its = core.ctx_of(ctx, call).team;
  *team = its == &core.world() ? SHMEM_TEAM_WORLD : its;
  return 0;
}

void session_start(shmem_ctx_t ctx, long /*options*/, const shmem_session_config_t* config,
                   long config_mask, const char* call) {
  Core& core = running(call);
  (void)core.ctx_of(ctx, call);
  if ((config_mask & ~SHMEM_SESSION_TOTAL_OPS) != 0) {
    core.fail(call, fmt::format("config_mask {:#x} names fields that the configuration has not",
                                static_cast<unsigned long>(config_mask)));
  }
  if (config_mask != 0 && config == nullptr) {
    core.fail(call, "config_mask names fields of a configuration, and there is none");
  }
}
void session_stop(shmem_ctx_t ctx, const char* call) { (void)running(call).ctx_of(ctx, call); }

}  // namespace fairlead::shmem
