// The micro-benchmarks of benchmarks.h against the calls of TreadMarks alone.
#include "apps/common/clock.h"
#include "apps/pages/benchmarks.h"
#include "fairlead/systems/dsm/tmk.h"

namespace pages {
namespace {

const char kHelp[] =
    "Times what page-based shared memory consists of, and checks the values it reads.\n"
    "\n"
    "usage: pages [options]\n"
    "  --pages N     pages of page and diff, at most 4096 (1024, as in the paper)\n"
    "  --rounds N    of lock and barrier (100)\n"
    "  --only NAME   this one alone\n"
    "  --json        print one JSON object\n"
    "\n"
    "page      rank 0 touches the pages, each other rank reads one word of each\n"
    "diff      each rank writes every second byte of its part of every page, then all meet\n"
    "lock      all add to one counter under a lock\n"
    "barrier   all meet\n"
    "\n"
    "Times are those of the slowest rank: of a page, of a round.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 pages\n"
    "  fairlead run -n 4 --on myrinet-p3 --body process pages --pages 256\n";

// What every rank learns of rank 0.
struct Shared {
  std::byte* pages;
  std::uint64_t* counter;
  double* times;  // by rank
};
Shared shared;

class Tmk {
 public:
  explicit Tmk(const Options& options) {
    if (rank() == 0) {
      shared.pages = reinterpret_cast<std::byte*>(
          Tmk_malloc(static_cast<unsigned>(options.pages) * unsigned{kPageBytes}));
      shared.counter = reinterpret_cast<std::uint64_t*>(Tmk_malloc(kPageBytes));
      shared.times =
          reinterpret_cast<double*>(Tmk_malloc(static_cast<unsigned>(sizeof(double)) * ranks()));
      if (shared.pages == nullptr || shared.counter == nullptr || shared.times == nullptr) {
        fail("no memory; set FAIRLEAD_DSM_HEAP");
      }
      Tmk_distribute(&shared, sizeof shared);
    }
    Tmk_barrier(1);
  }

  unsigned rank() const { return Tmk_proc_id; }
  unsigned ranks() const { return Tmk_nprocs; }
  void barrier(unsigned id) { Tmk_barrier(id); }
  void acquire() { Tmk_lock_acquire(1); }
  void release() { Tmk_lock_release(1); }
  std::byte* page(std::size_t i, bool) { return shared.pages + i * kPageBytes; }
  std::uint64_t* counter(bool) { return shared.counter; }
  double* time_of(unsigned rank, bool) { return shared.times + rank; }
  std::int64_t now_ns() const { return apps::nanoseconds_now(); }
  void fail(const char* text) {
    std::fprintf(stderr, "pages: %s\n", text);
    Tmk_exit(1);
  }
};

}  // namespace
}  // namespace pages

int main(int argc, char** argv) {
  pages::Options options;
  if (const auto over =
          pages::read_options<pages::Tmk>("pages", pages::kHelp, argc, argv, options)) {
    return *over;
  }
  Tmk_startup(argc, argv);
  pages::Tmk front(options);
  pages::Benchmarks(front, options).run();
  Tmk_exit(0);
}
