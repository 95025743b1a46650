// Address ranges where this process has mapped segments of others: either their memory, or, where
// the path maps none, addresses that only copies may use. Another access to those ends the process
// with a text that names it.
#pragma once
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "fairlead/base/handle_table.h"
#include "fairlead/base/post.h"

namespace fairlead::sisci {

struct Region {
  std::byte* at = nullptr;   // whole pages
  std::size_t size = 0;      // whole pages
  std::uint64_t offset = 0;  // of the segment, where it begins
  bool is_memory = false;    // loads and stores reach the owner
  bool read_only = false;
  Handle map = 0;        // handle
  Rank node = 0;         // for texts
  std::uint32_t id = 0;  // for texts
};

class Regions {
 public:
  // `current`: the running rank's, for the handler of faults; may return nullptr.
  using Current = const Regions* (*)();

  Regions(Rank self, Current current) : self_(self), current_(current) {}
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  // `memory`: another mapping of the owner's pages from wanted.offset on; nullptr: there is none.
  // wanted.at: where it has to be, replacing what is there; nullptr: anywhere. nullptr: the kernel
  // refuses. What it returns stays valid until it is removed.
  const Region* add(Region wanted, void* memory);
  void remove(const Region* region);
  // Stores reach nobody from now on; the addresses stay usable as they were.
  void cut_off(const Region* region);
  // The one that has [address, address + size); nullptr: none.
  const Region* find(const volatile void* address, std::size_t size) const;

  // From the handler of SIGSEGV. False: not an address of ours.
  bool explain_fault(const void* address) const;
  const struct sigaction& former_action() const { return former_; }

 private:
  void watch_faults();

  Rank self_;
  Current current_;
  std::map<std::uintptr_t, Region> by_address_;
  bool watches_ = false;
  struct sigaction former_ {};
};

}  // namespace fairlead::sisci
