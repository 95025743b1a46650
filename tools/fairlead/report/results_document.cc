#include "tools/fairlead/report/results_document.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace fairlead::tools {
namespace {
constexpr std::uintmax_t kBytesMax = 256u << 20;
const char kAdvice[] = "; `fairlead reproduce all --output results.json` writes one";
}  // namespace

Result<Json> read_results(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return Error{fmt::format("cannot read {}: {}{}", path, error.message(), kAdvice)};
  if (size > kBytesMax) return Error{fmt::format("{} is too large: {} bytes", path, size)};
  std::ifstream file(path, std::ios::binary);
  Json document = Json::parse(file, nullptr, false);
  if (!document.is_object() || text_at(document, "format") != "fairlead-results") {
    return Error{fmt::format("{} is not a results document{}", path, kAdvice)};
  }
  if (number_at(document, "version") != 1.0) {
    return Error{
        fmt::format("{} is a results document of another version than 1{}", path, kAdvice)};
  }
  return document;
}

std::string text_at(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_at(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return {};
  const double value = found->get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<bool> flag_at(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  if (found == object.end() || !found->is_boolean()) return {};
  return found->get<bool>();
}

const Json& part_at(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found != object.end() && found->is_structured() ? *found : kNone;
}

}  // namespace fairlead::tools
