// What tells the runtime that the program wants a page that is not here, and which pages it wrote.
// One interface, by the means of the system (uffd_engine.cc, mprotect_engine.cc), or by the
// program's own calls (checked_engine.cc).
//
// A page is out (any access ends in Core's fault handler) or in: readable, and writes to it are
// remembered until collect(). All are out at first.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/systems/dsm/dsm.h"
#include "fairlead/systems/dsm/memory.h"

namespace fairlead::dsm {

class FaultEngine {
 public:
  virtual ~FaultEngine() = default;

  virtual const char* name() const = 0;
  // Accesses end in a signal.
  virtual bool uses_signals() const { return true; }
  // Takes pages [first, first + count) in, unwritten; their content is what the alias has.
  // Async-signal-safe.
  virtual void admit(PageId first, PageId count) = 0;
  // As above, one page that the program is about to write: it may at once, without a fault, and
  // collect() will name it. Async-signal-safe.
  virtual void admit_written(PageId page) = 0;
  // Puts pages [first, first + count) out.
  virtual void expel(PageId first, PageId count) = 0;
  // An access to a page that is in has faulted: a write, or one to a page that the kernel or the
  // engine itself took away. True: a write, as far as is known, which collect() will name.
  // Async-signal-safe.
  virtual bool fault_inside(PageId page) = 0;
  // The program is about to access a page that is in by a system call, which no signal tells of.
  virtual void reach(PageId) {}
  // The program is about to write a page that is in, itself or by a system call, which no signal
  // tells of. True: collect() will name the page, written or not.
  virtual bool mark_written(PageId page) = 0;
  // Appends the pages that were written since they were admitted or last collected; they are
  // unwritten from now on.
  virtual void collect(std::vector<PageId>& written) = 0;
};

// `memory` outlives it. Error: what the system refused.
Result<std::unique_ptr<FaultEngine>> make_uffd_engine(const Memory& memory);
// `mappings`: the kernel's, into which the heap may be cut; some 512 more for a moment.
Result<std::unique_ptr<FaultEngine>> make_mprotect_engine(const Memory& memory,
                                                          std::size_t mappings);

std::unique_ptr<FaultEngine> make_checked_engine(const Memory& memory);

// The engine that `kind` asks for; automatic takes one that reports each first write to
// fault_inside() where that is wanted. `why` gets the reason where automatic took the second
// choice.
Result<std::unique_ptr<FaultEngine>> make_engine(EngineKind kind, const Memory& memory,
                                                 bool first_writes, std::string& why);

}  // namespace fairlead::dsm
