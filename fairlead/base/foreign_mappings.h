// Address ranges where a process has mapped memory of others (imported segments of RSM, maps of
// SISCI): either the owner's memory, or, where the path maps none, addresses that only copies may
// use. Another access to those ends the process with a text that names it.
#pragma once
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "fairlead/base/handle_table.h"
#include "fairlead/base/post.h"

namespace fairlead {

struct ForeignMapping {
  std::byte* at = nullptr;   // whole pages
  std::size_t size = 0;      // whole pages
  std::uint64_t offset = 0;  // of the segment, where it begins
  bool is_memory = false;    // loads and stores reach the owner
  bool read_only = false;    // loads only
  Handle user = 0;           // the system's, of what it belongs to
  std::uint32_t node = 0;    // for texts, as the next
  std::uint32_t segment = 0;
};

// The mappings of one rank by one programming system. Thread: the rank's.
class ForeignMappings {
 public:
  struct System {
    const char* name;   // "RSM"
    const char* reach;  // what may touch a range that is no memory, and how: "rsm_block_store ..."
    // The running rank's, for the handler of faults; may return nullptr.
    const ForeignMappings* (*current)();
  };

  // `system` outlives it. Ranks that are fibers share the process's handler.
  ForeignMappings(Rank self, const System& system) : self_(self), system_(system) {}
  // Unmaps what is left.
  ~ForeignMappings();
  ForeignMappings(const ForeignMappings&) = delete;
  ForeignMappings& operator=(const ForeignMappings&) = delete;

  // `memory`: another mapping of the owner's pages from wanted.offset on; nullptr: there is none.
  // wanted.at: where it has to be, replacing what is there; nullptr: anywhere. Returns nullptr
  // where the kernel refuses; what it returns else stays valid until it is removed.
  const ForeignMapping* add(ForeignMapping wanted, void* memory);
  void remove(const ForeignMapping* mapping);
  // Stores to it reach nobody from now on; its addresses stay usable as they were.
  void cut_off(const ForeignMapping* mapping);
  // It is no memory any more: whatever touches it ends the process.
  void forbid(const ForeignMapping* mapping);
  // The one that has [address, address + size); nullptr: none.
  const ForeignMapping* find(const volatile void* address, std::size_t size) const;

  // From the handler of SIGSEGV: says what is wrong. False: not an address of this rank's.
  bool explain_fault(const void* address) const;

 private:
  void watch_faults();

  Rank self_;
  const System& system_;
  std::map<std::uintptr_t, ForeignMapping> by_address_;
  bool watches_ = false;
};

}  // namespace fairlead
