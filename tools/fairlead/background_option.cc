#include "tools/fairlead/background_option.h"

#include <fmt/format.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <string_view>

#include "fairlead/base/numbers.h"
#include "fairlead/hw/background_params.h"
#include "fairlead/run/option_table.h"
#include "fairlead/run/platform_files.h"

namespace fairlead::tools {
namespace {

constexpr const char* kName = "--background";
constexpr Range<std::uint64_t> kSizes{1, 1'000'000'000};
constexpr Range<double> kLoads{0.01, 1};

Error unknown(const std::string& text, std::string_view word, const char* valid) {
  return Error{fmt::format("{} {}: unknown '{}'; valid: {}", kName, text, word, valid)};
}

std::string pattern(hw::BackgroundParams::Pattern pattern) {
  return fmt::format("background.pattern={}", static_cast<unsigned>(pattern));
}

// One of the parts behind the pattern.
Result<std::string> read_part(const std::string& text, std::string_view part) {
  const std::size_t equal = part.find('=');
  const std::string_view key = part.substr(0, equal);
  const std::string_view value =
      equal == std::string_view::npos ? std::string_view() : part.substr(equal + 1);
  const std::string name = fmt::format("{} {}", kName, key);
  if (key == "size") {
    const auto bytes = read_bytes(name, value, kSizes);
    if (!bytes.ok()) return bytes.error();
    return fmt::format("background.bytes={}", bytes.value());
  }
  if (key == "load") {
    const auto share = read_real(name, value, "a share of the link's rate", kLoads);
    if (!share.ok()) return share.error();
    return fmt::format("background.load={}", share.value());
  }
  if (key != "memory") return unknown(text, part, "size=BYTES, memory=ni|host, load=SHARE");
  if (value == "ni") return std::string("background.main_memory=0");
  if (value == "host") return std::string("background.main_memory=1");
  return unknown(text, part, "memory=ni, memory=host");
}

}  // namespace

Result<std::vector<std::string>> read_background(const std::string& text) {
  std::vector<std::string> set;
  std::size_t comma = text.find(',');
  const std::string_view shape = std::string_view(text).substr(0, comma);
  if (shape == "complement") {
    set.push_back(pattern(hw::BackgroundParams::kComplement));
  } else if (shape == "uniform") {
    set.push_back(pattern(hw::BackgroundParams::kUniform));
  } else {
    return unknown(text, shape, "complement, uniform");
  }
  while (comma != std::string::npos) {
    const std::size_t begin = comma + 1;
    comma = text.find(',', begin);
    auto part = read_part(text, std::string_view(text).substr(begin, comma - begin));
    if (!part.ok()) return part.error();
    set.push_back(std::move(part.value()));
  }
  return set;
}

void add_background_option(CLI::App& app, WorldChoice& choice) {
  app.add_option_function<std::string>(
         kName,
         [&choice](const std::string& text) {
           const auto read = read_background(text);
           if (!read.ok()) throw CLI::ValidationError(read.error().text);
           choice.background = text;
         },
         "Traffic of another job on a modelled platform's nodes: complement (node i sends to the "
         "node whose number has the other bits) or uniform (each message to a node drawn at "
         "random), then size=BYTES of a message (16K), memory=ni or host (ni where it has some), "
         "load=SHARE of "
         "the link that it asks for (1), with commas between")
      ->type_name("PATTERN[,...]");
}

Result<void> check_background(const WorldChoice& choice, const std::vector<std::string>& places) {
  if (choice.background.empty()) return {};
  for (const std::string& place : places) {
    if (!run::is_modelled(place)) return run::not_modelled(kName, place, "qsnet-es40");
  }
  return {};
}

}  // namespace fairlead::tools
