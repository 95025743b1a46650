// CRL: a clean write miss is a small request to the region's home and its answer with the data.
// Rank 1 is the home, rank 0 misses. It has no multicast that programs wait for.
#include <memory>
#include <vector>

#include "apps/pps/levels.h"
#include "fairlead/systems/crl/crl.h"

namespace pps {
namespace {

class CrlLevel final : public Level {
 public:
  double round_trip_us(std::uint64_t bytes, int count) override {
    return misses_s(bytes, count) * 1e6 / count;
  }
  double throughput(std::uint64_t bytes, int count) override {
    const double time = misses_s(bytes, count);
    return time > 0 ? static_cast<double>(bytes) * count / (time * 1e6) : 0;
  }
  double multicast_us(std::uint64_t, int) override { return 0; }
  double multicast_throughput(std::uint64_t, int) override { return 0; }
  void end() override { crl_finalize(); }

 private:
  // The time of `count` misses, each on a region that rank 0 has not had before.
  static double misses_s(std::uint64_t bytes, int count) {
    std::vector<crl_rid_t> regions(static_cast<std::size_t>(count));
    const std::size_t size = regions.size() * sizeof(crl_rid_t);
    double time = 0;
    if (crl_self_addr() == 1) {
      for (crl_rid_t& each : regions) each = rgn_create(bytes);
      rgn_bcast_send(size, regions.data());
    } else {
      rgn_bcast_recv(size, regions.data());
    }
    if (crl_self_addr() == 0) {
      std::vector<void*> mapped;
      for (const crl_rid_t each : regions) mapped.push_back(rgn_map(each));
      rgn_barrier();
      const double begin = crl_time();
      for (void* const each : mapped) {
        rgn_start_write(each);
        rgn_end_write(each);
      }
      time = crl_time() - begin;
      for (void* const each : mapped) {
        rgn_flush(each);
        rgn_unmap(each);
      }
    } else {
      rgn_barrier();
    }
    rgn_barrier();
    if (crl_self_addr() == 1) {
      for (const crl_rid_t each : regions) rgn_destroy(each);
    }
    rgn_barrier();
    return time;
  }
};

}  // namespace

fairlead::Result<std::unique_ptr<Level>> crl_level() {
  crl_init(nullptr);
  return std::unique_ptr<Level>(std::make_unique<CrlLevel>());
}

}  // namespace pps
