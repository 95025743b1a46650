// The report: one HTML page of a results document.
#pragma once
#include <string>

#include "fairlead/base/result.h"
#include "tools/fairlead/report/results_document.h"

namespace fairlead::tools {

// Draws the figures, and runs the document's platforms for the journey of a small message. Error:
// no gnuplot.
Result<std::string> report_page(const Json& document);

}  // namespace fairlead::tools
