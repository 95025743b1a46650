// What a miss of CRL costs beside the Port's messages of the same size (LCI paper, table V): clean
// misses of rank 1 on regions of rank 0, which waits. Two ranks, either world; JSON lines.
//   fairlead run -n 2 crl_bench             fairlead run -n 2 --on myrinet-ppro --lci pio crl_bench
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/run/names.h"
#include "fairlead/systems/crl/crl.h"

FAIRLEAD_FIBER_PROGRAM;

namespace fairlead {
namespace {

constexpr lci::Chan kChan = run::kProgramNames.channels[0];
constexpr int kRounds = 20;
constexpr std::size_t kRegions = 32;  // of one round: each is missed once
constexpr std::size_t kSizes[] = {8, 88, 1024, 16384, 65536, 262144, 1048576};

// Messages of the Port alone: a small request, an answer of `bytes` that is copied out.
struct Echo {
  explicit Echo(lci::Port& its_port) : port(its_port) {
    port.bind(kChan,
              {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                 static_cast<Echo*>(self)->came(arrival);
                 return Keep::no;
               },
               this},
              {});
  }
  ~Echo() { port.bind(kChan, {}, {}); }
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;

  void came(const lci::Arrival& arrival) {
    if (arrival.lane == lci::Lane::request) {
      ++asked.ok;
      return;
    }
    std::memcpy(&memory[arrival.words[0]], arrival.data.data(), arrival.data.size());
    port.charge({.working_set_bytes = memory.size(), .copied_bytes = arrival.data.size()});
    arrived += arrival.data.size();
    if (arrived == memory.size()) ++answered.ok;
  }
  // Rank 0: one answer.
  void answer(std::size_t bytes, std::uint64_t at) {
    (void)port.wait({.counter = &asked, .at = at, .what = "a request"});
    const std::size_t mtu = port.caps(1).mtu_bytes;
    for (std::size_t sent = 0; sent < bytes;) {
      const std::size_t part = std::min(mtu, bytes - sent);
      const lci::Words words = {static_cast<std::uint32_t>(sent), 0, 0, 0};
      const Piece piece{&memory[sent], part};
      if (part <= port.caps(1).inline_bytes_max) {
        (void)port.send_small({1}, kChan, lci::Lane::reply, words, {&memory[sent], part},
                              lci::kNoFlags);
      } else {
        lci::Packet* const packet = port.alloc({1}, lci::Lane::reply, part, lci::kNoFlags);
        (void)port.send(packet, kChan, words, 0, {&piece, 1}, nullptr, lci::kNoFlags);
      }
      sent += part;
    }
  }
  // Rank 1: one request and its answer.
  void ask(std::uint64_t at) {
    arrived = 0;
    (void)port.send_small({0}, kChan, lci::Lane::request, {}, {}, lci::kNoFlags);
    (void)port.wait({.counter = &answered, .at = at, .what = "an answer"});
  }

  lci::Port& port;
  std::vector<std::byte> memory;
  std::size_t arrived = 0;
  Counter asked;
  Counter answered;
};

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double port_us(lci::Port& port, std::size_t bytes) {
  Echo echo(port);
  echo.memory.resize(bytes);
  rgn_barrier();
  std::vector<double> times;
  std::uint64_t at = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = crl_time();
    for (std::size_t i = 0; i < kRegions; ++i) {
      ++at;
      crl_self_addr() == 0 ? echo.answer(bytes, at) : echo.ask(at);
    }
    times.push_back((crl_time() - begin) * 1e6 / kRegions);
  }
  rgn_barrier();
  return median(times);
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
  return median(times);
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
