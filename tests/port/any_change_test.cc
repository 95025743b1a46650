// Until::any_change and Until::word4: what ends a wait for either, in every world.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::Chan kData = run::kProgramNames.channels[0];
constexpr lci::SegId kSegment = run::kProgramNames.segments[0];
constexpr Ps kLong = seconds(20);

bool is_real(const std::string& world) {
  const std::vector<std::string> real = real_worlds();
  return std::find(real.begin(), real.end(), world) != real.end();
}

Ps processor_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return nanoseconds(std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec);
}

Post await_change(lci::Port& port, Ps length = kLong) {
  lci::Until until;
  until.any_change = true;
  until.deadline = port.now() + length;
  return port.wait(until);
}

void await_counter(lci::Port& port, const Counter& counter, std::uint64_t at) {
  lci::Until until;
  until.counter = &counter;
  until.at = at;
  (void)port.wait(until);
}

class Changes : public PerWorld {};

// Sends `packets` and never lets the port wait for room; what was sent is numbered.
struct Flood {
  int refused = 0;
  Ps processor{};  // that waiting took
  bool good = true;

  Flood(lci::Port& port, Rank to, std::uint32_t packets, std::size_t size) {
    for (std::uint32_t i = 0; i < packets && good; ++i) {
      lci::Packet* packet;
      while ((packet = port.alloc({to}, lci::Lane::request, size, lci::kNoBlock)) == nullptr) {
        if (!room(port)) return;
      }
      std::memset(port.body(packet).data(), static_cast<int>(i & 0xff), size);
      Post answer;
      while ((answer = port.send(packet, kData, {i, 0, 0, 0}, size, {}, nullptr, lci::kNoBlock)) ==
                 Post::again_credit ||
             answer == Post::again_buffer) {
        if (!room(port)) return;
      }
      good &= PORT_TEST_CHECK(answer == Post::done || answer == Post::pending, port, i);
    }
  }
  bool room(lci::Port& port) {
    ++refused;
    const Ps before = processor_time();
    // Expect: a look whose deadline is over takes nothing from the wait behind it.
    const Post look = port.wait({.any_change = true, .deadline = Ps{0}});
    // Expect: the wait ends by what it waits for, long before its deadline.
    if (look != Post::done) {
      good &= PORT_TEST_CHECK(look == Post::again_credit, port, refused);
      good &= PORT_TEST_CHECK(await_change(port) == Post::done, port, refused);
    }
    processor += processor_time() - before;
    return good;
  }
};

TEST_P(Changes, room_again_ends_a_wait) {
  const bool real = is_real(GetParam());
  run_ranks(GetParam(), 2, [real](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    constexpr std::uint32_t kPackets = 1500;
    struct Came {
      Counter packets;
      bool in_order = true;
    } came;
    port.bind(kData,
              {[](void* self, lci::Packet*, const lci::Arrival& a) {
                 Came& so_far = *static_cast<Came*>(self);
                 so_far.in_order &= a.words[0] == so_far.packets.ok;
                 ++so_far.packets.ok;
                 return Keep::no;
               },
               &came},
              {});
    if (!PORT_TEST_CHECK(meeting.meet(), port, 0)) return false;
    bool good = true;
    if (port.self() == 0) {
      const Flood flood(port, 1, kPackets, std::min(port.caps(1).mtu_bytes, 4000u));
      good &= flood.good;
      // Expect: there was a time without room, and waiting for it is sleeping.
      good &= PORT_TEST_CHECK(flood.refused > 0, port, flood.refused);
      if (real) good &= PORT_TEST_CHECK(flood.processor < milliseconds(200), port, flood.refused);
    } else {
      // Busy with something else, in the time of its world.
      if (real) std::this_thread::sleep_for(std::chrono::milliseconds(300));
      port.charge({.ops = 200'000'000});
      await_counter(port, came.packets, kPackets);
      good &= PORT_TEST_CHECK(came.in_order, port, came.packets.ok.load());
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

TEST_P(Changes, the_end_of_an_operation_ends_a_wait) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    constexpr std::size_t kBytes = 100'000;
    auto* const mine =
        static_cast<std::uint8_t*>(port.allocate(kSegment, kBytes, lci::Place::host));
    if (!PORT_TEST_CHECK(mine != nullptr, port, 0)) return false;
    std::memset(mine, static_cast<int>(port.self()) + 1, kBytes);
    if (!PORT_TEST_CHECK(meeting.meet(), port, 0)) return false;
    bool good = true;
    if (port.self() == 0) {
      std::vector<std::uint8_t> got(kBytes);
      const std::uint64_t word = 0x0909090909090909;
      std::uint64_t old = 0;
      const auto end = [&](const char* what, auto&& begin) {
        Counter done;
        Post answer;
        while ((answer = begin(&done)) == Post::again_buffer || answer == Post::again_credit) {
          good &= PORT_TEST_CHECK(await_change(port) == Post::done, port, 1);
        }
        good &= check(answer == Post::done || answer == Post::pending, what, 0, 0);
        while (good && done.ok + done.failed == 0) {
          good &= check(await_change(port) == Post::done, what, 0, 1);
        }
        good &= check(done.ok == 1, what, 0, 2);
      };
      end("get", [&](Counter* done) {
        return port.get({1, kSegment, 0}, got.data(), kBytes, done, 0);
      });
      good &= PORT_TEST_CHECK(std::count(got.begin(), got.end(), 2) == kBytes, port, 0);
      const lci::PutPiece piece{8, &word, 8};
      end("put", [&](Counter* done) {
        return port.put({1}, kSegment, {&piece, 1}, done, lci::kNoCounter, 0);
      });
      end("fence", [&](Counter* done) { return port.fence({1}, done); });
      end("atomic", [&](Counter* done) {
        return port.atomic({1, kSegment, 8}, lci::Atomic::add, 1, 0, &old, done);
      });
      good &= PORT_TEST_CHECK(old == word, port, static_cast<long long>(old));
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

TEST_P(Changes, an_upcall_ends_a_wait_and_nothing_does_not) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    Counter came;
    port.bind(kData,
              {[](void* self, lci::Packet*, const lci::Arrival&) {
                 ++static_cast<Counter*>(self)->ok;
                 return Keep::no;
               },
               &came},
              {});
    if (!PORT_TEST_CHECK(meeting.meet(), port, 0)) return false;
    bool good = true;
    if (port.self() == 0) {
      // Expect: nothing happens until the other one is told to go on, or what was still under way.
      int ended = 0;
      while (ended < 4 && await_change(port, milliseconds(30)) == Post::done) ++ended;
      good &= PORT_TEST_CHECK(ended < 4, port, ended);
      good &= PORT_TEST_CHECK(
          port.send_small({1}, kData, lci::Lane::request, {}, {}, 0) == Post::done, port, 0);
      while (good && came.ok == 0) {
        good &= PORT_TEST_CHECK(await_change(port) == Post::done, port, 0);
      }
    } else {
      await_counter(port, came, 1);
      good &= PORT_TEST_CHECK(
          port.send_small({0}, kData, lci::Lane::request, {}, {}, 0) == Post::done, port, 0);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

TEST_P(Changes, a_word_of_4_bytes_ends_a_wait) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    auto* const words =
        static_cast<std::atomic<std::uint32_t>*>(port.allocate(kSegment, 64, lci::Place::host));
    if (!PORT_TEST_CHECK(words != nullptr && meeting.meet(), port, 0)) return false;
    const Rank other = 1 - port.self();
    bool good = true;
    // To and fro, in neighbours of one word of 8 bytes.
    for (std::uint32_t i = 1; i <= 20 && good; ++i) {
      const std::size_t at = i % 2;
      if (at == port.self()) {
        const lci::PutPiece piece{4 * at, &i, sizeof i};
        Post answer;
        while ((answer = port.put({other}, kSegment, {&piece, 1}, nullptr, lci::kNoCounter, 0)) ==
                   Post::again_buffer ||
               answer == Post::again_credit) {
          port.poll();
        }
      } else {
        lci::Until until;
        until.word4 = &words[at];
        until.cmp = i % 4 < 2 ? lci::Cmp::ge : lci::Cmp::eq;
        until.value = i;
        until.deadline = port.now() + kLong;
        good &= PORT_TEST_CHECK(port.wait(until) == Post::done, port, i);
        good &= PORT_TEST_CHECK(words[at] == i, port, words[at].load());
      }
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

INSTANTIATE_PORT_TESTS(Changes);

}  // namespace
}  // namespace fairlead::port_test
