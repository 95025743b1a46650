// The studies of the Sun Fire Link paper.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kFirelinkPlatforms[] = {{"firelink", "Sun Fire Link"}};

// figure1: what its topologies carry, by stores and loads of remote memory. By MPI: table1, one
// pair; figure5 and figure6, pairs that load the links at once; table2 and figure7, collective
// operations; table3 and figure8, the NAS Parallel Benchmarks that there are. quick: fewer sizes.
std::vector<Study> firelink_paper_studies(bool quick);
std::vector<Study> firelink_mpi_studies(bool quick);  // those by MPI
// protocols, pipelining, late, pools, failure: what section 3 says of protocols and buffers.
std::vector<Study> firelink_protocol_studies(bool quick);

// --- What they measure.

// An MPI program of so many ranks, `per_node` of them on a node. `expected_s`: as Measurement's.
Measurement firelink_program(const char* name, std::uint32_t ranks, std::uint32_t per_node,
                             const std::vector<std::string>& arguments, double expected_s);
// `pairs` of so many pairs, half of the ranks on each node where there are two. `variables`: what
// the device is told.
Measurement firelink_pairs(std::uint32_t pairs, std::uint32_t per_node,
                           const std::vector<std::uint64_t>& sizes,
                           const std::vector<std::string>& variables = {});

}  // namespace fairlead::tools
