// The head of a report: how good the predictions are, in one paragraph and one table.
#pragma once
#include <string>

#include "tools/fairlead/json.h"

namespace fairlead::tools {

// Counts the cells of a results document that have a published value: those within 5 and within 8
// %, those outside by name; and the statements that do not hold. HTML.
std::string summary_html(const Json& document);

// "Figure 5", "Table III": what the paper calls a study, from its id.
std::string name_of_study(const std::string& paper, const std::string& id);

}  // namespace fairlead::tools
