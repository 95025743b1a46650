// A micro-benchmark: a body that runs on every rank of a job in either world, uses nothing but the
// rank's Port, takes time from port.now() only, and leaves rows of figures.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/run/context.h"

namespace fairlead::tools {

constexpr std::size_t kFiguresMax = 8;
constexpr std::size_t kRowsMax = 64;

struct BenchOptions {
  std::vector<std::uint64_t> sizes;  // message bytes; at most kRowsMax
  std::uint32_t repetitions = 0;
  std::uint32_t window = 64;
  Rank partner = 1;   // of rank 0, where two ranks are active
  bool copy = false;  // the receiver copies each message into a linear array
  bool fill = true;   // the sender copies each message into packets; else it is there already
  bool put = false;   // messages are puts into the receiver's memory, which it learns by a counter
  bool modelled = false;  // time is virtual: what costs it nothing need not be saved
};

// How the parts of one measurement lie apart.
struct Spread {
  double least = 0;
  double median = 0;
  double p99 = 0;
};

struct Row {
  std::array<double, kFiguresMax> figures{};
  Spread spread;  // of the last figure that the bench has, where `spreads`
  bool spreads = false;
};

// A measurement in parts, one after the other: where time is real each is short, so that what else
// runs on the machine shows; where it is virtual there is one.
class Parts {
 public:
  explicit Parts(const BenchOptions& options) : options_(options) {}
  std::uint32_t count() const {
    return options_.modelled ? 1 : std::min(kParts, options_.repetitions);
  }
  // Repetitions of a part; all together are what was asked for.
  std::uint32_t size(std::uint32_t part) const {
    const std::uint64_t all = options_.repetitions;
    return static_cast<std::uint32_t>(all * (part + 1) / count() - all * part / count());
  }
  void add(double figure) { figures_.push_back(figure); }
  Spread spread() const;

 private:
  static constexpr std::uint32_t kParts = 100;
  const BenchOptions& options_;
  std::vector<double> figures_;
};

// Rows in memory that the ranks share with the command, whether they are processes or fibers.
class Rows {
 public:
  Rows();
  // From one rank only. CHECK: at most kRowsMax rows.
  void add(std::initializer_list<double> figures);
  // With how the parts of the last one lie apart, where there are several.
  void add(std::initializer_list<double> figures, const Parts& parts);
  std::span<const Row> all() const;
  // A number that a rank leaves for another one, read after a message from it.
  double& note(std::size_t index);

 private:
  struct Memory;
  std::shared_ptr<Memory> memory_;
};

// A figure of every row. A whole number is printed without a fraction.
struct Column {
  const char* key;      // stable, in JSON
  const char* heading;  // in tables
  bool whole = false;
};

// Options that a bench has beside those of all.
struct BenchTakes {
  bool partner = false;  // a rank opposite rank 0
  bool window = false;
  bool copy = false;
  bool fill = false;
  bool put = false;
  bool tree = false;
  bool accounts = false;
};

struct Bench {
  const char* name;
  const char* about;
  BenchTakes takes;
  std::vector<Column> columns;
  std::vector<std::uint64_t> default_sizes;  // empty: the bench has no message size
  std::uint32_t repetitions_real;
  std::uint32_t repetitions_modelled;
  int (*body)(run::Context& context, const BenchOptions& options, Rows& rows);
  // Another name of it, and what the program vibench calls it, which measures it for other
  // interfaces (--api); nullptr: none.
  const char* alias = nullptr;
  const char* program = nullptr;
};

// In the order of help.
const std::vector<Bench>& benches();

int logp_body(run::Context& context, const BenchOptions& options, Rows& rows);
int latency_body(run::Context& context, const BenchOptions& options, Rows& rows);
int overhead_body(run::Context& context, const BenchOptions& options, Rows& rows);
int rate_body(run::Context& context, const BenchOptions& options, Rows& rows);
int throughput_body(run::Context& context, const BenchOptions& options, Rows& rows);
int multicast_body(run::Context& context, const BenchOptions& options, Rows& rows);
int alltoall_body(run::Context& context, const BenchOptions& options, Rows& rows);
int fetchadd_body(run::Context& context, const BenchOptions& options, Rows& rows);
int remote_body(run::Context& context, const BenchOptions& options, Rows& rows);
int rdma_body(run::Context& context, const BenchOptions& options, Rows& rows);
int barrier_body(run::Context& context, const BenchOptions& options, Rows& rows);

}  // namespace fairlead::tools
