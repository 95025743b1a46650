// The studies of the LCI paper.
#pragma once
#include <string>
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kLciPlatforms[] = {{"myrinet-ppro", "PPro"}, {"myrinet-p3", "P3"}};

// "I-sdma" for "sdma"; GM is a system of its own.
std::string paper_name(const std::string& lci);

// Table1, table3 .. table7, figure5 .. figure9, figure11 .. figure16, in this order. quick: fewer
// sizes, and without table7 and figures 11 to 16, whose applications take minutes each.
std::vector<Study> lci_paper_studies(bool quick);
std::vector<Study> lci_paper_tables();
std::vector<Study> lci_paper_systems();
// Table VII and the figures of section 7: bars in the paper, tables here.
std::vector<Study> lci_paper_applications();
std::vector<Study> lci_paper_figures(bool quick);

}  // namespace fairlead::tools
