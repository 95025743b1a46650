// The words of a command line before the library that parses it gets them.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// The words as the library is to have them, the program's name first: `-np`, as every mpirun has
// it, is `-n` before the program, and a `--` right before the program is left out. Error: an
// option's value is empty, which the library takes for none, or an option follows `--`, or is one
// word with -h, as which the library takes -host.
Result<std::vector<std::string>> prepare_words(const CLI::App& app, std::vector<std::string> words);

// Whether the word behind an option is its value. nullptr: no.
bool takes_value(const CLI::Option* option);

}  // namespace fairlead::tools
