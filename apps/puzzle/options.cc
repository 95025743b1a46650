#include "apps/puzzle/options.h"

#include <charconv>
#include <system_error>

namespace puzzle {

const char kHelp[] =
    "The 15-puzzle by IDA* on Multigame: the length of the shortest solution.\n"
    "\n"
    "usage: puzzle [options]\n"
    "  --korf N         the N-th of Korf's positions, 1 to 10\n"
    "  --position TEXT  tiles place by place, 0 the blank: \"1 0 2 3 ...\"\n"
    "  --scramble N     N random moves from the goal (30)\n"
    "  --seed N         of those (1)\n"
    "  --width N        4: the 15-puzzle; 3: the 8-puzzle (4)\n"
    "  --jobs N         jobs that are sent at a time to a rank, 1 to 1024 (4)\n"
    "  --table BYTES    each rank's part of the hash table; 0: none (16777216)\n"
    "  --slack N        positions whose bound leaves less than N moves stay where they are (0)\n"
    "  --all            search the last iteration to its end\n"
    "  --paper          the LCI paper's: --korf 8 --table 33554432 --all (all fitted)\n"
    "  --verify         compare with the sequential search\n"
    "  --json           print one JSON object\n"
    "  --ranks          print what each rank did\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 4 puzzle --korf 9 --slack 4 --verify\n"
    "  fairlead run -n 64 --on myrinet-ppro puzzle --paper --jobs 64\n";

namespace {

template <class Number>
bool parse_number(std::string_view text, Number least, Number most, Number& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size() && value >= least &&
         value <= most;
}

// Options that take a value. false: no such option, or not such a value.
bool parse_valued(std::string_view name, std::string_view text, Options& options) {
  if (name == "--korf") return parse_number(text, 1u, 10u, options.korf);
  if (name == "--scramble") return parse_number(text, 0u, 100'000u, options.scramble);
  if (name == "--width") return parse_number(text, 3u, 4u, options.width);
  if (name == "--jobs") return parse_number(text, 1u, 1024u, options.jobs_per_message);
  if (name == "--slack") return parse_number(text, 0u, 100u, options.local_slack);
  if (name == "--seed") return parse_number<std::uint64_t>(text, 0, UINT64_MAX, options.seed);
  if (name == "--table") {
    return parse_number<std::uint64_t>(text, 0, std::uint64_t{1} << 40, options.table_bytes);
  }
  if (name != "--position") return false;
  options.position = text;
  return true;
}

bool parse_plain(std::string_view name, Options& options) {
  if (name == "--all") {
    options.all_solutions = true;
  } else if (name == "--paper") {
    options.korf = kPaperKorf;
    options.local_slack = kPaperSlack;
    options.table_bytes = kPaperTableBytes;
    options.all_solutions = true;
  } else if (name == "--verify") {
    options.verify = true;
  } else if (name == "--json") {
    options.json = true;
  } else if (name == "--ranks") {
    options.ranks = true;
  } else if (name == "--help") {
    options.help = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

const char* parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (parse_plain(argv[i], options)) continue;
    if (i + 1 == argc || !parse_valued(argv[i], argv[i + 1], options)) return argv[i];
    ++i;
  }
  return nullptr;
}

}  // namespace puzzle
