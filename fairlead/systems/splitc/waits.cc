#include "fairlead/systems/splitc/waits.h"

#include <fmt/format.h>

#include "fairlead/base/wait_ladder.h"

namespace fairlead::splitc {

void Waits::tell(const char* what, Whom whom) {
  run::CallFacts facts;
  run::set_call_text(facts.call, what);
  facts.kind = run::CallFacts::Kind::other;
  facts.peer = whom.rank;
  if (whom.is_last_access) {
    const auto end =
        fmt::format_to_n(facts.group, sizeof facts.group - 1, "last {} bytes at {:#x} of rank {}",
                         last_.bytes, last_.offset, last_.rank);
    *end.out = '\0';
  }
  facts.since_ns = monotonic_ns();
  told_->set(facts);
}

}  // namespace fairlead::splitc
