// What `fairlead reproduce` measured before, on disk.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "fairlead/base/result.h"
#include "tools/fairlead/kept_files.h"
#include "tools/fairlead/reproduce/measurement.h"

namespace fairlead::tools {

class ResultCache {
 public:
  // Error: its folder cannot be made.
  static Result<ResultCache> open();

  // platform: hash of the platform of `measurement`.
  std::optional<Measured> find(const Measurement& measurement, std::uint64_t platform) const;
  void keep(const Measurement& measurement, std::uint64_t platform, const Measured& measured) const;
  const std::string& folder() const { return files_.folder(); }

 private:
  explicit ResultCache(KeptFiles files) : files_(std::move(files)) {}
  static std::string key_of(const Measurement& measurement, std::uint64_t platform);

  KeptFiles files_;
};

}  // namespace fairlead::tools
