// What was measured before, on disk: a file per measurement, named by what its result depends on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "fairlead/base/result.h"
#include "tools/fairlead/reproduce/measurement.h"

namespace fairlead::tools {

// 64 bits of a text.
std::uint64_t hash_of(const std::string& text, std::uint64_t start = 0xcbf29ce484222325);

// Of this program and the library it runs on: another build, another number.
std::uint64_t build_hash();

// Of a program and of the programming systems installed beside it.
std::uint64_t program_hash(const std::string& file);

// Of a platform file, the step table it names and the costs of layers beside it. 0: cannot be read.
std::uint64_t platform_hash(const std::string& file);

class ResultCache {
 public:
  // In $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead. Error: no such folder can be made.
  static Result<ResultCache> open();

  // platform: hash of the platform of `measurement`.
  std::optional<Measured> find(const Measurement& measurement, std::uint64_t platform) const;
  // Whole or not at all, whenever the program is ended. A full disk is no error: nothing is kept.
  void keep(const Measurement& measurement, std::uint64_t platform, const Measured& measured) const;
  const std::string& folder() const { return folder_; }

 private:
  explicit ResultCache(std::string folder) : folder_(std::move(folder)) {}
  std::string path_of(const Measurement& measurement, std::uint64_t platform) const;

  std::string folder_;
};

}  // namespace fairlead::tools
