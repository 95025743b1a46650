// The micro-benchmarks of benchmarks.h by handles, without faults: ranks may be fibers, thousands
// of them.
#include <cstdlib>

#include "apps/pages/benchmarks.h"
#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/dsm/handles.h"

FAIRLEAD_FIBER_PROGRAM;

namespace pages {
namespace {

using fairlead::dsm::Dsm;

const char kHelp[] =
    "Times what page-based shared memory consists of, by handles: the program says what it\n"
    "touches, so that ranks of a modelled platform may be fibers (--body fiber, the default).\n"
    "\n"
    "usage: pages_handles [options]\n"
    "  --pages N     pages of page and diff, at most 4096 (1024)\n"
    "  --rounds N    of lock and barrier (100)\n"
    "  --only NAME   this one alone: page, diff, lock, barrier\n"
    "  --json        print one JSON object\n"
    "\n"
    "The benchmarks are those of `pages`. The heap has room for them and no more, where\n"
    "FAIRLEAD_DSM_HEAP says nothing else, as each rank keeps a version for each page and rank.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 1024 --on infiniband-pcie pages_handles --only page --pages 64\n"
    "  fairlead run -n 2 pages_handles\n";

class Handles {
 public:
  Handles(fairlead::run::Context& context, Dsm& dsm, const pages::Options& options)
      : context_(context),
        dsm_(dsm),
        pages_(Elements<std::byte>::allocate(dsm,
                                             static_cast<std::size_t>(options.pages) * kPageBytes)),
        counter_(Elements<std::uint64_t>::allocate(dsm, kPageBytes / sizeof(std::uint64_t))),
        times_(Elements<double>::allocate(dsm, dsm.size())) {
    if (pages_.size() == 0 || counter_.size() == 0 || times_.size() == 0) {
      fail("no memory; set FAIRLEAD_DSM_HEAP");
    }
  }

  // What the benchmarks take.
  static std::size_t heap_bytes(const pages::Options& options, std::size_t ranks) {
    const std::size_t times = (ranks * sizeof(double) + kPageBytes - 1) / kPageBytes;
    return (static_cast<std::size_t>(options.pages) + 1 + times + kSpare) * kPageBytes;
  }

  unsigned rank() const { return dsm_.self(); }
  unsigned ranks() const { return dsm_.size(); }
  void barrier(unsigned) { dsm_.barrier(); }
  void acquire() { dsm_.acquire(1); }
  void release() { dsm_.release(1); }
  std::byte* page(std::size_t i, bool writes) {
    return touched(pages_, i * kPageBytes, kPageBytes, writes);
  }
  std::uint64_t* counter(bool writes) { return touched(counter_, 0, 1, writes); }
  double* time_of(unsigned rank, bool writes) { return touched(times_, rank, 1, writes); }
  std::int64_t now_ns() const {
    return context_.port().now().count / fairlead::nanoseconds(1).count;
  }
  void fail(const char* text) {
    context_.abort_job(1, text);
    std::abort();
  }

 private:
  template <class T>
  using Elements = fairlead::dsm::Shared<T>;
  static constexpr std::size_t kSpare = 16;  // pages: of the heap's own use

  template <class T>
  T* touched(const Elements<T>& elements, std::size_t first, std::size_t count, bool writes) {
    dsm_.touch(elements.address(first), count * sizeof(T), writes);
    return elements.address(first);
  }

  fairlead::run::Context& context_;
  Dsm& dsm_;
  Elements<std::byte> pages_;
  Elements<std::uint64_t> counter_;
  Elements<double> times_;
};

}  // namespace
}  // namespace pages

int main(int argc, char** argv) {
  pages::Options options;
  if (const auto over =
          pages::read_options<pages::Handles>("pages_handles", pages::kHelp, argc, argv, options)) {
    return *over;
  }
  auto joined = fairlead::run::attach();
  if (!joined.ok()) return std::fprintf(stderr, "%s\n", joined.error().text.c_str()), 1;
  fairlead::run::Context& context = *joined.value();
  auto settings = fairlead::dsm::Options::of_environment();
  if (!settings.ok()) return std::fprintf(stderr, "%s\n", settings.error().text.c_str()), 1;
  if (settings.value().engine == fairlead::dsm::EngineKind::automatic) {
    settings.value().engine = fairlead::dsm::EngineKind::checked;
  }
  if (std::getenv("FAIRLEAD_DSM_HEAP") == nullptr) {
    settings.value().heap_bytes = pages::Handles::heap_bytes(options, context.port().size());
  }
  auto started = fairlead::dsm::Dsm::start(context, settings.value());
  if (!started.ok()) return std::fprintf(stderr, "%s\n", started.error().text.c_str()), 1;
  {
    pages::Handles front(context, *started.value(), options);
    pages::Benchmarks(front, options).run();
  }
  started.value()->stop();
  return 0;
}
