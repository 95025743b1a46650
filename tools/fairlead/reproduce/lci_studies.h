// The studies of the LCI paper.
#pragma once
#include <string>
#include <vector>

#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

inline constexpr PaperPlatform kLciPlatforms[] = {{"myrinet-ppro", "PPro"}, {"myrinet-p3", "P3"}};

// "I-sdma" for "sdma"; GM is a system of its own.
std::string paper_name(const std::string& lci);

// What the paper says in words in a section ("5.4"): every paragraph that speaks of a figure is a
// statement of it.
StatementPlan says(const std::string& text, const char* section, std::vector<Order> orders);

// Table1, table3 .. table7, figure5 .. figure9, interactions and alltoall, figure11 .. figure16.
// quick: fewer sizes, and without table7 and figures 11 to 16, whose applications take minutes
// each.
std::vector<Study> lci_paper_studies(bool quick);
std::vector<Study> lci_paper_tables();
std::vector<Study> lci_paper_systems();
// Table VII and the figures of section 7: bars in the paper, tables here.
std::vector<Study> lci_paper_applications();
std::vector<Study> lci_paper_figures(bool quick);
// Sections 5.5 and 7.1: what the paper says of combinations without a table or figure.
std::vector<Study> lci_paper_interactions();

}  // namespace fairlead::tools
