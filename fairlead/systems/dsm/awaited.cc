#include "fairlead/systems/dsm/awaited.h"

#include <fmt/format.h>

#include <string_view>

namespace fairlead::dsm {

std::string Awaited::name() const {
  const char* const text = thing == nullptr ? what : thing;
  return number ? fmt::format("{} {}", text, *number) : text;
}

void Awaited::describe(run::CallFacts& facts) const {
  facts.kind = run::CallFacts::Kind::memory;
  run::set_call_text(facts.call, name());
}

}  // namespace fairlead::dsm
