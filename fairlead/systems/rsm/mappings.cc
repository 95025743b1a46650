#include "fairlead/systems/rsm/mappings.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "fairlead/base/pages.h"
#include "fairlead/base/pass_signal_on.h"

namespace fairlead::rsm {
namespace {

// All ranks of this process have one.
Mappings::Current current_mappings = nullptr;

void on_fault(int signal, siginfo_t* info, void* machine) {
  const int error = errno;
  const Mappings* const mappings = current_mappings();
  const struct sigaction none {};
  if (mappings == nullptr || mappings->explain_fault(info->si_addr)) {
    pass_signal_on(none, signal, info, machine);
  } else {
    pass_signal_on(mappings->former_action(), signal, info, machine);
  }
  errno = error;
}

int protection(rsm_permission_t permissions) {
  // There is no memory that can be written and not read.
  return (permissions & RSM_PERM_WRITE) != 0 ? PROT_READ | PROT_WRITE : PROT_READ;
}

}  // namespace

Mappings::~Mappings() {
  for (const auto& [address, mapping] : by_address_) munmap(mapping.at, mapping.size);
  if (watches_) sigaction(SIGSEGV, &former_, nullptr);
}

const Mapping* Mappings::add(Mapping wanted, void* memory, rsm_permission_t permissions) {
  void* at = MAP_FAILED;
  if (memory != nullptr) {
    if (void* const again = map_again(memory, wanted.size, wanted.at); again != nullptr) at = again;
    if (at != MAP_FAILED && mprotect(at, wanted.size, protection(permissions)) != 0) {
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

void Mappings::remove(const Mapping* mapping) {
  munmap(mapping->at, mapping->size);
  by_address_.erase(reinterpret_cast<std::uintptr_t>(mapping->at));
}

void Mappings::cut_off(const Mapping* mapping) {
  (void)!mmap(mapping->at, mapping->size, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  by_address_[reinterpret_cast<std::uintptr_t>(mapping->at)].is_memory = false;
}

const Mapping* Mappings::find(const void* address, std::size_t size) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = by_address_.upper_bound(at);
  if (next == by_address_.begin()) return nullptr;
  const auto& [first, mapping] = *--next;
  const std::uintptr_t within = at - first;
  return within < mapping.size && size <= mapping.size - within ? &mapping : nullptr;
}

bool Mappings::explain_fault(const void* address) const {
  const Mapping* const mapping = find(address, 1);
  if (mapping == nullptr) return false;
  const auto within =
      static_cast<std::size_t>(static_cast<const std::byte*>(address) - mapping->at);
  char text[256];
  const int length = std::snprintf(
      text, sizeof text, "rank %u: RSM: an access to offset %zu of segment 0x%x of node %u: %s\n",
      self_, mapping->offset + within, mapping->segment, mapping->node,
      mapping->is_memory ? "it is mapped to be read only"
                         : "no memory is mapped here, only rsm_block_store and rsm_block_load, "
                           "rsm_memseg_import_put and get reach it, while it is connected");
  if (length > 0) (void)!::write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  return true;
}

// Ranks that are fibers share the process's handler: it is the first one's.
void Mappings::watch_faults() {
  if (watches_) return;
  sigaction(SIGSEGV, nullptr, &former_);
  if ((former_.sa_flags & SA_SIGINFO) != 0 && former_.sa_sigaction == on_fault) {
    former_ = {};
    return;
  }
  current_mappings = current_;
  struct sigaction mine {};
  mine.sa_sigaction = on_fault;
  mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigemptyset(&mine.sa_mask);
  sigaction(SIGSEGV, &mine, &former_);
  watches_ = true;
}

}  // namespace fairlead::rsm
