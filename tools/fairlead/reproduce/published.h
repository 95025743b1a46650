// Values that a paper gives, read from the data file beside the platform files.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// How a paper gives a value: exactly, around, or as an upper bound.
enum class Relation { equal, about, below };

struct PublishedValue {
  double value = 0;
  Relation relation = Relation::equal;
  std::string source;
};

const char* symbol_of(Relation relation);  // "=", "~", "<"

class Published {
 public:
  // Error: names the file, and line and reason where there are.
  static Result<Published> load(const std::string& file);
  // The file in `published` beside the platforms' folders. Error: lists where it was looked for.
  static Result<Published> find(const std::string& name);

  // nullptr: the text at hand does not give it.
  const PublishedValue* value(const std::string& table, const std::string& row,
                              const std::string& column) const;
  // The source of a table's values that state none of their own; empty: no such table.
  const std::string& source(const std::string& table) const;
  std::size_t size() const { return values_.size(); }

 private:
  std::map<std::string, PublishedValue> values_;
  std::map<std::string, std::string> sources_;
};

}  // namespace fairlead::tools
