// A rank of the model's process tests, on Port alone: the same program as a process and as a fiber.
// rank MODE [NUMBER]; the modes are the functions below. Exit code 0: all was as expected.
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "tests/remote_memory_body.h"

FAIRLEAD_FIBER_PROGRAM;

namespace {

using namespace fairlead;
using lci::Lane;

constexpr lci::Chan kPing = 1;
constexpr lci::Chan kNews = 2;
constexpr lci::SegId kTickets = 7;
constexpr lci::SegId kTable = 8;

std::byte pattern(std::uint64_t seed, std::size_t i) {
  return static_cast<std::byte>((seed * 131 + i * 7) & 0xff);
}

struct Inbox {
  Counter packets;
  std::uint64_t wrong = 0;
};

Keep check_payload(void* to, lci::Packet*, const lci::Arrival& arrival) {
  auto* inbox = static_cast<Inbox*>(to);
  for (std::size_t i = 0; i < arrival.data.size(); ++i) {
    if (arrival.data[i] != pattern(arrival.words[0], i)) ++inbox->wrong;
  }
  if (arrival.data.size() != arrival.words[1]) ++inbox->wrong;
  inbox->packets.ok += 1;
  return Keep::no;
}

bool send_pattern(lci::Port& port, Rank to, std::uint32_t seed, std::uint32_t size,
                  std::uint32_t flags = lci::kNoFlags) {
  lci::Packet* packet = port.alloc({to}, Lane::request, size, lci::kNoFlags);
  if (packet == nullptr) return false;
  for (std::size_t i = 0; i < size; ++i) port.body(packet)[i] = pattern(seed, i);
  const lci::Words words{seed, size, 0, 0};
  return port.send(packet, kPing, words, size, {}, nullptr, flags) == Post::done;
}

bool await(lci::Port& port, const Counter& counter, std::uint64_t at, const char* what) {
  return port.wait({.counter = &counter, .at = at, .what = what}) == Post::done;
}

// Even ranks and their successors, every size class of packets.
int pingpong(run::Context& context, std::uint32_t rounds) {
  lci::Port& port = context.port();
  Inbox inbox;
  port.bind(kPing, {check_payload, &inbox}, {});
  const Rank peer = port.self() ^ 1;
  if (peer >= port.size()) return 0;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const std::uint32_t size = i * 97 % (port.caps(peer).mtu_bytes + 1);
    const bool mine = port.self() % 2 == 0;
    if (mine && !send_pattern(port, peer, i, size)) return 1;
    if (!await(port, inbox.packets, i + 1, "the ball")) return 2;
    if (!mine && !send_pattern(port, peer, i, size)) return 3;
  }
  if (port.self() == 0 && rounds > 0) {
    std::printf("virtual %.6f us\n", to_us(port.now()));
  }
  return inbox.wrong == 0 ? 0 : 4;
}

Keep keep_sum(void* to, lci::Packet*, const lci::Arrival& arrival) {
  static_cast<Counter*>(to)->ok += arrival.words[0];
  return Keep::no;
}

// All that Port offers, everyone to everyone.
int traffic_with(run::Context& context, std::uint32_t rounds, std::uint32_t flags) {
  lci::Port& port = context.port();
  Inbox inbox;
  Counter news;
  port.bind(kPing, {check_payload, &inbox}, {});
  port.bind(kNews, {keep_sum, &news}, {});
  const std::uint32_t size = port.size();
  auto* tickets = static_cast<std::uint64_t*>(port.allocate(kTickets, 8, lci::Place::ni));
  auto* table = static_cast<std::uint64_t*>(port.allocate(kTable, 8 * size, lci::Place::host));
  if (tickets == nullptr || table == nullptr) return 1;
  Prng random(port.self() + 1);
  Counter done;
  std::uint64_t started = 0;
  std::uint64_t ticket = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    port.charge({.ops = random.below(20000)});
    for (Rank to = 0; to < size; ++to) {
      const std::uint64_t most = port.caps(to).mtu_bytes;
      const auto bytes = static_cast<std::uint32_t>(std::min(random.below(1000), most));
      if (!send_pattern(port, to, round + to, bytes, flags)) return 2;
    }
    if (port.atomic({0, kTickets, 0}, lci::Atomic::add, 1, 0, &ticket, &done) == Post::invalid) {
      return 3;
    }
    const std::uint64_t value = round + 1;
    const lci::PutPiece piece{8 * port.self(), &value, 8};
    const Rank next = (port.self() + 1) % size;
    if (port.put({next}, kTable, {&piece, 1}, &done, lci::kNoCounter, 0) == Post::invalid) {
      return 4;
    }
    started += 2;
    if (!await(port, done, started, "a ticket and a put")) return 5;
    const lci::Words one{1, 0, 0, 0};
    if (size > 1 && port.send_small({0, true}, kNews, Lane::request, one, {}, 0) != Post::done) {
      return 6;
    }
    if (!await(port, inbox.packets, std::uint64_t{round + 1} * size, "a round's packets")) return 7;
  }
  if (!await(port, news, std::uint64_t{rounds} * (size - 1), "the news")) return 8;
  if (inbox.wrong != 0) return 9;
  if (port.self() == 0) {
    // Everyone's last ticket was taken before its last news.
    if (*tickets != std::uint64_t{rounds} * size) return 10;
    std::printf("virtual %.6f us\n", to_us(port.now()));
  }
  return 0;
}

int traffic(run::Context& context, std::uint32_t rounds) {
  return traffic_with(context, rounds, lci::kNoFlags);
}
// That traffic while packets interrupt who computes, and who waits if they ask for a processor.
int interrupts(run::Context& context, std::uint32_t rounds) {
  context.port().wake(lci::Wake::immediate, Ps{0});
  const int code = traffic_with(context, rounds, lci::kSolicited);
  context.port().wake(lci::Wake::poll_only, Ps{0});
  return code;
}
// That traffic where packets interrupt once they have waited for the platform's time.
int watchdog(run::Context& context, std::uint32_t rounds) {
  context.port().wake(lci::Wake::watchdog, Ps{0});
  const int code = traffic_with(context, rounds, lci::kNoFlags);
  context.port().wake(lci::Wake::poll_only, Ps{0});
  return code;
}

// A second of declared work, 20 ms of real one.
int work(run::Context& context, std::uint32_t) {
  context.port().charge({.ops = 1'000'000'000});
  const auto processor_ms = [] { return std::clock() * 1000 / CLOCKS_PER_SEC; };
  for (const std::clock_t until = processor_ms() + 20; processor_ms() < until;) {
  }
  return pingpong(context, 2);
}

// Everyone waits for its predecessor; nobody sends.
int deadlock(run::Context& context, std::uint32_t) {
  Counter never;
  context.port().charge({.ops = 1000 * (context.port().self() + 1)});
  await(context.port(), never, 1, "a letter that nobody writes");
  return 1;
}

// Rank 1 leaves after some rounds, `how` as asked.
int leave(run::Context& context, std::uint32_t how) {
  lci::Port& port = context.port();
  Inbox inbox;
  port.bind(kPing, {check_payload, &inbox}, {});
  if (port.self() == 1) {
    send_pattern(port, 0, 1, 8);
    switch (how) {
      case 0:  // in order, its last message still queued
        ::exit(0);
      case 1:  // between begin and end of a system
        context.began(run::System::mpi);
        ::exit(0);
      case 2:
        ::exit(9);
      case 3:
        context.abort_job(5, "had enough");
        break;
      default:
        std::raise(SIGSEGV);
    }
  }
  if (!await(port, inbox.packets, 1, "a last message")) return 1;
  if (how == 0) return 0;
  await(port, inbox.packets, 2, "another message");
  return 1;
}

// Rank 1 computes for ever in real time while the others wait for it: something to be killed.
int hang(run::Context& context, std::uint32_t) {
  Counter never;
  if (context.port().self() == 1) {
    std::printf("pid %d\n", static_cast<int>(::getpid()));
    std::fflush(stdout);
    for (volatile bool on = true; on;) {
    }
  }
  await(context.port(), never, 1, "the one that hangs");
  return 1;
}

// Clocks and sleeps of a program, for a process only.
int clocks(run::Context& context, std::uint32_t) {
  lci::Port& port = context.port();
  const auto clock_ps = [] {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return nanoseconds(t.tv_sec * 1'000'000'000 + t.tv_nsec);
  };
  const Ps zero = port.now();
  const Ps clock_zero = clock_ps();
  ::usleep(500);
  std::this_thread::sleep_for(std::chrono::hours(1));
  const Ps slept = port.now() - zero;
  if (slept < seconds(3600) + microseconds(500) || slept > seconds(3600) + microseconds(502)) {
    return 1;
  }
  // A loop on a clock alone ends.
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  while (std::chrono::steady_clock::now() < until) {
  }
  const Ps difference = (clock_ps() - clock_zero) - (port.now() - zero);
  if (difference > microseconds(1) || difference < microseconds(-1)) return 2;
  // A child is nobody's rank: its time is real, and the rank's does not move.
  const Ps before = port.now();
  const pid_t child = ::fork();
  if (child == 0) {
    const Ps real = clock_ps();
    ::usleep(2000);
    ::_exit(clock_ps() - real < milliseconds(2) ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (port.now() != before) return 3;
  // So does a thread of the program's own, which can be cancelled meanwhile.
  pthread_t sleeper;
  ::pthread_create(
      &sleeper, nullptr, [](void*) -> void* { return ::sleep(5), nullptr; }, nullptr);
  ::poll(nullptr, 0, 20);  // By then it sleeps.
  ::pthread_cancel(sleeper);
  void* result = nullptr;
  ::pthread_join(sleeper, &result);
  if (result != PTHREAD_CANCELED) return 5;
  if (port.self() == 0) std::printf("virtual %.6f us\n", to_us(port.now()));
  return status == 0 ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const auto number = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 10);
  if (mode == "stranger" || (mode == "absent" && std::getenv("FAIRLEAD_RANK") != nullptr &&
                             std::strcmp(std::getenv("FAIRLEAD_RANK"), "1") == 0)) {
    return 0;  // never joins
  }
  const auto context = run::attach();
  if (!context.ok()) {
    std::fprintf(stderr, "%s\n", context.error().text.c_str());
    return 99;
  }
  run::Context& mine = *context.value();
  if (mode == "pingpong") return pingpong(mine, number);
  if (mode == "absent") return 0;
  if (mode == "traffic") return traffic(mine, number);
  if (mode == "interrupts") return interrupts(mine, number);
  if (mode == "watchdog") return watchdog(mine, number);
  if (mode == "memory") return tests::RemoteMemoryBody(mine, 1 << 20).run(number);
  if (mode == "work") return work(mine, number);
  if (mode == "clocks") return clocks(mine, number);
  if (mode == "deadlock") return deadlock(mine, number);
  if (mode == "leave") return leave(mine, number);
  if (mode == "hang") return hang(mine, number);
  return 98;
}
