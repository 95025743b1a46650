// A first Split-C program: every rank stores its number at all the others, waits until as many
// bytes have come as the others store, and adds what it finds; rank 0 prints the sum that all agree
// on.
#include <cstdio>

#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace splitc = fairlead::splitc;

int main() {
  return splitc::start([] {
    const std::uint32_t me = splitc::my_proc();
    const std::uint32_t procs = splitc::procs();
    // One row of numbers at each rank; element i of everybody's row is rank i's.
    const splitc::global_ptr<int> row = splitc::all_malloc<int>(procs);
    for (std::uint32_t rank = 0; rank < procs; ++rank) {
      splitc::store(row.on(rank) + me, static_cast<int>(me + 1));
    }
    splitc::store_sync(procs * sizeof(int));
    const int* const mine = splitc::tolocal(row.on(me));
    int sum = 0;
    for (std::uint32_t i = 0; i < procs; ++i) sum += mine[i];
    const bool agreed = splitc::all_reduce_min(sum) == splitc::all_reduce_max(sum);
    if (me == 0 && agreed) std::printf("%u ranks agree on %d\n", procs, sum);
    return agreed ? 0 : 1;
  });
}
