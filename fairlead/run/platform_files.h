// Where the descriptions of modelled machines are.
#pragma once
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::run {

struct PlatformFile {
  std::string name;  // what --on takes
  std::string path;
};

// $FAIRLEAD_PLATFORMS (directories separated by colons), then share/fairlead/platforms beside the
// library, installed or built.
std::vector<std::string> platform_directories();

// Every platform of those directories by name; the first directory that has a name wins.
std::vector<PlatformFile> list_platforms();

// `on` is a name, or the path of a file (it has a slash or ends in .toml). Error: lists what --on
// takes.
Result<std::string> find_platform(const std::string& on);

}  // namespace fairlead::run
