#include "fairlead/hw/toml_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace fairlead::hw {

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

}  // namespace fairlead::hw
