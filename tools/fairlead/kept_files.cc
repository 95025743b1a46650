#include "tools/fairlead/kept_files.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "fairlead/run/platform_files.h"
#include "tools/fairlead/subprocess.h"

namespace fairlead::tools {

namespace {

namespace fs = std::filesystem;

// The value of `steps = "FILE"`, or nothing.
std::string steps_file_of(const std::string& text) {
  const std::size_t key = text.find("\nsteps");
  const std::size_t begin = key == std::string::npos ? key : text.find('"', key);
  const std::size_t end = begin == std::string::npos ? begin : text.find('"', begin + 1);
  return end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
}

}  // namespace

// FNV-1a.
std::uint64_t hash_of(const std::string& text, std::uint64_t start) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = start;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

std::uint64_t build_hash() {
  static const std::uint64_t kHash = [] {
    std::uint64_t hash = hash_of(file_text(own_path()));
    Dl_info library{};
    if (dladdr(reinterpret_cast<const void*>(&run::list_platforms), &library) != 0) {
      hash = hash_of(file_text(library.dli_fname), hash);
    }
    return hash;
  }();
  return kHash;
}

std::uint64_t program_hash(const std::string& file) {
  // Some hundred measurements of a few programs: their files and libraries are read once.
  static std::map<std::string, std::uint64_t> known;
  if (const auto found = known.find(file); found != known.end()) return found->second;
  const fs::path folder = fs::path(file).parent_path();
  std::vector<std::string> files = {file};
  std::error_code ignored;
  for (const char* libraries : {"lib", "lib64", "lib/x86_64-linux-gnu"}) {
    for (const auto& one : fs::directory_iterator(folder / ".." / libraries, ignored)) {
      const std::string name = one.path().filename().string();
      if (name.starts_with("libfairlead_") || name.starts_with("libmpi_abi.so")) {
        files.push_back(one.path().string());
      }
    }
  }
  std::sort(files.begin() + 1, files.end());
  std::uint64_t hash = hash_of("");
  for (const std::string& one : files) hash = hash_of(file_text(one), hash);
  known.emplace(file, hash);
  return hash;
}

std::uint64_t platform_hash(const std::string& file) {
  const std::string text = file_text(file);
  if (text.empty()) return 0;
  const fs::path folder = fs::path(file).parent_path();
  const std::string steps = steps_file_of(text);  // of a network interface with firmware
  const std::uint64_t machine =
      steps.empty() ? hash_of(text) : hash_of(file_text((folder / steps).string()), hash_of(text));
  return hash_of(file_text((folder / "layers.toml").string()), machine);
}

Result<KeptFiles> KeptFiles::open(const std::string& name) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (cache != nullptr && *cache != '\0') {
    folder = cache;
  } else if (home != nullptr && *home != '\0') {
    folder = fs::path(home) / ".cache";
  } else {
    return Error{"neither XDG_CACHE_HOME nor HOME is set"};
  }
  folder /= fs::path("fairlead") / name;
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return Error{fmt::format("{} ({})", folder.string(), code.message())};
  return KeptFiles(folder.string());
}

std::string KeptFiles::path_of(const std::string& key) const {
  return fmt::format("{}/{:016x}.json", folder_, hash_of(key));
}

std::string KeptFiles::find(const std::string& key) const { return file_text(path_of(key)); }

void KeptFiles::keep(const std::string& key, const std::string& content) const {
  const std::string path = path_of(key);
  const std::string part = fmt::format("{}.{}", path, getpid());
  std::error_code code;
  {
    std::ofstream file(part);
    file << content;
    if (!file.flush()) {
      fs::remove(part, code);
      return;
    }
  }
  fs::rename(part, path, code);
}

}  // namespace fairlead::tools
