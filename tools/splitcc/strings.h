// Strings that go on over the end of a line, which the GNU C of Split-C's time took and that of
// today refuses. Before the preprocessor, so that nothing in a string is taken for its business.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::splitcc {

// The source with each end of a line inside a string written as \n and a backslash before it:
// lines stay where they were. Left as they are: comments, directives, and a string that is not
// closed before the next directive or the end, which is no string for any compiler. nullopt: there
// is nothing to write otherwise. Thread-safe.
std::optional<std::string> join_lines_of_strings(std::string_view source);

}  // namespace fairlead::splitcc
