// What the program of a modelled rank says about its own time: the computing it declares, and how
// often it looks at a clock. Fixed-width: a rank that is a process counts in memory it shares with
// the simulator.
#pragma once
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/fabric/model/host_times.h"
#include "fairlead/hw/host_cost.h"

namespace fairlead::fabric::model {

struct WorkTally {
  std::uint64_t declarations = 0;  // calls of fairlead_work
  Ps computing{};                  // what they take on a host that has its memory for itself
  std::uint64_t clock_reads = 0;   // of MPI_Wtime and the system's clocks
  HostTimes host{};                // what the library of a process times by itself

  void declare(const hw::HostRates& rates, const hw::HostWork& work) {
    ++declarations;
    computing += hw::work_time(rates, work);
  }
};

}  // namespace fairlead::fabric::model
