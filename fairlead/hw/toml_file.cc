#include "fairlead/hw/toml_file.h"

#include <fmt/format.h>

#include <stdexcept>

namespace fairlead::hw {

void toml_violated(const char* what) { throw std::logic_error(what); }

Error toml_error(const std::string& file, std::uint32_t line, const std::string& key,
                 const std::string& reason) {
  return Error{fmt::format("{}:{}: {}: {}", file, line, key, reason)};
}

Result<void> parse_toml(const std::string& file, toml::table& into) {
  try {
    into = toml::parse_file(file);
    return {};
  } catch (const toml::parse_error& e) {
    return Error{
        fmt::format("{}:{}: not a TOML file: {}", file, e.source().begin.line, e.description())};
  } catch (const std::logic_error&) {
    return Error{fmt::format("{}:1: not a TOML file: a stray character in a key", file)};
  }
}

}  // namespace fairlead::hw
