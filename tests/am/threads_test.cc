// AM_PAR: several threads of a rank send, poll and wait in one bundle. On real machines.
#include <atomic>
#include <thread>
#include <vector>

#include "tests/am/am_worlds.h"

namespace fairlead::am_test {
namespace {

using port_test::PerWorld;

class Threads : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(Threads,
                          ::testing::Values("shm", "udp", "lossy", "amvia shm", "amvia udp"));

constexpr int kThreads = 4;
constexpr int kEach = 200;

enum : handler_t { kAdd = 1, kAdded, kBlock, kBlockAdded };

void add(void* token, int value) {
  ++seen().requests;
  if (AM_Reply1(token, kAdded, value) != AM_OK) ++seen().bad;
}
void added(void*, int value) {
  ++seen().replies;
  seen().sum += value;
}
// Longer than a packet: its pieces and another thread's must not mix.
void block(void* token, void* data, std::size_t bytes, int value) {
  ++seen().requests;
  const auto* const at = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) seen().bad += at[i] != (value & 0xff) ? 1 : 0;
  if (AM_ReplyI1(token, kBlockAdded, data, 4, value) != AM_OK) ++seen().bad;
}
void block_added(void*, void*, std::size_t, int value) { added(nullptr, value); }

// A bundle of many threads, with an endpoint that is mapped to every rank's.
struct Shared {
  eb_t bundle = nullptr;
  ep_t endpoint = nullptr;

  Shared() {
    en_t name{};
    seen() = {};
    (void)AM_AllocateBundle(AM_PAR, &bundle);
    (void)AM_AllocateEndpoint(bundle, &endpoint, &name);
    (void)AM_SetTag(endpoint, kTag);
    for (unsigned rank = 0; rank < AM_Ranks(); ++rank) {
      (void)AM_Map(endpoint, static_cast<int>(rank), AM_NameOf(rank, name.endpoint), kTag);
    }
    (void)AM_SetHandler(endpoint, kAdd, reinterpret_cast<am_handler_t>(add));
    (void)AM_SetHandler(endpoint, kAdded, reinterpret_cast<am_handler_t>(added));
    (void)AM_SetHandler(endpoint, kBlock, reinterpret_cast<am_handler_t>(block));
    (void)AM_SetHandler(endpoint, kBlockAdded, reinterpret_cast<am_handler_t>(block_added));
  }
};

// Sends this thread's requests to the other rank.
bool send_all(const Shared& shared, int thread, int other) {
  const std::vector<unsigned char> data(3000, static_cast<unsigned char>(thread));
  bool good = true;
  for (int i = 0; i < kEach; ++i) {
    good &= i % 4 == 0 ? AM_RequestI1(shared.endpoint, other, kBlock, data.data(), data.size(),
                                      thread) == AM_OK
                       : AM_Request1(shared.endpoint, other, kAdd, thread) == AM_OK;
  }
  return good;
}

// Runs `body` as kThreads threads of this rank, by their numbers, while this one polls.
template <class Body>
void run_threads(run::Context& rank, const Shared& shared, Body&& body) {
  std::atomic<int> over{0};
  std::vector<std::thread> threads;
  for (int thread = 1; thread <= kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      run::set_current(&rank);
      body(thread);
      ++over;
    });
  }
  while (over < kThreads) (void)AM_Poll(shared.bundle);
  for (std::thread& each : threads) each.join();
}

constexpr std::uint32_t kAll = kThreads * kEach;
constexpr std::int64_t kSum = std::int64_t{kThreads} * (kThreads + 1) / 2 * kEach;

TEST_P(Threads, share_a_bundle_and_its_endpoint) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    if (AM_Init() != AM_OK) return false;
    const Shared shared;
    const int other = 1 - static_cast<int>(AM_Rank());
    std::atomic<bool> good{true};
    run_threads(rank, shared, [&](int thread) {
      if (!send_all(shared, thread, other)) good = false;
    });
    while (seen().requests < kAll || seen().replies < kAll) (void)AM_Poll(shared.bundle);
    // Expect: each request once, with its own data, and each answered.
    bool all = good && PORT_TEST_CHECK(seen().requests == kAll && seen().replies == kAll,
                                       rank.port(), seen().requests);
    all &= PORT_TEST_CHECK(seen().sum == kSum && seen().bad == 0, rank.port(), seen().bad);
    return AM_Terminate() == AM_OK && all;
  });
}

TEST_P(Threads, wait_while_others_send) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    if (AM_Init() != AM_OK) return false;
    const Shared shared;
    const int other = 1 - static_cast<int>(AM_Rank());
    bool good = AM_SetEventMask(shared.bundle, AM_NOTEMPTY) == AM_OK;
    std::atomic<bool> sent{false};
    // It waits for the answers of what the other thread sends, and serves the other rank.
    std::thread sender([&] {
      run::set_current(&rank);
      sent = send_all(shared, 1, other);
    });
    while (seen().replies < kEach || seen().requests < kEach) {
      good &= AM_WaitSema(shared.bundle) == AM_OK;
      good &= AM_Poll(shared.bundle) == AM_OK;
    }
    sender.join();
    good &=
        PORT_TEST_CHECK(sent && seen().sum == kEach && seen().bad == 0, rank.port(), seen().bad);
    return AM_Terminate() == AM_OK && good;
  });
}

}  // namespace
}  // namespace fairlead::am_test
