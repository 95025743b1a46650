// Remote procedure calls: a request, and its one answer, by whoever in the called rank holds the
// token. The Port delivers once, so that a call runs at most once.
#include <fmt/format.h>

#include "fairlead/systems/panda/core.h"

namespace fairlead::panda {

Incoming Panda::call(Rank to, Service service, const Message& request, const char* what) {
  Core& core = *core_;
  const Core::Guard guard(core);
  core.check_message(to, service, request);
  core.not_in_handler("a call");
  ++core.counts.calls;
  CallSlot& slot = core.calls.begin(to, service);
  const std::uint64_t answers = slot.answered.ok.load(std::memory_order_relaxed) + 1;
  core.send(
      to, Head::first(Kind::call, service, request.size(), slot_extra(slot.index, slot.generation)),
      request);
  core.wait(slot.answered, answers, what);
  Received* const answer = slot.answer;
  core.calls.end(slot);
  return Core::incoming(answer);
}

void Panda::reply(Token token, const Message& answer) {
  Core& core = *core_;
  const Core::Guard guard(core);
  if (token.generation == 0) core.fatal("an answer by a token that no call gave");
  core.check_message(token.caller, token.service, answer);
  core.send(token.caller,
            Head::first(Kind::answer, token.service, answer.size(),
                        slot_extra(token.slot, token.generation)),
            answer);
}

}  // namespace fairlead::panda
