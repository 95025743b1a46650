#include "fairlead/base/toml/toml_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace fairlead {
namespace {

constexpr std::string_view kMarks[] = {"measured", "from paper", "fitted", "guessed"};

}  // namespace

void toml_violated(const char* what) { throw std::logic_error(what); }

Error toml_error(const std::string& file, std::uint32_t line, const std::string& key,
                 const std::string& reason) {
  return Error{fmt::format("{}:{}: {}: {}", file, line, key, reason)};
}

Result<void> parse_toml(const std::string& file, toml::table& into) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error{fmt::format("{}:1: cannot be read", file)};
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  // toml++ 3.3 takes for granted which characters beyond ASCII it meets where.
  const auto foreign = std::find_if(text.begin(), text.end(),
                                    [](char c) { return static_cast<unsigned char>(c) > 127; });
  if (foreign != text.end()) {
    return Error{fmt::format("{}:{}: a character that is not ASCII", file,
                             std::count(text.begin(), foreign, '\n') + 1)};
  }
  try {
    into = toml::parse(text, file);
    return {};
  } catch (const toml::parse_error& e) {
    return Error{
        fmt::format("{}:{}: not a TOML file: {}", file, e.source().begin.line, e.description())};
  } catch (const std::logic_error&) {
    return Error{fmt::format("{}:1: not a TOML file: a stray character in a key", file)};
  }
}

Result<double> marked_number(const std::string& file, const toml::node& node,
                             const std::string& path, double least, double most) {
  const std::uint32_t line = node.source().begin.line;
  const auto bad = [&](const std::string& key, const std::string& reason) {
    return toml_error(file, line, key, reason);
  };
  const toml::table* const entry = node.as_table();
  if (entry == nullptr) {
    return bad(path, "must be { value = NUMBER, source = \"...\", mark = \"...\" }");
  }
  const std::optional<double> value = (*entry)["value"].value<double>();
  if (!value || !std::isfinite(*value)) return bad(path, "value must be a number");
  if (*value < least || *value > most) {
    return bad(path, fmt::format("{} is impossible; {} to {}", *value, least, most));
  }
  const std::optional<std::string> source = (*entry)["source"].value<std::string>();
  if (!source || source->empty()) return bad(path, "has no source");
  const std::optional<std::string> mark = (*entry)["mark"].value<std::string>();
  if (!mark || std::find(std::begin(kMarks), std::end(kMarks), *mark) == std::end(kMarks)) {
    return bad(path, fmt::format("mark must be one of: {}", fmt::join(kMarks, ", ")));
  }
  for (const auto& [key, unused] : *entry) {
    if (key.str() != "value" && key.str() != "source" && key.str() != "mark") {
      return bad(fmt::format("{}.{}", path, key.str()), "unknown; valid: value, source, mark");
    }
  }
  return *value;
}

}  // namespace fairlead
