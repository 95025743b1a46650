// The three-dimensional FFT of NAS in Split-C, in slabs: each block of a transposition is stored
// where it is needed, and a rank goes on when as many bytes have come as it waits for.
#include <vector>

#include "apps/fft3d/solve.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace fft3d {
namespace {

namespace splitc = fairlead::splitc;

constexpr const char* kProgram = "fft3d_splitc";

class Stores final : public Front {
 public:
  explicit Stores(const Slabs& slabs)
      : Front(kProgram, slabs.rank(), slabs.ranks()),
        came_(splitc::all_malloc<Complex>(static_cast<std::size_t>(slabs.most()))),
        block_(static_cast<std::size_t>(slabs.most())) {}
  ~Stores() override { splitc::all_free(came_); }

  void transpose(Slabs& slabs, Way way) override {
    const int me = rank();
    const Complex* const here = splitc::tolocal(came_.on(splitc::my_proc()));
    std::uint64_t bytes = 0;
    // Each rank begins with another one's block.
    for (int i = 1; i < ranks(); ++i) {
      const int to = (me + i) % ranks();
      slabs.pack(way, to, block_.data());
      splitc::bulk_store(came_.on(static_cast<std::uint32_t>(to)) + slabs.before(way, me, to),
                         block_.data(), static_cast<std::size_t>(slabs.block(way, me, to)));
      bytes += static_cast<std::uint64_t>(slabs.block(way, to, me)) * sizeof(Complex);
    }
    slabs.pack(way, me, block_.data());
    slabs.take(way, me, block_.data());
    splitc::store_sync(bytes);
    for (int from = 0; from < ranks(); ++from) {
      if (from != me) slabs.take(way, from, here + slabs.before(way, from, me));
    }
  }

  Complex sum(Complex mine) override {
    return {splitc::all_reduce_sum(mine.real()), splitc::all_reduce_sum(mine.imag())};
  }
  void meet() override { splitc::barrier(); }
  double now() override { return splitc::seconds(); }

 private:
  const splitc::global_ptr<Complex> came_;  // the blocks of all ranks, one after the other
  std::vector<Complex> block_;
};

int run(const Options& options) {
  Slabs slabs(options.size(), static_cast<int>(splitc::my_proc()),
              static_cast<int>(splitc::procs()));
  Stores front(slabs);
  return solve(options, slabs, front);
}

}  // namespace
}  // namespace fft3d

int main(int argc, char** argv) {
  fft3d::Options options;
  if (const auto over = fft3d::read(fft3d::kProgram, "in Split-C", argc, argv, options)) {
    return *over;
  }
  return fairlead::splitc::start([&options] { return fft3d::run(options); });
}
