// The studies of the NEWGENDSM paper.
#pragma once
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kDsmPlatforms[] = {{"infiniband-pcix", "PCI-X"},
                                                  {"infiniband-pcie", "PCI-Express"}};

// figure2: RDMA writes and reads on both buses, with the abstract that the platforms are held to;
// table2: the time of a page fetch, to 64 nodes; apps: times of applications, to 16 nodes, and of
// half and double the size at 4, which the paper has in figures that the text at hand lacks. quick:
// fewer sizes and pages, no more than 4 nodes, and no apps.
std::vector<Study> dsm_paper_studies(bool quick);

}  // namespace fairlead::tools
