// What RSMAPI adds to the Port on shared memory: puts of a line, barriers, signals to poll(2); JSON
// lines. Each figure is the median of rounds that alternate with what it is compared with.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/run/launch/world.h"
#include "fairlead/systems/rsm/rsmapi.h"

namespace fairlead {
namespace {

constexpr rsm_memseg_id_t kId = RSM_USER_APP_ID_BASE;
constexpr lci::SegId kSegment = 9;  // the Port's own, beside RSMAPI's
constexpr int kRounds = 31;
constexpr int kPuts = 2000;
constexpr int kSignals = 200;

void insist(bool good, const char* what) {
  if (good) return;
  fmt::print(stderr, "bench rsm: {}\n", what);
  std::exit(1);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Microseconds each of `count` calls took.
double time_us(lci::Port& port, int count, const std::function<void()>& once) {
  const Ps start = port.now();
  for (int i = 0; i < count; ++i) once();
  return to_us(port.now() - start) / count;
}

struct Ends {
  void* page;
  rsmapi_controller_handle_t controller;
  rsm_memseg_export_handle_t segment;
  rsm_memseg_import_handle_t import;
};

// Each rank exports a page and imports the other's.
Ends make_ends(unsigned self) {
  Ends ends{};
  char name[] = "fl0";
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  insist(rsm_get_controller(name, &ends.controller) == RSM_SUCCESS, "no controller");
  ends.page = std::aligned_alloc(bytes, bytes);
  std::memset(ends.page, 0, bytes);
  rsm_memseg_id_t id = kId + self;
  insist(
      rsm_memseg_export_create(ends.controller, &ends.segment, ends.page, bytes, 0) == RSM_SUCCESS,
      "no export");
  insist(rsm_memseg_export_publish(ends.segment, &id, nullptr, 0) == RSM_SUCCESS, "no publish");
  int code = RSM_SUCCESS;
  do {
    code = rsm_memseg_import_connect(ends.controller, rsm_node_of(1 - self), kId + 1 - self,
                                     RSM_PERM_RDWR, &ends.import);
  } while (code == RSMERR_SEG_NOT_PUBLISHED);
  insist(code == RSM_SUCCESS, "no connection");
  insist(rsm_memseg_import_set_mode(ends.import, RSM_BARRIER_MODE_EXPLICIT) == RSM_SUCCESS,
         "no explicit mode");
  return ends;
}

void print(const std::string& what, double ours, double theirs, const std::string& beside) {
  fmt::print(R"({{"bench":"rsm","what":"{}","us":{:.4f},"{}_us":{:.4f},"ratio":{:.2f}}})"
             "\n",
             what, ours, beside, theirs, ours / theirs);
}

void puts_and_barriers(lci::Port& port, const Ends& ends) {
  unsigned char line[64] = {};
  rsmapi_barrier_t barrier;
  insist(rsm_memseg_import_init_barrier(ends.import, RSM_BAR_DEFAULT, &barrier) == RSM_SUCCESS,
         "no barrier");
  std::vector<double> ours, theirs, barriers, stores, fences;
  void* mapped = nullptr;
  insist(rsm_memseg_import_map(ends.import, &mapped, RSM_MAP_NONE, RSM_PERM_RDWR, 0,
                               static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) == RSM_SUCCESS,
         "no mapping");
  const lci::PutPiece piece{0, line, sizeof line};
  for (int round = 0; round < kRounds; ++round) {
    theirs.push_back(time_us(port, kPuts, [&] {
      (void)port.put({1}, kSegment, {&piece, 1}, nullptr, lci::kNoCounter, lci::kNoFlags);
    }));
    ours.push_back(
        time_us(port, kPuts, [&] { (void)rsm_memseg_import_put(ends.import, 0, line, 64); }));
    stores.push_back(time_us(port, kPuts, [&] { (void)rsm_block_store(mapped, line); }));
    fences.push_back(time_us(port, kPuts, [&] {
      Counter done;
      (void)port.fence({1}, &done);
      while (done.ok + done.failed == 0) (void)port.wait({.counter = &done, .at = 1});
    }));
    barriers.push_back(time_us(port, kPuts, [&] {
      (void)rsm_memseg_import_open_barrier(&barrier);
      insist(rsm_memseg_import_close_barrier(&barrier) == RSM_SUCCESS, "a barrier failed");
    }));
  }
  print("put of 64 bytes, explicit", median(ours), median(theirs), "port_put");
  print("block store", median(stores), median(theirs), "port_put");
  print("open and close barrier", median(barriers), median(fences), "port_fence");
}

// One way, from half a round trip: by signals and poll(2), by eventfds and poll(2).
void signals(lci::Port& port, const Ends& ends, const int (&events)[2]) {
  pollfd fd = {};
  insist(rsm_memseg_get_pollfd(ends.segment, &fd) == RSM_SUCCESS, "no descriptor");
  const bool first = port.self() == 0;
  const auto by_signal = [&] {
    if (first) (void)rsm_intr_signal_post(ends.import, 0);
    insist(poll(&fd, 1, 10'000) == 1, "no signal");
    insist(rsm_intr_signal_wait(ends.segment, 0) == RSM_SUCCESS, "no signal taken");
    if (!first) (void)rsm_intr_signal_post(ends.import, 0);
  };
  pollfd event = {events[port.self()], POLLIN, 0};
  const auto by_event = [&] {
    std::uint64_t one = 1;
    const int other = events[1 - port.self()];
    if (first) insist(write(other, &one, sizeof one) == sizeof one, "no event");
    insist(poll(&event, 1, 10'000) == 1, "no event came");
    insist(read(event.fd, &one, sizeof one) == sizeof one, "no event taken");
    one = 1;
    if (!first) insist(write(other, &one, sizeof one) == sizeof one, "no event");
  };
  std::vector<double> ours, theirs;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(time_us(port, kSignals, by_signal) / 2);
    theirs.push_back(time_us(port, kSignals, by_event) / 2);
  }
  if (first) print("signal to poll(2)", median(ours), median(theirs), "eventfd");
  (void)rsm_memseg_release_pollfd(ends.segment);
}

int body(run::Context& rank, const int (&events)[2]) {
  lci::Port& port = rank.port();
  insist(port.allocate(kSegment, 4096, lci::Place::host) != nullptr, "no memory");
  const Ends ends = make_ends(port.self());
  std::uint64_t ready = 1;
  if (port.self() == 0) {
    puts_and_barriers(port, ends);
    (void)rsm_memseg_import_put64(ends.import, 64, &ready, 1);
  } else {
    (void)rsm_wait_word(static_cast<std::uint64_t*>(ends.page) + 8, 0, -1);
  }
  signals(port, ends, events);
  rsm_exit();
  return 0;
}

}  // namespace
}  // namespace fairlead

int main() {
  using namespace fairlead;
  // Ranks are this process's children, which inherit these.
  const int events[2] = {eventfd(0, 0), eventfd(0, 0)};
  const Result<run::RunReport> report =
      run::run_world({}, [&events](run::Context& rank) { return body(rank, events); });
  insist(report.ok(), report.ok() ? "" : report.error().text.c_str());
  if (!report.value().failure.empty()) fmt::print(stderr, "{}\n", report.value().failure);
  return report.value().exit_code;
}
