#include "fairlead/base/foreign_mappings.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "fairlead/base/check.h"
#include "fairlead/base/pages.h"
#include "fairlead/base/pass_signal_on.h"

namespace fairlead {
namespace {

using System = ForeignMappings::System;

// The systems of this process that have mappings, and how many ranks of it have some by each.
struct Watched {
  const System* system = nullptr;
  std::size_t ranks = 0;
};
std::array<Watched, 4> watched;
struct sigaction former {};

void on_fault(int signal, siginfo_t* info, void* machine) {
  const int error = errno;
  const struct sigaction none {};
  bool explained = false;
  for (const Watched& one : watched) {
    if (one.ranks == 0) continue;
    const ForeignMappings* const mappings = one.system->current();
    explained = mappings != nullptr && mappings->explain_fault(info->si_addr);
    if (explained) break;
  }
  pass_signal_on(explained ? none : former, signal, info, machine);
  errno = error;
}

bool any_watched() {
  for (const Watched& one : watched) {
    if (one.ranks > 0) return true;
  }
  return false;
}

Watched& watched_of(const System& system) {
  for (Watched& one : watched) {
    if (one.ranks > 0 && one.system == &system) return one;
  }
  for (Watched& one : watched) {
    if (one.ranks == 0) return one;
  }
  FAIRLEAD_CHECK(false, "more than {} systems map memory of others", watched.size());
}

int protection(const ForeignMapping& mapping) {
  // There is no memory that can be written and not read.
  return mapping.read_only ? PROT_READ : PROT_READ | PROT_WRITE;
}

void replace(const ForeignMapping& mapping, int protection) {
  (void)!mmap(mapping.at, mapping.size, protection,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace

ForeignMappings::~ForeignMappings() {
  for (const auto& [address, mapping] : by_address_) munmap(mapping.at, mapping.size);
  if (!watches_) return;
  --watched_of(system_).ranks;
  if (!any_watched()) sigaction(SIGSEGV, &former, nullptr);
}

const ForeignMapping* ForeignMappings::add(ForeignMapping wanted, void* memory) {
  void* at = MAP_FAILED;
  if (memory != nullptr) {
    if (void* const again = map_again(memory, wanted.size, wanted.at); again != nullptr) at = again;
    if (at != MAP_FAILED && mprotect(at, wanted.size, protection(wanted)) != 0) {
      munmap(at, wanted.size);
      at = MAP_FAILED;
    }
  }
  wanted.is_memory = at != MAP_FAILED;
  if (at == MAP_FAILED) {
    const int fixed = wanted.at != nullptr ? MAP_FIXED : 0;
    at = mmap(wanted.at, wanted.size, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (at == MAP_FAILED) return nullptr;
  }
  watch_faults();
  wanted.at = static_cast<std::byte*>(at);
  return &(by_address_[reinterpret_cast<std::uintptr_t>(at)] = wanted);
}

void ForeignMappings::remove(const ForeignMapping* mapping) {
  munmap(mapping->at, mapping->size);
  by_address_.erase(reinterpret_cast<std::uintptr_t>(mapping->at));
}

void ForeignMappings::cut_off(const ForeignMapping* mapping) {
  if (mapping->is_memory) replace(*mapping, protection(*mapping));
}

void ForeignMappings::forbid(const ForeignMapping* mapping) {
  replace(*mapping, PROT_NONE);
  by_address_[reinterpret_cast<std::uintptr_t>(mapping->at)].is_memory = false;
}

const ForeignMapping* ForeignMappings::find(const volatile void* address, std::size_t size) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = by_address_.upper_bound(at);
  if (next == by_address_.begin()) return nullptr;
  const auto& [first, mapping] = *--next;
  const std::uintptr_t within = at - first;
  return within < mapping.size && size <= mapping.size - within ? &mapping : nullptr;
}

bool ForeignMappings::explain_fault(const void* address) const {
  const ForeignMapping* const mapping = find(address, 1);
  if (mapping == nullptr) return false;
  const auto within =
      static_cast<std::size_t>(static_cast<const std::byte*>(address) - mapping->at);
  char text[320];
  const int length = std::snprintf(
      text, sizeof text, "rank %u: %s: an access to offset %zu of segment 0x%x of node %u: %s%s\n",
      self_, system_.name, static_cast<std::size_t>(mapping->offset) + within, mapping->segment,
      mapping->node,
      mapping->is_memory ? "it is mapped to be read only" : "no memory is mapped here, only ",
      mapping->is_memory ? "" : system_.reach);
  if (length > 0) (void)!::write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  return true;
}

void ForeignMappings::watch_faults() {
  if (watches_) return;
  watches_ = true;
  const bool is_first = !any_watched();
  Watched& mine = watched_of(system_);
  mine.system = &system_;
  ++mine.ranks;
  if (!is_first) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &former);
}

}  // namespace fairlead
