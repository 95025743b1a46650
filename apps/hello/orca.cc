// Orca in one page: a replicated counter, and a buffer with a guard that one rank keeps.
//   fairlead run -n 4 hello_orca
//   fairlead run -n 64 --on myrinet-ppro --lci pio hello_orca
#include <cstdio>
#include <vector>

#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/orca/orca.h"

FAIRLEAD_FIBER_PROGRAM;

using namespace fairlead;

namespace {

struct Total {
  int value = 0;
  void add(int by) { value += by; }
  int get() const { return value; }
};

struct Names {
  std::vector<int> ranks;
  auto fields() { return std::tie(ranks); }
  void put(int rank) { ranks.push_back(rank); }
  bool has(std::size_t wanted) const { return ranks.size() >= wanted; }
  std::size_t await(std::size_t) const { return ranks.size(); }
};

void worker(orca::Orca& me, orca::Object<Total> total, orca::Object<Names> names) {
  me.invoke<&Total::add>(total, static_cast<int>(me.self()) + 1);
  me.invoke<&Names::put>(names, static_cast<int>(me.self()));
}

}  // namespace

int main() {
  Result<run::Context*> joined = run::attach();
  if (!joined.ok()) return std::fprintf(stderr, "%s\n", joined.error().text.c_str()), 1;
  orca::Program program;
  program.type<Total>("total").operation<&Total::add>("add").operation<&Total::get>("get");
  program.type<Names>("names").operation<&Names::put>("put").operation<&Names::await, &Names::has>(
      "await");
  program.process<&worker>("worker");
  const Result<void> done = orca::run(*joined.value(), program, {}, [](orca::Orca& me) {
    const auto total = me.create<Total>(orca::Placement::replicated);
    const auto names = me.create<Names>(orca::Placement::single);
    for (Rank rank = 0; rank < me.size(); ++rank) me.fork<&worker>(rank, total, names);
    // Waits until the guard holds: all are there.
    const std::size_t came = me.invoke<&Names::await>(names, std::size_t{me.size()});
    std::printf("%d workers, a total of %d\n", static_cast<int>(came),
                me.invoke<&Total::get>(total));
  });
  if (!done.ok()) return std::fprintf(stderr, "%s\n", done.error().text.c_str()), 1;
  return 0;
}
