// What the environment says of the options of page-based shared memory.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "fairlead/base/numbers.h"
#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {
namespace {

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

// Leaves `value` where the variable is not set.
template <class Value, std::size_t kCount>
Result<void> choose(const char* variable, const std::array<Choice<Value>, kCount>& choices,
                    Value& value) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return {};
  std::string names;
  for (const Choice<Value>& choice : choices) {
    if (choice.name == text) {
      value = choice.value;
      return {};
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", choice.name);
  }
  return Error{fmt::format("{}={}: must be one of {}", variable, text, names)};
}

constexpr std::array<Choice<EngineKind>, 4> kEngines = {{{"automatic", EngineKind::automatic},
                                                         {"uffd", EngineKind::uffd},
                                                         {"mprotect", EngineKind::mprotect},
                                                         {"checked", EngineKind::checked}}};
constexpr std::array<Choice<WakeKind>, 3> kWakes = {
    {{"automatic", WakeKind::automatic}, {"always", WakeKind::always}, {"never", WakeKind::never}}};
constexpr std::array<Choice<bool>, 2> kYesNo = {{{"0", false}, {"1", true}}};

}  // namespace

Result<Options> Options::of_environment() {
  Options options;
  if (const char* const heap = std::getenv("FAIRLEAD_DSM_HEAP"); heap != nullptr) {
    const Result<std::uint64_t> bytes =
        read_bytes("FAIRLEAD_DSM_HEAP=", heap, {kPageBytes, std::uint64_t{1} << 40});
    if (!bytes.ok()) return bytes.error();
    options.heap_bytes = bytes.value();
  }
  if (const char* const pages = std::getenv("FAIRLEAD_DSM_CACHE"); pages != nullptr) {
    const Result<std::uint64_t> most = read_whole<std::uint64_t>(
        "FAIRLEAD_DSM_CACHE=", pages, {kCacheMin, std::uint64_t{1} << 32});
    if (!most.ok()) return most.error();
    options.cache_pages = most.value();
  }
  if (const char* const name = std::getenv(kProtocolVariable); name != nullptr) {
    const Result<Protocol> protocol = protocol_of(name);
    if (!protocol.ok()) return protocol.error();
    options.protocol = protocol.value();
  }
  if (const char* const where = std::getenv(kProfileVariable); where != nullptr) {
    options.profile = where;
  }
  for (const Result<void>& read : {choose("FAIRLEAD_DSM_ENGINE", kEngines, options.engine),
                                   choose("FAIRLEAD_DSM_WAKE", kWakes, options.wake),
                                   choose("FAIRLEAD_DSM_AHEAD", kYesNo, options.ahead),
                                   choose(kMigrateVariable, kYesNo, options.migrate),
                                   choose(kRacesVariable, kYesNo, options.races),
                                   choose(kFaithfulVariable, kYesNo, options.protocol.faithful)}) {
    if (!read.ok()) return read.error();
  }
  return options;
}

}  // namespace fairlead::dsm
