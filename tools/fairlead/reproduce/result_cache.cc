#include "tools/fairlead/reproduce/result_cache.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

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
  return hash;
}

std::uint64_t platform_hash(const std::string& file) {
  const std::string text = file_text(file);
  if (text.empty()) return 0;
  const fs::path folder = fs::path(file).parent_path();
  const std::uint64_t machine =
      hash_of(file_text((folder / steps_file_of(text)).string()), hash_of(text));
  return hash_of(file_text((folder / "layers.toml").string()), machine);
}

Result<ResultCache> ResultCache::open() {
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
  folder /= "fairlead/measurements";
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return Error{fmt::format("{} ({})", folder.string(), code.message())};
  return ResultCache(folder.string());
}

std::string ResultCache::path_of(const Measurement& measurement, std::uint64_t platform) const {
  std::string program;
  if (measurement.is_program()) {
    program = fmt::format(" {:016x}", program_hash(measurement.program_path()));
  }
  const std::string depends =
      fmt::format("{:016x} {:016x}{} {}", build_hash(), platform, program, measurement.text());
  return fmt::format("{}/{:016x}.json", folder_, hash_of(depends));
}

std::optional<Measured> ResultCache::find(const Measurement& measurement,
                                          std::uint64_t platform) const {
  const Result<Json> read = Json::parse(file_text(path_of(measurement, platform)));
  if (!read.ok() || text_at(read.value(), "command") != measurement.text()) return std::nullopt;
  const Json& json = read.value();
  Measured found;
  found.end = Measured::End::done;
  found.cached = true;
  found.wall_s = number_at(json, "wall_s").value_or(0);
  found.packets = part_at(json, "packets");
  for (const Json& line : part_at(json, "lines")) found.lines.push_back(line);
  return found.lines.empty() ? std::nullopt : std::optional(found);
}

void ResultCache::keep(const Measurement& measurement, std::uint64_t platform,
                       const Measured& measured) const {
  const Json json = {{"command", measurement.text()},
                     {"wall_s", measured.wall_s},
                     {"lines", measured.lines},
                     {"packets", measured.packets}};
  const std::string path = path_of(measurement, platform);
  const std::string part = fmt::format("{}.{}", path, getpid());
  std::error_code code;
  {
    std::ofstream file(part);
    file << json.dump() << '\n';
    if (!file.flush()) {
      fs::remove(part, code);
      return;
    }
  }
  fs::rename(part, path, code);
}

}  // namespace fairlead::tools
