// The studies of the Sun Fire Link paper.
#pragma once
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kFirelinkPlatforms[] = {{"firelink", "Sun Fire Link"}};

// table1: MPI of one pair, on a node and between two; figure1: what its topologies carry, by stores
// and loads of remote memory; figure6: MPI of pairs that load the links at once. quick: fewer
// sizes.
std::vector<Study> firelink_paper_studies(bool quick);

}  // namespace fairlead::tools
