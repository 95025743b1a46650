// The studies of the Sun Fire Link paper.
#pragma once
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kFirelinkPlatforms[] = {{"firelink", "Sun Fire Link"}};

// figure1: what its topologies carry, by stores and loads of remote memory. By MPI: table1, one
// pair; figure5 and figure6, pairs that load the links at once; table2 and figure7, collective
// operations; table3 and figure8, the NAS Parallel Benchmarks that there are. quick: fewer sizes.
std::vector<Study> firelink_paper_studies(bool quick);
std::vector<Study> firelink_mpi_studies(bool quick);  // those by MPI

}  // namespace fairlead::tools
