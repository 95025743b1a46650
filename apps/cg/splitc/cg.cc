// Conjugate gradients as in the Split-C paper (section 6): 4096 unknowns, neighbours' values by
// stores.
#include <vector>

#include "apps/cg/options.h"
#include "apps/cg/solver.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace cg {
namespace {

namespace splitc = fairlead::splitc;

// Fields lie in the heap, at the same place on every rank: neighbours store their rows into them.
class ByStores final : public Neighbours {
 public:
  explicit ByStores(const Options& options)
      : Neighbours(splitc::my_proc(), splitc::procs(), options.grid, options.matrix) {}
  ~ByStores() override {
    for (const splitc::global_ptr<double> field : fields_) splitc::all_free(field);
  }

  double* make_field() override {
    const apps::Rows most = rows_of(0);
    const std::int64_t kept = is_whole() ? grid() : most.end - most.begin + 2;
    const auto values = static_cast<std::size_t>(kept * grid());
    fields_.push_back(splitc::all_malloc<double>(values).on(rank()));
    return splitc::tolocal(fields_.back());
  }

  void exchange(double* field) override {
    if (is_whole()) return share(field);
    const splitc::global_ptr<double> mine = splitc::toglobal(field);
    const auto side = static_cast<std::size_t>(grid());
    std::uint64_t bytes = 0;
    if (has_above()) {
      const apps::Rows theirs = rows_of(rank() - 1);
      const std::int64_t below_theirs = (theirs.end - theirs.begin + 1) * grid();
      splitc::bulk_store(mine.on(rank() - 1) + below_theirs, first(field), side);
      bytes += side * sizeof(double);
    }
    if (has_below()) {
      splitc::bulk_store(mine.on(rank() + 1), last(field), side);
      bytes += side * sizeof(double);
    }
    splitc::store_sync(bytes);
  }

  double sum(double mine) override { return splitc::all_reduce_sum(mine); }

 private:
  // Each rank stores its part into the field of every other, beginning with the next one, so that
  // not all store to one at the same time.
  void share(double* field) {
    const std::int64_t own = (rows().end - rows().begin) * grid();
    const auto values = static_cast<std::size_t>(own);
    const splitc::global_ptr<double> mine = splitc::toglobal(field);
    for (std::uint32_t i = 1; i < ranks() && own > 0; ++i) {
      splitc::bulk_store(mine.on((rank() + i) % ranks()) + own_begin(), field + own_begin(),
                         values);
    }
    splitc::store_sync(static_cast<std::uint64_t>(grid() * grid() - own) * sizeof(double));
  }

  std::vector<splitc::global_ptr<double>> fields_;
};

int run(const Options& options) {
  ByStores neighbours(options);
  Solver solver(neighbours);
  splitc::barrier();
  const double begin = splitc::seconds();
  const std::int64_t iterations = solver.solve(options.tolerance, options.iterations);
  const double seconds = splitc::seconds() - begin;
  splitc::barrier();
  return report(options, kSplitC, {splitc::procs(), seconds, iterations, solver.residual()},
                splitc::my_proc() == 0);
}

}  // namespace
}  // namespace cg

int main(int argc, char** argv) {
  cg::Options options;
  if (const auto over = cg::read(cg::kSplitC, argc, argv, options)) return *over;
  return fairlead::splitc::start([&options] { return cg::run(options); });
}
