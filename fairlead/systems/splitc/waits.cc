#include "fairlead/systems/splitc/waits.h"

#include <fmt/format.h>

namespace fairlead::splitc {

void Waits::describe(const char* what, Whom whom, run::CallFacts& facts) const {
  run::set_call_text(facts.call, what);
  facts.kind = run::CallFacts::Kind::other;
  if (whom.is_last_access) {
    const auto end =
        fmt::format_to_n(facts.group, sizeof facts.group - 1, "last {} bytes at {:#x} of rank {}",
                         last_.bytes, last_.offset, last_.rank);
    *end.out = '\0';
  }
}

}  // namespace fairlead::splitc
