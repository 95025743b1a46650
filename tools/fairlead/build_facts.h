// What this binary was built from and how.
#pragma once

namespace fairlead::tools {

extern const char* const kVersion;
extern const char* const kCommit;  // "unknown" outside a git checkout
extern const char* const kBuildType;
extern const char* const kCompiler;

}  // namespace fairlead::tools
