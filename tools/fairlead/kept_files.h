// What was measured before, on disk: a file per result, named by everything that the result depends
// on. A run that was ended begins again where it stopped.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// 64 bits of a text.
std::uint64_t hash_of(const std::string& text, std::uint64_t start = 0xcbf29ce484222325);

// A hash of this program and the library it runs on: another build, another number.
std::uint64_t build_hash();

// A hash of a program and of the programming systems installed beside it.
std::uint64_t program_hash(const std::string& file);

// A hash of a platform file, the step table it names and the costs of layers beside it. 0: it
// cannot be read.
std::uint64_t platform_hash(const std::string& file);

class KeptFiles {
 public:
  // The folder `name` of $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead. Error: no such folder can
  // be made.
  static Result<KeptFiles> open(const std::string& name);

  // What was kept under a key; empty: nothing. `key`: everything that the content depends on.
  std::string find(const std::string& key) const;
  // Whole or not at all, whenever the program is ended. A full disk is no error: nothing is kept.
  void keep(const std::string& key, const std::string& content) const;
  const std::string& folder() const { return folder_; }

 private:
  explicit KeptFiles(std::string folder) : folder_(std::move(folder)) {}
  std::string path_of(const std::string& key) const;

  std::string folder_;
};

}  // namespace fairlead::tools
