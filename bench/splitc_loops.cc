// What an access through a global pointer costs where the other rank's heap is mapped, beside the
// same loop over that memory by a plain pointer. splitc_loops.sc has the loops in Split-C's own
// syntax; splitc_loops.py runs both in turn. Prints nanoseconds of one access, as JSON.
#include <cstdint>
#include <cstdio>

#include "fairlead/systems/splitc/access.h"
#include "fairlead/systems/splitc/splitc.h"

namespace splitc = fairlead::splitc;

namespace {

constexpr int kInts = 1024;
constexpr int kTurns = 20'000;

template <class Turn>
double nanoseconds_of(Turn&& turn) {
  const double begin = splitc::seconds();
  for (int i = 0; i < kTurns; ++i) turn(i);
  return (splitc::seconds() - begin) * 1e9 / (double{kTurns} * kInts);
}

}  // namespace

int main() {
  return splitc::start([] {
    const splitc::global_ptr<int> all = splitc::all_malloc<int>(kInts);
    const splitc::global_ptr<int> there = all.on(1 % splitc::procs());
    for (int i = 0; i < kInts; ++i) splitc::tolocal(all.on(splitc::my_proc()))[i] = i;
    splitc::barrier();
    if (splitc::my_proc() == 0) {
      const splitc::access::View& view = splitc::access::view();
      if (view.bases[there.rank()] == nullptr) {
        std::fprintf(stderr, "splitc_loops: the other rank's heap is not mapped: --on shm\n");
        return 1;
      }
      volatile int* const mapped =
          reinterpret_cast<int*>(view.bases[there.rank()] + there.offset());
      std::uint32_t sum = 0;
      const double read = nanoseconds_of([&](int) {
        for (int i = 0; i < kInts; ++i) sum += static_cast<std::uint32_t>(splitc::read(there + i));
      });
      const double raw_read = nanoseconds_of([&](int) {
        for (int i = 0; i < kInts; ++i) sum += static_cast<std::uint32_t>(mapped[i]);
      });
      const double write = nanoseconds_of([&](int turn) {
        for (int i = 0; i < kInts; ++i) splitc::write(there + i, turn + i);
      });
      const double raw_write = nanoseconds_of([&](int turn) {
        for (int i = 0; i < kInts; ++i) mapped[i] = turn + i;
      });
      std::printf(
          "{\"read_ns\":%.3f,\"write_ns\":%.3f,\"raw_read_ns\":%.3f,\"raw_write_ns\":%.3f,"
          "\"sum\":%u}\n",
          read, write, raw_read, raw_write, sum);
    }
    splitc::barrier();
    return 0;
  });
}
