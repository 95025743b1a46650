// What a miss of CRL costs beside the Port's messages of the same size (LCI paper, table V): clean
// misses of rank 1 on regions of rank 0, which waits. Two ranks, either world; JSON lines.
//   fairlead run -n 2 crl_bench             fairlead run -n 2 --on myrinet-ppro --lci pio crl_bench
#include <cstdio>
#include <utility>
#include <vector>

#include "bench/port_echo.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/crl/crl.h"

FAIRLEAD_FIBER_PROGRAM;

namespace fairlead {
namespace {

constexpr int kRounds = 20;
constexpr std::size_t kRegions = 32;  // of one round: each is missed once
constexpr std::size_t kSizes[] = {8, 88, 1024, 16384, 65536, 262144, 1048576};

double port_us(lci::Port& port, std::size_t bytes) {
  bench::PortEcho echo(port, bytes);
  rgn_barrier();
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = crl_time();
    for (std::size_t i = 0; i < kRegions; ++i) echo.exchange();
    times.push_back((crl_time() - begin) * 1e6 / kRegions);
  }
  rgn_barrier();
  return bench::median(std::move(times));
}

// The time of one miss. The regions are at home, and nobody else has a copy.
double miss_us(const std::vector<void*>& regions, bool writes) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    rgn_barrier();
    const double begin = crl_time();
    if (crl_self_addr() == 1) {
      for (void* const each : regions) {
        writes ? rgn_start_write(each) : rgn_start_read(each);
        writes ? rgn_end_write(each) : rgn_end_read(each);
      }
    }
    times.push_back((crl_time() - begin) * 1e6 / static_cast<double>(regions.size()));
    if (crl_self_addr() == 1) {
      for (void* const each : regions) rgn_flush(each);
    }
    // A flush needs no answer: this one says that those before it have come.
    rgn_barrier();
    if (crl_self_addr() == 0) {
      for (void* const each : regions) {
        rgn_start_write(each);
        rgn_end_write(each);
      }
    }
  }
  return bench::median(std::move(times));
}

void measure(lci::Port& port, std::size_t bytes) {
  std::vector<crl_rid_t> ids(kRegions);
  if (crl_self_addr() == 0) {
    for (crl_rid_t& each : ids) each = rgn_create(bytes);
    rgn_bcast_send(kRegions * sizeof ids[0], ids.data());
  } else {
    rgn_bcast_recv(kRegions * sizeof ids[0], ids.data());
  }
  std::vector<void*> regions;
  for (const crl_rid_t each : ids) regions.push_back(rgn_map(each));
  const double message = port_us(port, bytes);
  const double read = miss_us(regions, false);
  const double write = miss_us(regions, true);
  if (crl_self_addr() == 1) {
    const double size = static_cast<double>(bytes);
    std::printf(
        "{\"bench\":\"crl\",\"bytes\":%zu,\"port_us\":%.2f,\"read_miss_us\":%.2f,"
        "\"write_miss_us\":%.2f,\"port_MBps\":%.1f,\"write_miss_MBps\":%.1f}\n",
        bytes, message, read, write, size / message, size / write);
    std::fflush(stdout);
  }
  for (void* const each : regions) rgn_unmap(each);
  rgn_barrier();
}

}  // namespace
}  // namespace fairlead

int main() {
  crl_init(nullptr);
  if (crl_num_nodes() != 2) {
    std::fprintf(stderr, "crl_bench: run it on 2 ranks: fairlead run -n 2 crl_bench\n");
    return 2;
  }
  for (const std::size_t bytes : fairlead::kSizes) {
    fairlead::measure(fairlead::run::attach().value()->port(), bytes);
  }
  crl_finalize();
  return 0;
}
