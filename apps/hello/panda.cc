// Panda in one page: a call, an ordered broadcast.
//   fairlead run -n 4 hello_panda
//   fairlead run -n 64 --on myrinet-ppro --lci pio hello_panda
#include <cstdio>

#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/panda/panda.h"

FAIRLEAD_FIBER_PROGRAM;

using namespace fairlead;

namespace {

constexpr panda::Service kDouble = 0;
constexpr panda::Service kGreeting = 1;

void on_double(void* self, panda::Incoming request, panda::Token token) {
  int number = 0;
  request.pop(&number, sizeof number);
  number *= 2;
  static_cast<panda::Panda*>(self)->reply(token, panda::Message(&number, sizeof number));
}

// Runs in the same order on every rank.
void on_greeting(void* greetings, panda::Incoming) { ++static_cast<Counter*>(greetings)->ok; }

}  // namespace

int main() {
  Result<run::Context*> joined = run::attach();
  if (!joined.ok()) {
    std::fprintf(stderr, "%s\n", joined.error().text.c_str());
    return 1;
  }
  Result<panda::Panda*> started = panda::Panda::start(*joined.value(), {});
  if (!started.ok()) {
    std::fprintf(stderr, "%s\n", started.error().text.c_str());
    return 1;
  }
  panda::Panda& me = *started.value();
  Counter greetings;
  me.serve_calls(kDouble, {on_double, &me});
  me.serve(kGreeting, {on_greeting, &greetings});

  const int number = static_cast<int>(me.self()) + 1;
  int doubled = 0;
  me.call((me.self() + 1) % me.size(), kDouble, {&number, sizeof number})
      .pop(&doubled, sizeof doubled);
  me.broadcast_ordered(kGreeting, panda::Message());
  me.wait(greetings, me.size(), "the greetings");
  std::printf("rank %u of %u: twice %d is %d, %u greetings\n", me.self(), me.size(), number,
              doubled, static_cast<unsigned>(greetings.ok));
  me.stop();
  return 0;
}
