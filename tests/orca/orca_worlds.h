// Runs an Orca program in each world that has a Port; what its processes find wrong fails the test.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "fairlead/systems/orca/orca.h"
#include "tests/port/port_worlds.h"

namespace fairlead::orca_test {

using orca::Object;
using orca::Orca;
using orca::Placement;
using orca::Program;

#define ORCA_TEST_CHECK(condition, me, detail) \
  ::fairlead::port_test::check((condition), #condition, (me).self(), static_cast<long long>(detail))

// Where processes say how they ended.
struct Report {
  std::uint32_t came = 0;
  std::uint32_t bad = 0;

  void done(bool good) {
    ++came;
    if (!good) ++bad;
  }
  bool has(std::uint32_t processes) const { return came >= processes; }
  bool all_good(std::uint32_t) const { return bad == 0; }
};

inline Program with_report() {
  Program program;
  program.type<Report>("report")
      .operation<&Report::done>("done")
      .operation<&Report::all_good, &Report::has>("all good");
  return program;
}

// A process's last word is report.done(good); `main` forks `processes` of them.
struct Job {
  Orca& me;
  Object<Report> report;
  std::uint32_t processes = 0;

  explicit Job(Orca& here) : me(here), report(here.create<Report>(Placement::single)) {}
  template <auto F, class... A>
  void fork(Rank rank, A&&... arguments) {
    ++processes;
    me.fork<F>(rank, report, std::forward<A>(arguments)...);
  }
  template <auto F, class... A>
  void fork_everywhere(std::uint32_t each, const A&... arguments) {
    for (Rank rank = 0; rank < me.size(); ++rank) {
      for (std::uint32_t i = 0; i < each; ++i) fork<F>(rank, arguments...);
    }
  }
  [[nodiscard]] bool all_good() { return me.invoke<&Report::all_good>(report, processes); }
};

// What became of a job whose ranks run `program`, `main` on rank 0: good when it returns true.
inline run::RunReport run_bare(const run::WorldOptions& world, const Program& program,
                               const std::function<bool(Orca&)>& main) {
  const Result<run::RunReport> report = run::run_world(world, [&](run::Context& context) {
    bool good = true;
    const Result<void> done = orca::run(context, program, {}, [&](Orca& me) { good = main(me); });
    if (!done.ok()) std::fprintf(stderr, "%s\n", done.error().text.c_str());
    return done.ok() && good ? 0 : 1;
  });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

inline void run_orca(const std::string& world, unsigned ranks, const Program& program,
                     const std::function<bool(Job&)>& main) {
  const run::RunReport report =
      run_bare(port_test::options_of(world, ranks), program, [&](Orca& me) {
        Job job(me);
        return main(job);
      });
  EXPECT_EQ(report.exit_code, 0) << world << " with " << ranks << " ranks";
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.ranks.size(), ranks);
}

}  // namespace fairlead::orca_test
