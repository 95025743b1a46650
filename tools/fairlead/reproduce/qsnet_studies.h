// The studies of the Quadrics paper.
#pragma once
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kQsnetPlatforms[] = {{"qsnet-es40", "QsNet"}};

// figure8: puts one way; figures 9 to 12: barriers, and how they are spread, with traffic of
// another job and without; figures 13 to 16: broadcasts. Bars and curves over numbers of nodes are
// tables here. quick: fewer nodes, sizes and repetitions, and neither
// figure15 nor figure16.
std::vector<Study> qsnet_paper_studies(bool quick);

}  // namespace fairlead::tools
