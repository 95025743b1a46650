// Panda-MT in one page: two threads of each rank call the next one, a third waits for its calls.
//   fairlead run -n 4 hello_panda_mt
//   fairlead run -n 64 --on myrinet-ppro --lci pio hello_panda_mt
#include <cstdio>

#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/panda/panda.h"

FAIRLEAD_FIBER_PROGRAM;

using namespace fairlead;

namespace {
constexpr panda::Service kDouble = 0;

struct Rankwide {
  panda::Panda& panda;
  Counter served;
  int sum = 0;  // of the answers
};

void on_double(void* self, panda::Incoming request, panda::Token token) {
  auto& mine = *static_cast<Rankwide*>(self);
  int number = 0;
  request.pop(&number, sizeof number);
  number *= 2;
  mine.panda.reply(token, {&number, sizeof number});
  ++mine.served.ok;
}

// A thread: the others run while it waits for the answer.
void ask(void* self) {
  auto& mine = *static_cast<Rankwide*>(self);
  int number = static_cast<int>(mine.panda.self()) + 1;
  const Rank next = (mine.panda.self() + 1) % mine.panda.size();
  mine.panda.call(next, kDouble, {&number, sizeof number}).pop(&number, sizeof number);
  mine.sum += number;
}
}  // namespace

int main() {
  Result<run::Context*> joined = run::attach();
  if (!joined.ok()) return std::fprintf(stderr, "%s\n", joined.error().text.c_str()), 1;
  const panda::Options options{.flavour = panda::Flavour::multi_threaded};
  Result<panda::Panda*> started = panda::Panda::start(*joined.value(), options);
  if (!started.ok()) return std::fprintf(stderr, "%s\n", started.error().text.c_str()), 1;
  Rankwide mine{*started.value(), {}};
  mine.panda.serve_calls(kDouble, {on_double, &mine});
  run::Threads& threads = mine.panda.threads();
  run::Thread* asking[] = {threads.spawn("ask", ask, &mine).value(),
                           threads.spawn("ask", ask, &mine).value()};
  mine.panda.wait(mine.served, 2, "the calls of the rank before");
  for (run::Thread* each : asking) (void)threads.join(each);
  std::printf("rank %u of %u: two threads got %d\n", mine.panda.self(), mine.panda.size(),
              mine.sum);
  mine.panda.stop();
}
