// The studies of the Split-C paper.
#pragma once
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kSplitcPlatforms[] = {{"millennium", "Millennium"}, {"now", "NOW"}};

// table6-1: LogP of Active Messages over VIA; figure6-1: their one-way time beside VIA's, and what
// they stream; figure6-2: the LogP signature; figure6-3: Split-C's primitives; figure6-4: its bulk
// operations; figure6-5: applications. quick: fewer sizes, rounds and processors, smaller problems.
std::vector<Study> splitc_paper_studies(bool quick);

// Two of them.
Study splitc_figure6_4(bool quick);
Study splitc_figure6_5(bool quick);

}  // namespace fairlead::tools
