// TOML files as the library reads them: every error names file, line, key and reason.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"

// toml++ 3.3 asserts, or with NDEBUG assumes, what its parser does not ensure for every input (a
// key that begins with a stray character). A file must not end the program: make it an error.
namespace fairlead {
[[noreturn]] void toml_violated(const char* what);  // throws std::logic_error
}
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? void() : fairlead::toml_violated(#expr))
#include <toml++/toml.h>

namespace fairlead {

// "FILE:LINE: KEY: REASON".
Error toml_error(const std::string& file, std::uint32_t line, const std::string& key,
                 const std::string& reason);

Result<void> parse_toml(const std::string& file, toml::table& into);

// The number that `node`, at `path` of `file`, gives as { value = 2.1, source = "...", mark =
// "fitted" }; mark: measured, from paper, fitted or guessed. From least to most.
Result<double> marked_number(const std::string& file, const toml::node& node,
                             const std::string& path, double least, double most);

}  // namespace fairlead
