// Ranks on a modelled machine of RDMA engines: fibers of this thread, in virtual time.
#pragma once
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/run/world.h"

namespace fairlead::run {

// Whether the network interfaces of a platform's file are RDMA engines. Error: as load_platform().
Result<bool> has_rdma(const std::string& platform_file);

// What --lci may say there.
inline std::vector<std::string> rdma_implementation_names() { return {"direct"}; }

// `options.on`: the file. Error: the job could not be started as asked.
Result<RunReport> run_rdma_world(const WorldOptions& options, const Body& body);

}  // namespace fairlead::run
