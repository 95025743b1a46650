// The 15-puzzle as the LCI paper runs it (section 7): parallel IDA* on Multigame. --jobs 4 is its
// Puzzle-4, --jobs 64 its Puzzle-64.
#include <cstdio>
#include <optional>

#include "apps/puzzle/options.h"
#include "apps/puzzle/sliding_tiles.h"
#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/multigame/multigame.h"

FAIRLEAD_FIBER_PROGRAM;

namespace puzzle {
namespace {

namespace mg = fairlead::multigame;

// For one position: two children on average, each made from the rules of a game that the system
// does not know, hashed, bounded, compared with the limit, looked up and stacked. Fitted: with
// --paper on one rank Table VII's 209.0 s on PPro.
constexpr std::uint64_t kOpsPerPosition = 2607;

std::optional<mg::Position> start_of(const SlidingTiles& tiles, const Options& options) {
  if (options.korf > 0) return tiles.position(kKorf[options.korf - 1].tiles);
  if (!options.position.empty()) return tiles.position(options.position);
  return tiles.scrambled(options.seed, options.scramble);
}

// With a table or with tiles searched in another order, only the length must be the same; without
// a table, every complete iteration.
bool verified(const mg::IdaAnswer& answer, const mg::IdaAnswer& alone, bool with_table) {
  if (answer.solved != alone.solved || answer.length != alone.length) return false;
  if (answer.iterations.size() != alone.iterations.size()) return false;
  for (std::size_t i = 0; i < alone.iterations.size(); ++i) {
    const mg::Iteration& mine = answer.iterations[i];
    if (mine.bound != alone.iterations[i].bound) return false;
    if (with_table || !mine.complete) continue;
    if (mine.expanded != alone.iterations[i].expanded) return false;
  }
  return true;
}

unsigned long long wide(std::uint64_t number) { return number; }

void print_json(const Options& options, const mg::IdaAnswer& answer, unsigned ranks,
                double seconds) {
  const mg::Counts& total = answer.total;
  std::printf(
      "{\"app\":\"puzzle\",\"ranks\":%u,\"jobs\":%u,\"length\":%u,\"expanded\":%llu,"
      "\"jobs_sent\":%llu,\"messages\":%llu,\"hits\":%llu,\"replaced\":%llu,\"seconds\":%.9g,"
      "\"iterations\":[",
      ranks, options.jobs_per_message, answer.length, wide(total.expanded), wide(total.jobs_sent),
      wide(total.messages_sent), wide(total.hits), wide(total.replaced), seconds);
  for (std::size_t i = 0; i < answer.iterations.size(); ++i) {
    const mg::Iteration& each = answer.iterations[i];
    std::printf("%s{\"bound\":%u,\"expanded\":%llu,\"complete\":%s}", i > 0 ? "," : "", each.bound,
                wide(each.expanded), each.complete ? "true" : "false");
  }
  std::printf("]");
}

void print(const Options& options, const mg::IdaAnswer& answer, unsigned ranks, double seconds,
           bool same) {
  if (options.json) {
    print_json(options, answer, ranks, seconds);
    if (options.verify) std::printf(",\"verified\":%s", same ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("puzzle on %u ranks, %u jobs a message: %u moves, %llu positions, %.6f s\n", ranks,
                options.jobs_per_message, answer.length, wide(answer.total.expanded), seconds);
    for (const mg::Iteration& each : answer.iterations) {
      std::printf("  bound %u: %llu positions%s\n", each.bound, wide(each.expanded),
                  each.complete ? "" : ", ended by the solution");
    }
    if (options.verify) std::printf("%s\n", same ? "verified: the sequential answer" : "WRONG");
  }
  std::fflush(stdout);
}

void print_rank(const mg::Multigame& game, const mg::Counts& own) {
  std::printf(
      "rank %u: %llu positions; jobs: %llu local, %llu sent in %llu messages, %llu received; "
      "table: %llu asked, %llu found, %llu replaced; %llu times idle\n",
      game.self(), wide(own.expanded), wide(own.jobs_local), wide(own.jobs_sent),
      wide(own.messages_sent), wide(own.jobs_received), wide(own.looked_up), wide(own.hits),
      wide(own.replaced), wide(own.idle));
  std::fflush(stdout);
}

int run(fairlead::run::Context& rank, mg::Multigame& game, const Options& options,
        const SlidingTiles& tiles, const mg::Position& start) {
  const mg::IdaOptions ida{.local_slack = static_cast<std::uint16_t>(options.local_slack),
                           .all_solutions = options.all_solutions};
  game.barrier();
  const fairlead::Ps begin = rank.port().now();
  const mg::IdaAnswer answer = game.ida(tiles, start, ida);
  const double seconds = to_seconds(rank.port().now() - begin);
  if (options.ranks) print_rank(game, answer.own);
  if (game.self() != 0) return 0;
  const bool same = !options.verify ||
                    verified(answer, mg::ida_alone(tiles, start, ida), options.table_bytes > 0);
  const bool known = options.korf == 0 || answer.length == kKorf[options.korf - 1].length;
  print(options, answer, game.size(), seconds, same);
  if (!known) {
    std::fprintf(stderr, "puzzle: Korf has %u moves\n", kKorf[options.korf - 1].length);
  }
  return same && known ? 0 : 1;
}

int fail(const char* what) {
  std::fprintf(stderr, "puzzle: %s\n", what);
  return 1;
}

int play(const Options& options) {
  const SlidingTiles tiles(options.width, kOpsPerPosition);
  const std::optional<mg::Position> start = start_of(tiles, options);
  if (!start)
    return fail("--position needs every tile once: 16 numbers from 0 to 15 for --width 4");
  if (!tiles.solvable(*start)) return fail("this position cannot be solved; swap two tiles");
  const fairlead::Result<fairlead::run::Context*> rank = fairlead::run::attach();
  if (!rank.ok()) return fail(rank.error().text.c_str());
  const fairlead::Result<mg::Multigame*> started = mg::Multigame::start(
      *rank.value(), {.jobs_per_message = options.jobs_per_message,
                      .table_bytes = static_cast<std::size_t>(options.table_bytes)});
  if (!started.ok()) return fail(started.error().text.c_str());
  mg::Multigame& game = *started.value();
  const int exit_code = run(*rank.value(), game, options, tiles, *start);
  game.stop();
  return exit_code;
}

}  // namespace
}  // namespace puzzle

int main(int argc, char** argv) {
  puzzle::Options options;
  const char* wrong = puzzle::parse(argc, argv, options);
  if (wrong == nullptr && options.korf > 0 && options.width != 4) wrong = "--korf";
  if (wrong != nullptr || options.help) {
    if (wrong != nullptr) std::fprintf(stderr, "puzzle: cannot use \"%s\"\n\n", wrong);
    std::fputs(puzzle::kHelp, wrong != nullptr ? stderr : stdout);
    return wrong != nullptr ? 2 : 0;
  }
  return puzzle::play(options);
}
