// Address ranges where this process has mapped imported segments: either memory of the exporter,
// or, where the path maps none, addresses that only block stores and loads may use. Another access
// to those ends the process with a text that names it.
#pragma once
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "fairlead/base/handle_table.h"
#include "fairlead/base/post.h"
#include "fairlead/systems/rsm/rsmapi.h"

namespace fairlead::rsm {

struct Mapping {
  std::byte* at = nullptr;
  std::size_t size = 0;
  std::uint64_t offset = 0;     // of the segment, where it begins
  bool is_memory = false;       // loads and stores reach the exporter
  Handle importer = 0;          // of the import
  rsm_node_id_t node = 0;       // for texts
  rsm_memseg_id_t segment = 0;  // for texts
};

class Mappings {
 public:
  // `current`: the running rank's, for the handler of faults; may return nullptr.
  using Current = const Mappings* (*)();

  Mappings(Rank self, Current current) : self_(self), current_(current) {}
  ~Mappings();
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;

  // `memory`: another mapping of the exporter's pages from wanted.offset on; nullptr: there is
  // none. wanted.at: where it has to be, replacing what is there; nullptr: anywhere. nullptr: the
  // kernel refuses. The answer stays valid until it is removed.
  const Mapping* add(Mapping wanted, void* memory, rsm_permission_t permissions);
  void remove(const Mapping* mapping);
  // It is no memory any more: whatever touches it ends the process.
  void cut_off(const Mapping* mapping);
  // The one that has [address, address + size); nullptr: none.
  const Mapping* find(const void* address, std::size_t size) const;

  // From the handler of SIGSEGV. False: not an address of ours.
  bool explain_fault(const void* address) const;
  const struct sigaction& former_action() const { return former_; }

 private:
  void watch_faults();

  Rank self_;
  Current current_;
  std::map<std::uintptr_t, Mapping> by_address_;
  bool watches_ = false;
  struct sigaction former_ {};
};

}  // namespace fairlead::rsm
