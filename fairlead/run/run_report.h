// What became of a job: how each rank ended, what was counted, and of a modelled job its time.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/units.h"

namespace fairlead::fabric::model {
struct Figures;
}

namespace fairlead::run {

// What a modelled rank's node did, summed over the run.
struct NodeBusy {
  Ps library{};  // host processor within the Port's calls; 0 where ranks are processes
  Ps ni{};       // NI processor
  Ps bus{};      // I/O bus
};

struct RankEnd {
  int exit_code = 0;
  int signal = 0;      // that ended the rank; 0: none
  std::string reason;  // empty when it ended in order
  PortCounters counters;
  NodeBusy busy;  // model only
};

// What one resource of a modelled machine took of the critical path: the chain of causes, each the
// last that the next one waited for, that ends with the run.
struct PathShare {
  const char* resource;  // what WorldOptions::faster calls it; "timer" cannot be made faster
  const char* title;
  Ps time;
};

// What the programs of a modelled job say about their own time.
struct ProgramTime {
  std::uint64_t declarations = 0;  // of computing, all ranks together
  Ps computing{};                  // what they declare, the same
  std::uint64_t clock_reads = 0;   // of the rank that looked at a clock most often
  std::uint32_t clock_reader = 0;  // that rank

  template <class Tally>
  void add(std::uint32_t rank, const Tally& tally) {
    declarations += tally.declarations;
    computing += tally.computing;
    if (tally.clock_reads <= clock_reads) return;
    clock_reads = tally.clock_reads;
    clock_reader = rank;
  }
};

struct RunReport {
  std::vector<RankEnd> ranks;
  int exit_code = 0;                     // of the first failing rank; 0: all well
  std::string failure;                   // names rank and cause; empty: none
  Ps virtual_time{};                     // model only
  std::uint64_t events = 0;              // model only
  std::uint64_t digest = 0;              // model only
  PortCounters counters;                 // summed over the ranks
  std::vector<PathShare> critical_path;  // every resource; the sum is virtual_time
  bool modelled = false;
  ProgramTime program;  // model only
  // What was counted inside the machine; nullptr: not asked for, or its kind counts nothing.
  std::shared_ptr<const fabric::model::Figures> figures;
  std::string platform_changes;  // what the options set otherwise than the platform's file
};

// Exit code of a job that outlived WorldOptions::timeout, as timeout(1) has it.
constexpr int kTimeoutExitCode = 124;

}  // namespace fairlead::run
