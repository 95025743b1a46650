#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "fairlead/systems/orca/orca.h"

namespace fairlead::orca {
namespace {

// FNV-1a.
void mix(std::uint64_t& hash, std::string_view text) {
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3u;
  }
  hash = (hash ^ 0xffu) * 0x100000001b3u;
}

}  // namespace

void Program::add_operation(std::size_t type, Operation operation) {
  operation.waits_for = fmt::format("operation {}.{}{}", types_[type].name, operation.name,
                                    operation.guarded ? ", whose guard has to hold" : "");
  types_[type].operations.push_back(std::move(operation));
}

std::uint64_t Program::hash() const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const Type& type : types_) {
    mix(hash, type.name);
    for (const Operation& operation : type.operations) {
      mix(hash, operation.name);
      mix(hash, operation.writes ? "writes" : "reads");
      mix(hash, operation.guarded ? "guarded" : "");
    }
    mix(hash, ";");
  }
  for (const Function& function : functions_) mix(hash, function.name);
  return hash;
}

}  // namespace fairlead::orca
