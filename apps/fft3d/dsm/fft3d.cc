// The three-dimensional FFT of NAS on page-based shared memory, as TreadMarks has it: planes and
// rows lie in one shared field, through which each step transposes.
#include <cstdio>
#include <memory>
#include <vector>

#include "apps/common/clock.h"
#include "apps/common/command_line.h"
#include "apps/fft3d/dsm/transform.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/dsm/tmk.h"

namespace fft3d {
namespace {

const char kHelp[] =
    "Solves a heat equation by three-dimensional FFTs on a field that ranks share by pages.\n"
    "\n"
    "usage: fft3d [options]\n"
    "  --n N         points along each side, a power of two from 4 to 256 (64)\n"
    "  --steps N     of time (6)\n"
    "  --paper       64 points, 6 steps\n"
    "  --json        print one JSON object, with the seconds that the steps take\n"
    "\n"
    "With 64 points each step's checksum is compared with the one that NAS publishes (class S), "
    "with\n"
    "others with that of one processor.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 fft3d\n"
    "  fairlead run -n 4 --on myrinet-p3 fft3d --n 16\n";

constexpr unsigned kBarrier = 1;
constexpr unsigned kLock = 1;

struct Shared {
  Complex* field;
  Complex* sums;  // by step
};
Shared shared;

std::vector<Complex> alone(const Size& size, std::int64_t steps) {
  std::vector<Complex> field(static_cast<std::size_t>(size.elements()));
  Transform transform(size, 0, 1, field.data(), [] {});
  transform.begin();
  std::vector<Complex> sums;
  for (std::int64_t i = 0; i < steps; ++i) sums.push_back(transform.step());
  return sums;
}

bool verified(const Size& size, std::int64_t steps) {
  const bool published = has_published(size);
  const std::vector<Complex> expected = published ? std::vector<Complex>{} : alone(size, steps);
  for (std::int64_t i = 0; i < steps; ++i) {
    const Complex sum = shared.sums[i];
    const bool good =
        published ? as_published(size, static_cast<int>(i + 1), sum)
                  : std::abs(sum - expected[static_cast<std::size_t>(i)]) <= 1e-12 * std::abs(sum);
    if (!good) {
      std::fprintf(stderr, "fft3d: step %lld: checksum %.12e %.12e is wrong\n",
                   static_cast<long long>(i + 1), sum.real(), sum.imag());
      return false;
    }
  }
  return true;
}

int run(const Size& size, std::int64_t steps, bool json) {
  const auto bytes = static_cast<std::size_t>(size.elements()) * sizeof(Complex);
  if (Tmk_proc_id == 0) {
    shared.field = reinterpret_cast<Complex*>(Tmk_malloc(static_cast<unsigned>(bytes)));
    shared.sums = reinterpret_cast<Complex*>(
        Tmk_malloc(static_cast<unsigned>(static_cast<std::size_t>(steps) * sizeof(Complex))));
    if (shared.field == nullptr || shared.sums == nullptr) {
      std::fprintf(stderr, "fft3d: no memory; set FAIRLEAD_DSM_HEAP to more than %zu bytes\n",
                   bytes);
      Tmk_exit(1);
    }
    Tmk_distribute(&shared, sizeof shared);
  }
  Tmk_barrier(kBarrier);
  // The work between two meetings is done before the second.
  std::unique_ptr<Transform> transform;
  const auto meet = [&transform] {
    const std::uint64_t operations = transform->take_operations();
    fairlead_work(operations, operations * 2, 64 * 1024);
    Tmk_barrier(kBarrier);
  };
  transform = std::make_unique<Transform>(size, static_cast<int>(Tmk_proc_id),
                                          static_cast<int>(Tmk_nprocs), shared.field, meet);
  transform->begin();
  Tmk_barrier(kBarrier);
  const double begin = apps::seconds_now();
  for (std::int64_t i = 0; i < steps; ++i) {
    const Complex part = transform->step();
    Tmk_lock_acquire(kLock);
    shared.sums[i] += part;
    Tmk_lock_release(kLock);
  }
  Tmk_barrier(kBarrier);
  const double seconds = apps::seconds_now() - begin;
  if (Tmk_proc_id == 0) {
    if (!verified(size, steps)) Tmk_exit(1);
    if (json) {
      std::printf("{\"app\":\"fft3d\",\"ranks\":%u,\"seconds\":%.9g}\n", Tmk_nprocs, seconds);
      Tmk_exit(0);
    }
    std::printf("fft3d: %lld points a side, %u ranks: %lld checksums as %s\n",
                static_cast<long long>(size.nx), Tmk_nprocs, static_cast<long long>(steps),
                has_published(size) ? "published" : "of one processor");
  }
  Tmk_exit(0);
  return 0;
}

}  // namespace
}  // namespace fft3d

int main(int argc, char** argv) {
  std::int64_t n = 64;
  std::int64_t steps = fft3d::kSteps;
  apps::CommandLine line;
  line.count("--n", 4, 256, n).count("--steps", 1, 20, steps);
  line.preset("--paper", [&] {
    n = 64;
    steps = fft3d::kSteps;
  });
  bool json = false;
  line.flag("--json", json);
  if (const auto over = line.read("fft3d", fft3d::kHelp, argc, argv)) return *over;
  if ((n & (n - 1)) != 0) {
    std::fprintf(stderr, "fft3d: --n must be a power of two\n");
    return 2;
  }
  Tmk_startup(argc, argv);
  return fft3d::run({n, n, n}, steps, json);
}
