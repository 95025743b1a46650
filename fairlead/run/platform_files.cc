#include "fairlead/run/platform_files.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fairlead::run {
namespace {

namespace fs = std::filesystem;

// A directory of platforms also holds tables that platforms refer to; a platform says what network
// it has.
bool describes_a_machine(const fs::path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('[')) return false;
    if (line.starts_with("topology")) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> platform_directories() {
  std::vector<std::string> directories;
  if (const char* given = std::getenv("FAIRLEAD_PLATFORMS"); given != nullptr) {
    const std::string list = given;
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t end = std::min(list.find(':', at), list.size());
      if (end > at) directories.push_back(list.substr(at, end - at));
      at = end + 1;
    }
  }
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&platform_directories), &library) != 0) {
    std::error_code ignored;
    const fs::path folder = fs::absolute(library.dli_fname, ignored).parent_path();
    // lib/ or lib/<architecture>/
    for (const char* up : {"..", "../.."}) {
      const fs::path candidate = folder / up / "share/fairlead/platforms";
      if (fs::is_directory(candidate, ignored)) {
        directories.push_back(fs::weakly_canonical(candidate, ignored).string());
        break;
      }
    }
  }
  return directories;
}

std::vector<PlatformFile> list_platforms() {
  std::vector<PlatformFile> found;
  for (const std::string& directory : platform_directories()) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
      if (entry.path().extension() != ".toml" || !describes_a_machine(entry.path())) continue;
      const std::string name = entry.path().stem().string();
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const PlatformFile& file) { return file.name == name; });
      if (!known) found.push_back({name, entry.path().string()});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const PlatformFile& a, const PlatformFile& b) { return a.name < b.name; });
  return found;
}

Result<std::string> find_platform(const std::string& on) {
  if (on.find('/') != std::string::npos || on.ends_with(".toml")) {
    std::error_code ignored;
    if (fs::is_regular_file(on, ignored)) return on;
    return Error{fmt::format("--on {}: no such platform file", on)};
  }
  std::string valid = "shm, udp, ofi, loop";
  for (const PlatformFile& file : list_platforms()) {
    if (file.name == on) return file.path;
    valid += ", " + file.name;
  }
  return Error{fmt::format("--on {}: unknown; valid: {}, or the path of a platform file (.toml)",
                           on, valid)};
}

}  // namespace fairlead::run
