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
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Result<Json> read = Json::parse(text);
  if (!read.ok() || text_at(read.value(), "format") != "fairlead-results") {
    return Error{fmt::format("{} is not a results document{}", path, kAdvice)};
  }
  if (number_at(read.value(), "version") != 1.0) {
    return Error{
        fmt::format("{} is a results document of another version than 1{}", path, kAdvice)};
  }
  return std::move(read.value());
}

}  // namespace fairlead::tools
