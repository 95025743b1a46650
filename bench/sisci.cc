// What the SISCI API adds to the Port on shared memory: copies of a line, sequences, interrupts;
// JSON lines. Each figure is the median of rounds that alternate with what it is compared with.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/run/launch/world.h"
#include "fairlead/systems/sisci/sisci_api.h"

namespace fairlead {
namespace {

constexpr unsigned kAdapter = 0;
constexpr unsigned kSegmentId = 1;
constexpr unsigned kInterrupt = 2;
constexpr std::size_t kBytes = 4096;
constexpr lci::SegId kSegment = 9;  // the Port's own, beside SISCI's
constexpr lci::Chan kChannel = 9;
constexpr int kRounds = 31;
constexpr int kCopies = 2000;
constexpr int kInterrupts = 200;

void insist(bool good, const char* what) {
  if (good) return;
  fmt::print(stderr, "bench sisci: {}\n", what);
  std::exit(1);
}

void insist(sci_error_t error, const char* what) {
  if (error != SCI_ERR_OK) fmt::print(stderr, "{}: {}\n", what, SCIGetErrorString(error));
  insist(error == SCI_ERR_OK, what);
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

void print(const std::string& what, double ours, double theirs, const std::string& beside) {
  fmt::print(R"({{"bench":"sisci","what":"{}","us":{:.4f},"{}_us":{:.4f},"ratio":{:.2f}}})"
             "\n",
             what, ours, beside, theirs, ours / theirs);
}

struct Ends {
  sci_desc_t device;
  sci_local_segment_t segment;
  sci_remote_segment_t remote;
  sci_map_t map;
  sci_sequence_t sequence;
  sci_local_interrupt_t here;
  sci_remote_interrupt_t there;
};

// Each rank has a segment and an interrupt, and uses the other's.
Ends make_ends(unsigned self) {
  Ends ends{};
  sci_error_t error;
  SCIInitialize(0, &error);
  insist(error, "SCIInitialize");
  SCIOpen(&ends.device, 0, &error);
  insist(error, "SCIOpen");
  unsigned number = kInterrupt;
  SCICreateInterrupt(ends.device, &ends.here, kAdapter, &number, nullptr, nullptr,
                     SCI_FLAG_FIXED_INTNO, &error);
  insist(error, "SCICreateInterrupt");
  SCICreateSegment(ends.device, &ends.segment, kSegmentId, kBytes, nullptr, nullptr, 0, &error);
  insist(error, "SCICreateSegment");
  SCIPrepareSegment(ends.segment, kAdapter, 0, &error);
  insist(error, "SCIPrepareSegment");
  SCISetSegmentAvailable(ends.segment, kAdapter, 0, &error);
  insist(error, "SCISetSegmentAvailable");
  do {
    SCIConnectSegment(ends.device, &ends.remote, 1 - self, kSegmentId, kAdapter, nullptr, nullptr,
                      SCI_INFINITE_TIMEOUT, 0, &error);
  } while (error == SCI_ERR_NO_SUCH_SEGMENT);
  insist(error, "SCIConnectSegment");
  SCIConnectInterrupt(ends.device, &ends.there, 1 - self, kAdapter, kInterrupt,
                      SCI_INFINITE_TIMEOUT, 0, &error);
  insist(error, "SCIConnectInterrupt");
  (void)SCIMapRemoteSegment(ends.remote, &ends.map, 0, kBytes, nullptr, 0, &error);
  insist(error, "SCIMapRemoteSegment");
  SCICreateMapSequence(ends.map, &ends.sequence, 0, &error);
  insist(error, "SCICreateMapSequence");
  return ends;
}

void copies_and_sequences(lci::Port& port, const Ends& ends) {
  unsigned char line[64] = {};
  sci_error_t error = SCI_ERR_OK;
  std::vector<double> ours, theirs, sequences, fences;
  const lci::PutPiece piece{0, line, sizeof line};
  for (int round = 0; round < kRounds; ++round) {
    theirs.push_back(time_us(port, kCopies, [&] {
      (void)port.put({1}, kSegment, {&piece, 1}, nullptr, lci::kNoCounter, lci::kNoFlags);
    }));
    ours.push_back(time_us(port, kCopies, [&] {
      SCIMemCpy(ends.sequence, line, ends.map, 0, sizeof line, 0, &error);
    }));
    insist(error, "SCIMemCpy");
    fences.push_back(time_us(port, kCopies, [&] {
      Counter done;
      (void)port.fence({1}, &done);
      while (done.ok + done.failed == 0) (void)port.wait({.counter = &done, .at = 1});
    }));
    sequences.push_back(time_us(port, kCopies, [&] {
      (void)SCIStartSequence(ends.sequence, 0, &error);
      insist(SCICheckSequence(ends.sequence, 0, &error) == SCI_SEQ_OK, "a sequence failed");
    }));
  }
  print("SCIMemCpy of 64 bytes", median(ours), median(theirs), "port_put");
  print("start and check sequence", median(sequences), median(fences), "port_fence");
}

// One way, from half a round trip: by interrupts, by packets of the Port.
void interrupts(lci::Port& port, const Ends& ends) {
  const bool first = port.self() == 0;
  const Rank other = 1 - port.self();
  sci_error_t error = SCI_ERR_OK;
  const auto by_interrupt = [&] {
    if (first) SCITriggerInterrupt(ends.there, 0, &error);
    SCIWaitForInterrupt(ends.here, SCI_INFINITE_TIMEOUT, 0, &error);
    insist(error, "SCIWaitForInterrupt");
    if (!first) SCITriggerInterrupt(ends.there, 0, &error);
  };
  Counter came;
  std::uint64_t seen = 0;
  port.bind(kChannel,
            {[](void* counter, lci::Packet*, const lci::Arrival&) {
               ++static_cast<Counter*>(counter)->ok;
               return Keep::no;
             },
             &came},
            {});
  const lci::Words words = {};
  const auto send = [&] {
    (void)port.send_small({other}, kChannel, lci::Lane::request, words, {}, lci::kNoFlags);
  };
  const auto by_packet = [&] {
    if (first) send();
    ++seen;
    while (came.ok < seen) (void)port.wait({.counter = &came, .at = seen});
    if (!first) send();
  };
  std::vector<double> ours, theirs;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(time_us(port, kInterrupts, by_interrupt) / 2);
    theirs.push_back(time_us(port, kInterrupts, by_packet) / 2);
  }
  if (first) print("interrupt", median(ours), median(theirs), "port_packet");
}

int body(run::Context& rank) {
  lci::Port& port = rank.port();
  insist(port.allocate(kSegment, kBytes, lci::Place::host) != nullptr, "no memory");
  const Ends ends = make_ends(port.self());
  sci_error_t error = SCI_ERR_OK;
  if (port.self() == 0) {
    copies_and_sequences(port, ends);
    SCITriggerInterrupt(ends.there, 0, &error);
  } else {
    SCIWaitForInterrupt(ends.here, SCI_INFINITE_TIMEOUT, 0, &error);
  }
  insist(error, "the other rank");
  interrupts(port, ends);
  SCITerminate();
  return 0;
}

}  // namespace
}  // namespace fairlead

int main() {
  using namespace fairlead;
  const Result<run::RunReport> report = run::run_world({}, body);
  insist(report.ok(), report.ok() ? "" : report.error().text.c_str());
  if (!report.value().failure.empty()) fmt::print(stderr, "{}\n", report.value().failure);
  return report.value().exit_code;
}
