// The studies of the Sun Fire Link paper.
#pragma once
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kFirelinkPlatforms[] = {{"firelink", "Sun Fire Link"}};

// figure1: what its topologies carry, by programs on the low-level interface alone; figure6: pairs
// that load the links at once. quick: fewer sizes.
std::vector<Study> firelink_paper_studies(bool quick);

}  // namespace fairlead::tools
