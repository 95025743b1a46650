// The studies of the Split-C paper.
#pragma once
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kSplitcPlatforms[] = {{"millennium", "Millennium"}};

// table6-1: LogP of Active Messages over VIA; figure6-1: their one-way time beside VIA's, and what
// they stream; figure6-2: the LogP signature; figure6-3: Split-C's primitives. quick: fewer sizes
// and rounds.
std::vector<Study> splitc_paper_studies(bool quick);

}  // namespace fairlead::tools
