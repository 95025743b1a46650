// Linear equations by Jacobi's method as the LCI paper runs it (section 7): in each iteration all
// ranks broadcast their part of the solution at the same time, then they decide on convergence.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "apps/common/agree.h"
#include "apps/leq/equations.h"
#include "apps/leq/options.h"
#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/orca/orca.h"

FAIRLEAD_FIBER_PROGRAM;

namespace leq {
namespace {

using fairlead::orca::Object;
using fairlead::orca::Orca;
using fairlead::orca::Placement;

// Operations of one coefficient: two array elements with their bounds checks (the paper's program
// is written in Orca, whose arrays check), a multiplication, an addition, and the loop. Guessed.
constexpr std::uint64_t kOpsPerCoefficient = 10;

// The solution after so many iterations, on every rank; parts of the next one come in any order.
struct Solution {
  std::vector<double> now;
  std::vector<double> next;
  std::uint32_t parts = 0;  // of an iteration
  std::uint32_t came = 0;
  std::int64_t iterations = 0;
  auto fields() { return std::tie(now, next, parts, came, iterations); }

  // Nobody gives a part of an iteration before the one before is whole: it is made from that.
  void put(std::int64_t first, const std::vector<double>& part) {
    std::copy(part.begin(), part.end(), next.begin() + static_cast<std::ptrdiff_t>(first));
    if (++came < parts) return;
    came = 0;
    ++iterations;
    now.swap(next);
  }
  bool has(std::int64_t iteration) const { return iterations >= iteration; }
  std::vector<double> after(std::int64_t) const { return now; }
};

struct Shared {
  Object<Solution> solution;
  apps::Agreement agreement;
};

struct Outcome {
  std::int64_t iterations = 0;
  double change = 0.0;
  double seconds = 0.0;
};

void declare_work(const Equations& mine) {
  if (fairlead_work == nullptr) return;
  const auto cells = static_cast<std::uint64_t>((mine.own().end - mine.own().begin) * mine.count());
  fairlead_work(cells * kOpsPerCoefficient, cells * sizeof(double), cells * sizeof(double));
}

Outcome solve(Orca& me, const Shared& shared, const Options& options) {
  const auto ranks = static_cast<int>(me.size());
  const Equations mine(apps::share_of(static_cast<int>(me.self()), ranks, options.equations),
                       options.equations, options.dominance);
  Outcome outcome;
  std::uint32_t round = 1;
  // All begin together.
  (void)shared.agreement.largest(me, round, 0);
  const double begin = me.seconds();
  std::vector<double> now(static_cast<std::size_t>(options.equations));
  std::vector<double> part;
  for (;;) {
    const double own_change = mine.iterate(now, part);
    declare_work(mine);
    ++outcome.iterations;
    me.invoke<&Solution::put>(shared.solution, mine.own().begin, part);
    now = me.invoke<&Solution::after>(shared.solution, outcome.iterations);
    outcome.change = shared.agreement.largest(me, ++round, own_change);
    if (outcome.change <= options.tolerance || outcome.iterations >= options.iterations_max) break;
  }
  outcome.seconds = me.seconds() - begin;
  return outcome;
}

void worker(Orca& me, Shared shared, Options options) { (void)solve(me, shared, options); }

fairlead::orca::Program program() {
  fairlead::orca::Program all;
  all.type<Solution>("solution")
      .operation<&Solution::put>("put")
      .operation<&Solution::after, &Solution::has>("after");
  apps::Agreement::declare(all);
  all.process<&worker>("worker");
  return all;
}

// Sum of the solution, by which runs are compared.
double sum_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

void print(const Options& options, const Outcome& outcome, double sum, std::uint32_t ranks,
           double residual, bool good) {
  const long long equations = options.equations;
  const long long iterations = outcome.iterations;
  if (options.json) {
    std::printf(
        "{\"app\":\"leq\",\"equations\":%lld,\"ranks\":%u,\"iterations\":%lld,\"change\":%.17g,"
        "\"sum\":%.17g,\"seconds\":%.9g",
        equations, ranks, iterations, outcome.change, sum, outcome.seconds);
    if (options.verify) {
      std::printf(",\"residual\":%.17g,\"verified\":%s", residual, good ? "true" : "false");
    }
    std::printf("}\n");
  } else {
    std::printf("leq: %lld equations on %u ranks, %lld iterations, last change %.3e, %.6f s\n",
                equations, ranks, iterations, outcome.change, outcome.seconds);
    if (options.verify) {
      std::printf(good ? "verified: residual %.3e\n" : "WRONG: residual %.3e\n", residual);
    }
  }
  std::fflush(stdout);
}

// The first process; the exit code.
int run(Orca& me, const Options& options) {
  if (me.size() > options.equations) {
    std::fprintf(stderr, "leq: more ranks than equations; raise --equations\n");
    return 1;
  }
  Solution zero;
  zero.now.resize(static_cast<std::size_t>(options.equations));
  zero.next = zero.now;
  zero.parts = me.size();
  const Shared shared{me.create(Placement::replicated, zero), apps::Agreement::create(me)};
  for (fairlead::Rank rank = 1; rank < me.size(); ++rank) me.fork<&worker>(rank, shared, options);
  const Outcome outcome = solve(me, shared, options);
  const std::vector<double> values =
      me.invoke<&Solution::after>(shared.solution, outcome.iterations);
  double residual = 0.0;
  bool good = true;
  if (options.verify) {
    const Equations whole({0, options.equations}, options.equations, options.dominance);
    residual = whole.residual(values);
    // The next iteration would change it by less than the last one did, but for rounding.
    good = residual <= std::max(outcome.change, 1e-12);
  }
  print(options, outcome, sum_of(values), me.size(), residual, good);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace leq

int main(int argc, char** argv) {
  leq::Options options;
  if (const std::optional<int> over = leq::read(argc, argv, options)) return *over;
  const fairlead::Result<fairlead::run::Context*> joined = fairlead::run::attach();
  if (!joined.ok()) {
    std::fprintf(stderr, "leq: %s\n", joined.error().text.c_str());
    return 1;
  }
  int exit_code = 0;
  const fairlead::Result<void> done =
      fairlead::orca::run(*joined.value(), leq::program(), {},
                          [&](fairlead::orca::Orca& me) { exit_code = leq::run(me, options); });
  if (!done.ok()) std::fprintf(stderr, "leq: %s\n", done.error().text.c_str());
  return done.ok() ? exit_code : 1;
}
