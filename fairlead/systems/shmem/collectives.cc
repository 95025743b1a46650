// What the PEs of a team or an active set do together: barriers, broadcasts and reductions are
// Elanlib's; where every PE has a part for every other, they put it straight into place, and a
// barrier says that all is there.
#include <fmt/format.h>

#include <cstring>

#include "fairlead/systems/shmem/api.h"

namespace fairlead::shmem {
namespace {

std::byte* at(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }
const std::byte* at(const void* base, std::size_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}

// Calls visit(place in the team, its PE), the next one first, so that not all turn to the same.
template <class Visit>
void for_each_other(const Team& team, Visit&& visit) {
  const std::size_t n = team.pes.size();
  for (std::size_t i = 1; i < n; ++i) {
    const std::size_t place = (static_cast<std::size_t>(team.self) + i) % n;
    visit(place, team.pes[place]);
  }
}

void all_is_there(Core& core, Team& team, const char* call) {
  core.quiet(call);
  core.sync(team);
}

void broadcast_in(Core& core, Team& team, void* dest, const void* source, std::size_t n, int root,
                  const char* call) {
  if (root < 0 || root >= static_cast<int>(team.pes.size())) {
    core.fail(call, fmt::format("PE_root {} of {} PEs", root, team.pes.size()));
  }
  // The root's is read only.
  void* const data = team.self == root ? const_cast<void*>(source) : dest;
  elan_bcast(team.group, data, n, static_cast<unsigned>(root), ELAN_BCAST_SYSTEM);
}

void fcollect_in(Core& core, Team& team, void* dest, const void* source, std::size_t n,
                 std::size_t offset, const char* call) {
  if (n > 0) {
    for_each_other(
        team, [&](std::size_t, int pe) { core.put(at(dest, offset), source, n, pe, false, call); });
    std::memmove(at(dest, offset), source, n);
  }
  all_is_there(core, team, call);
}

void collect_in(Core& core, Team& team, void* dest, const void* source, std::size_t n,
                const char* call) {
  std::vector<std::uint64_t> sizes(team.pes.size());
  sizes[static_cast<std::size_t>(team.self)] = n;
  reduce_in(team, sizes.data(), sizes.data(), 8, sizes.size(),
            function_of<Reduce::sum, std::uint64_t>(), call);
  std::size_t offset = 0;
  for (int i = 0; i < team.self; ++i) offset += sizes[static_cast<std::size_t>(i)];
  fcollect_in(core, team, dest, source, n, offset, call);
}

void alltoall_in(Core& core, Team& team, void* dest, const void* source, std::size_t n,
                 const char* call) {
  const auto self = static_cast<std::size_t>(team.self);
  if (n > 0) {
    for_each_other(team, [&](std::size_t place, int pe) {
      core.put(at(dest, self * n), at(source, place * n), n, pe, false, call);
    });
    std::memmove(at(dest, self * n), at(source, self * n), n);
  }
  all_is_there(core, team, call);
}

void alltoalls_in(Core& core, Team& team, void* dest, const void* source, std::ptrdiff_t dst,
                  std::ptrdiff_t sst, std::size_t n, std::size_t bytes, const char* call) {
  if (n > 0 && (dst < 1 || sst < 1)) core.fail(call, fmt::format("strides {} and {}", dst, sst));
  const auto self = static_cast<std::size_t>(team.self);
  const std::size_t to = self * n * static_cast<std::size_t>(dst) * bytes;
  const auto from = [&](std::size_t place) {
    return at(source, place * n * static_cast<std::size_t>(sst) * bytes);
  };
  const auto put_to = [&](std::size_t place, int pe) {
    put_strided(SHMEM_CTX_DEFAULT, at(dest, to), from(place), dst, sst, n, bytes, pe, call);
  };
  if (n > 0) {
    for_each_other(team, put_to);
    put_to(self, core.self());
  }
  all_is_there(core, team, call);
}

}  // namespace

// The network's own barrier, where there is one.
void Core::sync(Team& team) { elan_hgsync(team.group); }

void reduce_in(Team& team, void* dest, const void* source, std::size_t bytes, std::size_t count,
               ELAN_REDUCE_FN fn, const char*) {
  elan_reduce(team.group, source, dest, bytes, count, fn, nullptr,
              ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL);
}

void barrier_all(const char* call) {
  Core& core = running(call);
  core.quiet(call);
  core.sync(core.world());
}
void sync_all(const char* call) {
  Core& core = running(call);
  core.sync(core.world());
}
int team_sync(shmem_team_t team, const char* call) {
  Core& core = running(call);
  Team* const its = core.team_of(team, call);
  if (its == nullptr) return -1;
  core.sync(*its);
  return 0;
}
void barrier(const ActiveSet& set, const char* call) {
  Core& core = running(call);
  Team& team = core.set_of(set, call);
  core.quiet(call);
  core.sync(team);
}
void sync_set(const ActiveSet& set, const char* call) {
  Core& core = running(call);
  core.sync(core.set_of(set, call));
}

int broadcast(shmem_team_t team, void* dest, const void* source, std::size_t n, int root,
              const char* call) {
  Core& core = running(call);
  Team* const its = core.team_of(team, call);
  if (its == nullptr) return -1;
  broadcast_in(core, *its, dest, source, n, root, call);
  if (its->self == root && n > 0) std::memmove(dest, source, n);
  return 0;
}
void broadcast_set(void* dest, const void* source, std::size_t n, int root, const ActiveSet& set,
                   const char* call) {
  Core& core = running(call);
  broadcast_in(core, core.set_of(set, call), dest, source, n, root, call);
}

int collect(shmem_team_t team, void* dest, const void* source, std::size_t n, const char* call) {
  Core& core = running(call);
  Team* const its = core.team_of(team, call);
  if (its == nullptr) return -1;
  collect_in(core, *its, dest, source, n, call);
  return 0;
}
void collect_set(void* dest, const void* source, std::size_t n, const ActiveSet& set,
                 const char* call) {
  Core& core = running(call);
  collect_in(core, core.set_of(set, call), dest, source, n, call);
}

int fcollect(shmem_team_t team, void* dest, const void* source, std::size_t n, const char* call) {
  Core& core = running(call);
  Team* const its = core.team_of(team, call);
  if (its == nullptr) return -1;
  fcollect_in(core, *its, dest, source, n, static_cast<std::size_t>(its->self) * n, call);
  return 0;
}
void fcollect_set(void* dest, const void* source, std::size_t n, const ActiveSet& set,
                  const char* call) {
  Core& core = running(call);
  Team& team = core.set_of(set, call);
  fcollect_in(core, team, dest, source, n, static_cast<std::size_t>(team.self) * n, call);
}

int alltoall(shmem_team_t team, void* dest, const void* source, std::size_t n, const char* call) {
  Core& core = running(call);
  Team* const its = core.team_of(team, call);
  if (its == nullptr) return -1;
  alltoall_in(core, *its, dest, source, n, call);
  return 0;
}
void alltoall_set(void* dest, const void* source, std::size_t n, const ActiveSet& set,
                  const char* call) {
  Core& core = running(call);
  alltoall_in(core, core.set_of(set, call), dest, source, n, call);
}

int alltoalls(shmem_team_t team, void* dest, const void* source, std::ptrdiff_t dst,
              std::ptrdiff_t sst, std::size_t n, std::size_t bytes, const char* call) {
  Core& core = running(call);
  Team* const its = core.team_of(team, call);
  if (its == nullptr) return -1;
  alltoalls_in(core, *its, dest, source, dst, sst, n, bytes, call);
  return 0;
}
void alltoalls_set(void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                   std::size_t n, std::size_t bytes, const ActiveSet& set, const char* call) {
  Core& core = running(call);
  alltoalls_in(core, core.set_of(set, call), dest, source, dst, sst, n, bytes, call);
}

}  // namespace fairlead::shmem
