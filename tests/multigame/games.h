// The games of apps/ on ranks of a job, and what the sequential search says of them.
#pragma once
#include <functional>
#include <string>

#include "apps/connect4/grid.h"
#include "apps/puzzle/sliding_tiles.h"
#include "fairlead/systems/multigame/multigame.h"
#include "tests/port/port_worlds.h"

namespace fairlead::multigame_test {

// Runs `program` on every rank between start() and stop(); it returns whether all was as it should
// be, what was not it prints by MULTIGAME_TEST_CHECK. Expects that every rank answered true.
void run_ranks(const std::string& world, unsigned ranks, const multigame::Options& options,
               const std::function<bool(multigame::Multigame&)>& program);

// As above, without expectations: what became of the job.
run::RunReport run_bare(const run::WorldOptions& world, const multigame::Options& options,
                        const std::function<bool(multigame::Multigame&)>& program);

bool check(bool ok, const char* what, Rank rank, long long detail);
#define MULTIGAME_TEST_CHECK(condition, game, detail)                       \
  ::fairlead::multigame_test::check((condition), #condition, (game).self(), \
                                    static_cast<long long>(detail))

}  // namespace fairlead::multigame_test
