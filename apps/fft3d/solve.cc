#include "apps/fft3d/solve.h"

#include <cstdio>
#include <string>

#include "apps/common/command_line.h"

namespace fft3d {
namespace {

const char kHelp[] =
    "  --n N         points along each side, a power of two from 4 to 256 (64)\n"
    "  --steps N     of time (6)\n"
    "  --paper       the problem of the Split-C paper: 128 points, one step\n"
    "  --no-verify   do not check the checksums\n"
    "  --json        print one JSON object, with the seconds that the transforms take\n"
    "\n"
    "With 64 points each step's checksum is compared with the one that NAS publishes (class S), "
    "with\n"
    "others with that of one processor.\n"
    "\n"
    "examples:\n";

// One processor.
class Alone final : public Front {
 public:
  explicit Alone(const Slabs& slabs)
      : Front("", 0, 1), block_(static_cast<std::size_t>(slabs.most())) {}
  void transpose(Slabs& slabs, Way way) override {
    slabs.pack(way, 0, block_.data());
    slabs.take(way, 0, block_.data());
  }
  Complex sum(Complex mine) override { return mine; }
  void meet() override {}
  double now() override { return 0; }

 private:
  std::vector<Complex> block_;
};

// The checksums of all steps.
std::vector<Complex> run(std::int64_t steps, Slabs& slabs, Front& front) {
  slabs.begin();
  front.transpose(slabs, Way::to_rows);
  slabs.make_frequencies();
  front.meet();
  std::vector<Complex> sums;
  for (std::int64_t i = 0; i < steps; ++i) {
    slabs.step();
    front.transpose(slabs, Way::to_planes);
    sums.push_back(front.sum(slabs.finish()));
  }
  return sums;
}

bool verified(const Options& options, const std::vector<Complex>& sums) {
  const Size size = options.size();
  std::vector<Complex> expected;
  if (!has_published(size)) {
    Slabs slabs(size, 0, 1);
    Alone alone(slabs);
    expected = run(options.steps, slabs, alone);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const bool good = has_published(size)
                          ? as_published(size, static_cast<int>(i + 1), sums[i])
                          : std::abs(sums[i] - expected[i]) <= 1e-12 * std::abs(sums[i]);
    if (good) continue;
    std::fprintf(stderr, "fft3d: step %zu: checksum %.12e %.12e is wrong\n", i + 1, sums[i].real(),
                 sums[i].imag());
    return false;
  }
  return true;
}

}  // namespace

std::optional<int> read(const char* program, const char* how, int argc, char** argv,
                        Options& options) {
  const std::string name = program;
  const std::string help = "Solves a heat equation by three-dimensional FFTs " + std::string(how) +
                           ".\n\nusage: " + name + " [options]\n" + kHelp + "  fairlead run -n 2 " +
                           name + "\n  fairlead run -n 4 --on myrinet-p3 " + name + " --n 16\n";
  const std::optional<int> over = apps::CommandLine()
                                      .count("--n", 4, 256, options.n)
                                      .count("--steps", 1, 20, options.steps)
                                      .preset("--paper",
                                              [&options] {
                                                options.n = kPaperSide;
                                                options.steps = 1;
                                              })
                                      .verification(options.verify)
                                      .flag("--json", options.json)
                                      .read(program, help.c_str(), argc, argv);
  if (over) return over;
  if ((options.n & (options.n - 1)) == 0) return std::nullopt;
  std::fprintf(stderr, "%s: --n must be a power of two\n", program);
  return 2;
}

int solve(const Options& options, Slabs& slabs, Front& front) {
  front.meet();
  const double begin = front.now();
  const std::vector<Complex> sums = run(options.steps, slabs, front);
  const double seconds = front.now() - begin;
  if (front.rank() != 0) return 0;
  const bool good = !options.verify || verified(options, sums);
  const auto n = static_cast<long long>(options.n);
  const Complex last = sums.back();
  if (options.json) {
    std::printf(
        "{\"app\":\"%s\",\"n\":%lld,\"steps\":%zu,\"ranks\":%d,\"seconds\":%.9g,"
        "\"checksum\":[%.12g,%.12g]",
        front.program(), n, sums.size(), front.ranks(), seconds, last.real(), last.imag());
    if (options.verify) std::printf(",\"verified\":%s", good ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("%s: %lld points a side on %d ranks, %zu steps: checksum %.12g %.12g, %.6f s\n",
                front.program(), n, front.ranks(), sums.size(), last.real(), last.imag(), seconds);
    if (options.verify) {
      std::printf("%s\n", !good                           ? "WRONG"
                          : has_published(options.size()) ? "verified: as published"
                                                          : "verified: as on one processor");
    }
  }
  std::fflush(stdout);
  return good ? 0 : 1;
}

}  // namespace fft3d
