// The trace of a job of several processes: each rank writes a part of its own, the command joins
// them at the end. A killed rank's part is kept as far as it was written.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/base/trace.h"
#include "fairlead/lci/port.h"

namespace fairlead::run {

// A folder for the parts beside the trace that will be written to `path`; what ranks are told.
// Empty path: none. Error: it cannot be made, or its name is too long to be told.
Result<std::string> make_trace_folder(const std::string& path);
// The file of a rank, or of the simulator.
std::string rank_part(const std::string& folder, Rank rank);
std::string model_part(const std::string& folder);
// Joins the parts of `ranks` ranks into the trace beside the folder, which is removed. Without a
// folder, or where it is gone already, nothing. Error: the trace cannot be written.
Result<void> join_trace_parts(const std::string& folder, std::uint32_t ranks);

// Removes the folder with what is in it.
void drop_trace_parts(const std::string& folder);

// A rank's port drawn on its line of its part.
struct TracedRank {
  std::unique_ptr<TraceWriter> writer;  // both nullptr: no trace is asked for
  std::unique_ptr<lci::Port> port;
};
// Empty folder: no trace. `inner` outlives it. `name` of the node in the picture; empty: a modelled
// rank, whose node the simulator's part names.
Result<TracedRank> trace_rank(const std::string& folder, lci::Port& inner, const std::string& name);

}  // namespace fairlead::run
