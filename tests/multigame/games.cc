#include "tests/multigame/games.h"

#include <cstdio>

namespace fairlead::multigame_test {

run::RunReport run_bare(const run::WorldOptions& world, const multigame::Options& options,
                        const std::function<bool(multigame::Multigame&)>& program) {
  Result<run::RunReport> report = run::run_world(world, [&](run::Context& rank) {
    const Result<multigame::Multigame*> game = multigame::Multigame::start(rank, options);
    if (!game.ok()) {
      std::fprintf(stderr, "%s\n", game.error().text.c_str());
      return 1;
    }
    const bool good = program(*game.value());
    game.value()->stop();
    return good ? 0 : 1;
  });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

void run_ranks(const std::string& world, unsigned ranks, const multigame::Options& options,
               const std::function<bool(multigame::Multigame&)>& program) {
  const run::RunReport report = run_bare(port_test::options_of(world, ranks), options, program);
  EXPECT_EQ(report.exit_code, 0) << world << " with " << ranks << " ranks";
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.ranks.size(), ranks);
}

bool check(bool ok, const char* what, Rank rank, long long detail) {
  return port_test::check(ok, what, rank, detail);
}

}  // namespace fairlead::multigame_test
