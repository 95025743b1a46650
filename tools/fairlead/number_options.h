// Options whose values are numbers: read by base/numbers.h, so that all refuse the same texts and
// name their range.
#pragma once
#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/numbers.h"

namespace fairlead::tools {

// What the reader found, or what the command line's parser takes for a wrong option.
template <class Number>
Number value_or_throw(const Result<Number>& read) {
  if (!read.ok()) throw CLI::ValidationError(read.error().text);
  return read.value();
}

// `value` stays the caller's, and as it is where the option is not given. `names`: "-n,--ranks".
template <std::unsigned_integral Whole>
CLI::Option* add_whole_option(CLI::App& app, const std::string& names, Whole& value,
                              const std::string& help, Range<Whole> range = {}) {
  const std::string name = names.substr(names.find("--"));
  return app.add_option_function<std::string>(
      names,
      [&value, name, range](const std::string& text) {
        value = value_or_throw(read_whole(name, text, range));
      },
      help);
}

// `what`: of an error, "a number of seconds".
CLI::Option* add_real_option(CLI::App& app, const std::string& name, double& value,
                             const std::string& help, const std::string& what, Range<double> range);

// A list with commas between.
CLI::Option* add_sizes_option(CLI::App& app, const std::string& name,
                              std::vector<std::uint64_t>& values, const std::string& help,
                              Range<std::uint64_t> range);

}  // namespace fairlead::tools
