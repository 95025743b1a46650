// Fetch-and-adds over libfabric on another rank's word, by the provider and by packets in turn:
// one at a time, and sixteen under way. The target waits as a rank does that has nothing to do.
// ofi_atomics [PROVIDER] [ROUNDS]; prints a table of medians.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "bench/fork_child.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/ofi/ofi_nic.h"
#include "fairlead/lci/direct/direct_port.h"

namespace {

using namespace fairlead;  // NOLINT: a program

constexpr std::uint64_t kOneByOne = 4000;
constexpr std::uint64_t kTogether = 16000;
constexpr std::uint64_t kWindow = 16;
constexpr lci::SegId kSegment = 1;

struct Shared {
  fabric::OfiAddress addresses[2];
  std::atomic<int> known[2];
  std::atomic<int> over;
  double one_us;
  double together_us;
  bool by_provider;
};

void pin(Rank rank) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(rank % static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN)), &set);
  sched_setaffinity(0, sizeof set, &set);
}

double us_since(std::int64_t start_ns, std::uint64_t count) {
  return static_cast<double>(monotonic_ns() - start_ns) / 1e3 / static_cast<double>(count);
}

void ask(lci::Port& port, Shared& shared) {
  std::uint64_t old = 0;
  Counter done;
  const auto add = [&] {
    const Post answer = port.atomic({1, kSegment, 0}, lci::Atomic::add, 1, 0, &old, &done);
    return answer == Post::done || answer == Post::pending;
  };
  for (std::uint64_t i = 0; i < 100; ++i) {
    if (!add()) std::exit(1);
    (void)port.wait({.counter = &done, .at = i + 1});
  }
  std::int64_t start = monotonic_ns();
  std::uint64_t sent = done.ok;
  for (std::uint64_t i = 0; i < kOneByOne; ++i) {
    if (!add()) std::exit(1);
    (void)port.wait({.counter = &done, .at = ++sent});
  }
  shared.one_us = us_since(start, kOneByOne);
  start = monotonic_ns();
  for (const std::uint64_t end = sent + kTogether; done.ok < end;) {
    while (sent < end && sent < done.ok + kWindow && add()) ++sent;
    (void)port.wait({.counter = &done, .at = done.ok + 1});
  }
  shared.together_us = us_since(start, kTogether);
  // Expect: nothing lost
  if (!add()) std::exit(1);
  (void)port.wait({.counter = &done, .at = sent + 1});
  if (done.failed != 0 || old != sent) std::exit(1);
  shared.by_provider = port.counters().remote_atomics > 0;
  shared.over = 1;
}

void run_rank(Rank self, const std::string& provider, bool by_packets, Shared& shared) {
  pin(self);
  fabric::OfiOptions options;
  options.self = self;
  options.peers = 2;
  options.secret = static_cast<std::uint64_t>(getppid());
  options.provider = provider;
  options.address = "127.0.0.1";
  options.find_context = &shared;
  options.find = [](void* all, Peer peer, fabric::OfiAddress* address) {
    const auto& known = *static_cast<Shared*>(all);
    *address = known.addresses[peer];
    return known.known[peer] != 0;
  };
  auto nic = fabric::open_ofi(options);
  if (!nic.ok()) {
    fmt::print(stderr, "{}\n", nic.error().text);
    std::exit(1);
  }
  shared.addresses[self] = nic.value()->address();
  lci::DirectOptions port_options;
  port_options.wait = wait_plan_dedicated();
  port_options.software_remote_memory = by_packets;
  const auto port = lci::make_direct_port(*nic.value(), port_options);
  alignas(8) std::uint64_t word = 0;
  const std::uint32_t all = lci::kRead | lci::kWrite | lci::kAtomic;
  if (port->expose(kSegment, &word, sizeof word, all, nullptr, {}) != Post::done) std::exit(1);
  shared.known[self] = 1;
  while (shared.known[1 - self] == 0) sched_yield();
  if (self == 0) return ask(*port, shared);
  while (shared.over == 0) (void)port->wait({.deadline = port->now() + milliseconds(1)});
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const std::string provider = count > 1 ? arguments[1] : "tcp";
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 7;
  std::vector<double> one[2];
  std::vector<double> together[2];
  bool by_provider = false;
  for (int i = 0; i < 2 * rounds; ++i) {
    const bool by_packets = i % 2 == 1;
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& shared = *new (memory) Shared{};
    for (const Rank self : {0u, 1u}) {
      if (bench::fork_child() != 0) continue;
      run_rank(self, provider, by_packets, shared);
      _exit(0);
    }
    int status = 0;
    while (wait(&status) > 0) {
      if (status != 0) return 1;
    }
    one[by_packets].push_back(shared.one_us);
    together[by_packets].push_back(shared.together_us);
    by_provider = by_provider || shared.by_provider;
  }
  if (!by_provider) fmt::print("provider {}: its atomics are not used\n", provider);
  fmt::print("fetch-and-add, us | provider | packets | ratio\n");
  const auto row = [](const char* what, const std::vector<double>(&values)[2]) {
    const double a = median(values[0]);
    const double b = median(values[1]);
    fmt::print("{} | {:.2f} | {:.2f} | {:.2f}\n", what, a, b, a / b);
  };
  row("one at a time", one);
  row("16 under way", together);
  return 0;
}
