#include "fairlead/systems/sisci/regions.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "fairlead/base/pages.h"
#include "fairlead/base/pass_signal_on.h"

namespace fairlead::sisci {
namespace {

// All ranks of this process have one.
Regions::Current current_regions = nullptr;

void on_fault(int signal, siginfo_t* info, void* machine) {
  const int error = errno;
  const Regions* const regions = current_regions();
  const struct sigaction none {};
  if (regions == nullptr || regions->explain_fault(info->si_addr)) {
    pass_signal_on(none, signal, info, machine);
  } else {
    pass_signal_on(regions->former_action(), signal, info, machine);
  }
  errno = error;
}

int protection(const Region& region) {
  return region.read_only ? PROT_READ : PROT_READ | PROT_WRITE;
}

}  // namespace

Regions::~Regions() {
  for (const auto& [address, region] : by_address_) munmap(region.at, region.size);
  if (watches_) sigaction(SIGSEGV, &former_, nullptr);
}

const Region* Regions::add(Region wanted, void* memory) {
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

void Regions::remove(const Region* region) {
  munmap(region->at, region->size);
  by_address_.erase(reinterpret_cast<std::uintptr_t>(region->at));
}

void Regions::cut_off(const Region* region) {
  if (!region->is_memory) return;
  (void)!mmap(region->at, region->size, protection(*region),
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

const Region* Regions::find(const volatile void* address, std::size_t size) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = by_address_.upper_bound(at);
  if (next == by_address_.begin()) return nullptr;
  const auto& [first, region] = *--next;
  const std::uintptr_t within = at - first;
  return within < region.size && size <= region.size - within ? &region : nullptr;
}

bool Regions::explain_fault(const void* address) const {
  const Region* const region = find(address, 1);
  if (region == nullptr) return false;
  const auto within = static_cast<std::size_t>(static_cast<const std::byte*>(address) - region->at);
  char text[256];
  const int length = std::snprintf(
      text, sizeof text, "rank %u: SISCI: an access to offset %zu of segment 0x%x of node %u: %s\n",
      self_, static_cast<std::size_t>(region->offset) + within, region->id, region->node,
      region->is_memory ? "it is mapped to be read only"
                        : "no memory is mapped here, only SCIMemCpy, SCIMemCopy, "
                          "SCIMemWrite and SCITransferBlock reach it");
  if (length > 0) (void)!::write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  return true;
}

// Ranks that are fibers share the process's handler: it is the first one's.
void Regions::watch_faults() {
  if (watches_) return;
  sigaction(SIGSEGV, nullptr, &former_);
  if ((former_.sa_flags & SA_SIGINFO) != 0 && former_.sa_sigaction == on_fault) {
    former_ = {};
    return;
  }
  current_regions = current_;
  struct sigaction mine {};
  mine.sa_sigaction = on_fault;
  mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigemptyset(&mine.sa_mask);
  sigaction(SIGSEGV, &mine, &former_);
  watches_ = true;
}

}  // namespace fairlead::sisci
