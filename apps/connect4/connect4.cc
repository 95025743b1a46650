// Connect Four on Multigame: the value of the empty grid, or of the one after some moves, and the
// best move, by parallel alpha-beta.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>

#include "apps/connect4/grid.h"
#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/multigame/multigame.h"

FAIRLEAD_FIBER_PROGRAM;

namespace connect4 {
namespace {

namespace mg = fairlead::multigame;

// For one position: its lines tested for four, and up to `columns` children made and hashed; the 69
// lines of a grid of 7 by 6 weighed where the search ends.
constexpr std::uint64_t kOpsPerPosition = 400;

const char kHelp[] =
    "Connect Four by alpha-beta on Multigame: value and best move.\n"
    "\n"
    "usage: connect4 [options]\n"
    "  --columns N      of the grid, 4 to 9; columns * (rows + 1) is at most 64 (7)\n"
    "  --rows N         of the grid, 4 to 9 (6)\n"
    "  --moves TEXT     columns played so far, from 0: \"3 3 2\"\n"
    "  --depth N        moves that are looked ahead, 1 to 60 (8)\n"
    "  --local N        depth that one rank searches alone, at least 1 (4)\n"
    "  --jobs N         jobs that are sent at a time to a rank, 1 to 1024 (4)\n"
    "  --table BYTES    each rank's part of the hash table; 0: none (16777216)\n"
    "  --verify         compare with the sequential search\n"
    "  --json           print one JSON object\n"
    "\n"
    "example:\n"
    "  fairlead run -n 4 connect4 --columns 5 --rows 4 --depth 12 --verify\n";

struct Options {
  unsigned columns = 7;
  unsigned rows = 6;
  std::string_view moves;
  unsigned depth = 8;
  unsigned local = 4;
  unsigned jobs = 4;
  std::uint64_t table = std::uint64_t{16} << 20;
  bool verify = false;
  bool json = false;
  bool help = false;
};

template <class Number>
bool parse_number(std::string_view text, Number least, Number most, Number& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size() && value >= least &&
         value <= most;
}

bool parse_valued(std::string_view name, std::string_view text, Options& options) {
  if (name == "--columns") return parse_number(text, 4u, 9u, options.columns);
  if (name == "--rows") return parse_number(text, 4u, 9u, options.rows);
  if (name == "--depth") return parse_number(text, 1u, 60u, options.depth);
  if (name == "--local") return parse_number(text, 1u, 60u, options.local);
  if (name == "--jobs") return parse_number(text, 1u, 1024u, options.jobs);
  if (name == "--table") {
    return parse_number<std::uint64_t>(text, 0, std::uint64_t{1} << 40, options.table);
  }
  if (name != "--moves") return false;
  options.moves = text;
  return true;
}

// nullptr: all well; else the argument that cannot be right.
const char* parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--verify") {
      options.verify = true;
    } else if (name == "--json") {
      options.json = true;
    } else if (name == "--help") {
      options.help = true;
    } else if (i + 1 == argc || !parse_valued(name, argv[i + 1], options)) {
      return argv[i];
    } else {
      ++i;
    }
  }
  return options.columns * (options.rows + 1) <= 64 ? nullptr : "--rows";
}

// Plays `moves` from the empty grid. False: one of them cannot be.
bool play(const Grid& grid, std::string_view moves, mg::Position& at) {
  while (!moves.empty()) {
    if (moves.front() == ' ' || moves.front() == ',') {
      moves.remove_prefix(1);
      continue;
    }
    unsigned column = 0;
    const auto [rest, error] = std::from_chars(moves.data(), moves.data() + moves.size(), column);
    if (error != std::errc()) return false;
    moves.remove_prefix(static_cast<std::size_t>(rest - moves.data()));
    mg::Move possible[mg::kMovesMax];
    const std::size_t count = grid.moves(at, mg::kNoMove, possible);
    std::size_t i = 0;
    while (i < count && possible[i].move != column) ++i;
    if (i == count) return false;
    at = possible[i].position;
  }
  return true;
}

void print(const Options& options, const mg::AlphaBetaAnswer& answer, unsigned ranks,
           double seconds, bool same) {
  const unsigned long long expanded = answer.total.expanded;
  const int move = answer.move == mg::kNoMove ? -1 : answer.move;
  if (options.json) {
    std::printf(
        "{\"app\":\"connect4\",\"columns\":%u,\"rows\":%u,\"depth\":%u,\"ranks\":%u,\"value\":%d,"
        "\"move\":%d,\"expanded\":%llu,\"seconds\":%.9g",
        options.columns, options.rows, options.depth, ranks, answer.value, move, expanded, seconds);
    if (options.verify) std::printf(",\"verified\":%s", same ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf(
        "connect4 %u x %u, depth %u, on %u ranks: value %d, column %d, %llu positions, "
        "%.6f s\n",
        options.columns, options.rows, options.depth, ranks, answer.value, move, expanded, seconds);
    if (options.verify) std::printf("%s\n", same ? "verified: the sequential value" : "WRONG");
  }
  std::fflush(stdout);
}

int fail(const char* what) {
  std::fprintf(stderr, "connect4: %s\n", what);
  return 1;
}

int run(const Options& options) {
  const Grid grid(options.columns, options.rows, kOpsPerPosition);
  mg::Position start;
  if (!play(grid, options.moves, start)) return fail("--moves: one of them cannot be played");
  const fairlead::Result<fairlead::run::Context*> rank = fairlead::run::attach();
  if (!rank.ok()) return fail(rank.error().text.c_str());
  const fairlead::Result<mg::Multigame*> started = mg::Multigame::start(
      *rank.value(),
      {.jobs_per_message = options.jobs, .table_bytes = static_cast<std::size_t>(options.table)});
  if (!started.ok()) return fail(started.error().text.c_str());
  mg::Multigame& game = *started.value();
  const auto depth = static_cast<std::uint8_t>(options.depth);
  game.barrier();
  const fairlead::Ps begin = rank.value()->port().now();
  const mg::AlphaBetaAnswer answer =
      game.alpha_beta(grid, start, depth, {static_cast<std::uint8_t>(options.local)});
  const double seconds = to_seconds(rank.value()->port().now() - begin);
  bool same = true;
  if (game.self() == 0) {
    same = !options.verify || mg::alpha_beta_alone(grid, start, depth).value == answer.value;
    print(options, answer, game.size(), seconds, same);
  }
  game.stop();
  return same ? 0 : 1;
}

}  // namespace
}  // namespace connect4

int main(int argc, char** argv) {
  connect4::Options options;
  const char* wrong = connect4::parse(argc, argv, options);
  if (wrong != nullptr || options.help) {
    if (wrong != nullptr) std::fprintf(stderr, "connect4: cannot use \"%s\"\n\n", wrong);
    std::fputs(connect4::kHelp, wrong != nullptr ? stderr : stdout);
    return wrong != nullptr ? 2 : 0;
  }
  return connect4::run(options);
}
