#include "fairlead/run/layer_costs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "fairlead/base/toml/toml_file.h"
#include "fairlead/run/platform_files.h"

namespace fairlead::run {
namespace {

constexpr const char* kFile = "layers.toml";
constexpr double kOpsMost = 1e6;
// "section.name"
constexpr std::string_view kKeys[] = {
#define FAIRLEAD_LAYER_STEP_KEY(step, key) key,
    FAIRLEAD_LAYER_STEPS(FAIRLEAD_LAYER_STEP_KEY)
#undef FAIRLEAD_LAYER_STEP_KEY
};
static_assert(std::size(kKeys) == kLayerSteps);

std::string section_of(std::string_view key) { return std::string(key.substr(0, key.find('.'))); }
std::string name_of(std::string_view key) { return std::string(key.substr(key.find('.') + 1)); }

bool known(std::string_view path) {
  return std::find(std::begin(kKeys), std::end(kKeys), path) != std::end(kKeys);
}

Result<void> check_known(const std::string& file, const toml::table& all) {
  for (const auto& [section, node] : all) {
    const toml::table* const keys = node.as_table();
    if (keys == nullptr) {
      return toml_error(file, node.source().begin.line, std::string(section.str()),
                        "must be a section of steps");
    }
    for (const auto& [name, value] : *keys) {
      const std::string path = fmt::format("{}.{}", section.str(), name.str());
      if (known(path)) continue;
      return toml_error(file, value.source().begin.line, path,
                        fmt::format("unknown; valid: {}", fmt::join(kKeys, ", ")));
    }
  }
  return {};
}

}  // namespace

Result<LayerCosts> read_layer_costs(const std::string& file) {
  toml::table all;
  if (Result<void> parsed = parse_toml(file, all); !parsed.ok()) return parsed.error();
  if (Result<void> r = check_known(file, all); !r.ok()) return r.error();
  LayerCosts costs;
  for (std::size_t i = 0; i < kLayerSteps; ++i) {
    const std::string path(kKeys[i]);
    const toml::node* const node = all[section_of(path)][name_of(path)].node();
    if (node == nullptr) return toml_error(file, 1, path, "missing");
    const Result<double> ops = marked_number(file, *node, path, 0, kOpsMost);
    if (!ops.ok()) return ops.error();
    costs.ops[i] = static_cast<std::uint32_t>(std::llround(ops.value()));
  }
  return costs;
}

Result<LayerCosts> load_layer_costs() {
  std::string looked;
  for (const std::string& directory : platform_directories()) {
    const std::string file = fmt::format("{}/{}", directory, kFile);
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) return read_layer_costs(file);
    looked += fmt::format("{}{}", looked.empty() ? "" : ", ", directory);
  }
  return Error{fmt::format(
      "no {} (costs of the software above the Port) in {}; set FAIRLEAD_PLATFORMS to a directory "
      "that has it",
      kFile, looked.empty() ? "any directory" : looked)};
}

}  // namespace fairlead::run
