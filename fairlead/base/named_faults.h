// Says which call of a library met memory that its program may not touch: an address where nothing
// is mapped, or a page that may only be read. It costs nothing before that happens: the call is
// found on the stack of whoever fails, by the name that the library exports it under.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"

namespace fairlead {

class NamedFaults {
 public:
  struct System {
    const char* name;     // "OpenSHMEM"
    const char* process;  // what a rank is there: "PE"
    const char* prefix;   // of its calls: "shmem_"; a 'p' in front of it is left out
    const void* code;     // anything in the library that has them
    // The rank that calls now; false: there is none.
    bool (*caller)(Rank* rank);
  };

  // While it lives, SIGSEGV and SIGBUS within such a call (in the library, in this one or in the C
  // library on its behalf) that nobody mends who had them before write a line to the standard
  // error, and then end the process as they would have. Faults of the program's own code are not
  // told, nor those in functions of its that the library calls. `system` outlives it; kMost systems
  // at a time, of any number of ranks.
  explicit NamedFaults(const System& system);
  ~NamedFaults();
  NamedFaults(const NamedFaults&) = delete;
  NamedFaults& operator=(const NamedFaults&) = delete;

  static constexpr unsigned kMost = 4;

 private:
  const System& system_;
};

}  // namespace fairlead
