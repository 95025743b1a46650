// A micro-benchmark: a body that runs on every rank of a job in either world, uses nothing but the
// rank's Port, takes time from port.now() only, and leaves rows of figures.
#pragma once
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

struct Row {
  std::array<double, kFiguresMax> figures{};
};

// Rows in memory that the ranks share with the command, whether they are processes or fibers.
class Rows {
 public:
  Rows();
  // From one rank only. CHECK: at most kRowsMax rows.
  void add(std::initializer_list<double> figures);
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
