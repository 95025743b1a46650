// Single values of a study as a table: one row for each value, or a matrix where their names make
// one, so that implementations and platforms stand beside each other.
#pragma once
#include <string>
#include <vector>

#include "tools/fairlead/json.h"

namespace fairlead::tools {

// A CELL of the results document: "10.97 (11.1, -1.2 %)", "10.97 predicted", or why there is no
// number. What is in brackets stays in one line. `unit`: shown behind the number; empty: none is.
std::string cell_html(const Json& cell, const std::string& unit = "");

// The cells of a figure; empty: there are none. `platforms`: the labels that begin the names of
// columns ("PPro" of "PPro I-sdma"), which then are the matrix's columns.
std::string cells_html(const Json& cells, const std::vector<std::string>& platforms);

}  // namespace fairlead::tools
