// One run of `fairlead bench`, or of a program beside the command, on a modelled platform, and what
// came of it.
#pragma once
#include <string>
#include <vector>

#include "tools/fairlead/json.h"

namespace fairlead::tools {

struct Measurement {
  std::string bench;     // "logp", or the program's name
  std::string platform;  // "myrinet-ppro"
  std::string lci;       // "sdma"
  std::vector<std::string> arguments;
  // For a program: how many ranks run it, and what more `fairlead run` is told. 0: a bench.
  std::uint32_t ranks = 0;
  std::vector<std::string> options = {};
  double expected_s = 1;  // wall time of a program on one processor, for estimates only

  bool is_program() const { return ranks > 0; }
  // The program's file: beside the command.
  std::string program_path() const;
  // "bench logp --on myrinet-ppro --lci sdma .. --json --packets", or "run -n 64 --on .. asp ..
  // --json": what follows the command's name.
  std::vector<std::string> command() const;
  // As above, as one line; two measurements with the same text are one.
  std::string text() const;
  // Wall time to expect, in seconds on one processor; for estimates only.
  double weight() const;
};

struct Measured {
  enum class End { none, done, failed };

  End end = End::none;
  std::string reason;  // of failed
  std::vector<Json> lines;
  Json packets;
  Json path;  // us of the critical path by resource; null: nobody asked (--explain=path)
  double wall_s = 0;
  bool cached = false;

  // `key` of the line whose `bytes` is `size`, or of the only line.
  // CHECK: there is such a line; end == done.
  double figure(const std::string& key, std::uint64_t size) const;
  double figure(const std::string& key) const;
  // (bytes, key) of each line; (at_ms, key) where lines are of a time. Where `key` is a list of
  // pairs, these.
  std::vector<std::pair<double, double>> points(const std::string& key) const;
};

// Reads a bench's output. A text that is not such leaves end == failed.
Measured read_bench_output(const std::string& text);

}  // namespace fairlead::tools
