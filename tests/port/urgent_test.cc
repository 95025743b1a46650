// Urgent packets: they come like others, in order with them, and wake who computes.
#include <vector>

#include "tests/port/wake_parts.h"

namespace fairlead::port_test {
namespace {

constexpr lci::Chan kChan = 6;
constexpr std::uint32_t kPackets = 200;
constexpr std::size_t kBytes = 200;  // more than a small packet holds

class Urgent : public PerWorld {};
INSTANTIATE_PORT_TESTS(Urgent);

TEST_P(Urgent, packets_keep_their_order) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    std::vector<std::uint32_t> came;
    const auto take = [](void* to, lci::Packet*, const lci::Arrival& arrival) {
      static_cast<std::vector<std::uint32_t>*>(to)->push_back(arrival.words[0]);
      return Keep::no;
    };
    port.bind(kChan, {take, &came}, {});
    Meeting meeting(port);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    for (std::uint32_t i = 0; port.self() == 0 && i < kPackets; ++i) {
      const lci::Words words = {i, 0, 0, 0};
      const std::uint32_t flags = i % 3 == 0 ? lci::kUrgent | lci::kMore : lci::kMore;
      if (i % 7 != 0) {
        good &= PORT_TEST_CHECK(
            port.send_small({1}, kChan, lci::Lane::request, words, {}, flags) == Post::done, port,
            i);
        continue;
      }
      lci::Packet* const packet = port.alloc({1}, lci::Lane::request, kBytes, lci::kNoFlags);
      good &= PORT_TEST_CHECK(
          port.send(packet, kChan, words, kBytes, {}, nullptr, flags) == Post::done, port, i);
    }
    while (port.self() == 1 && came.size() < kPackets) {
      (void)port.wait({.any_packet = true, .what = "urgent packets and others"});
    }
    for (std::uint32_t i = 0; i < came.size(); ++i) {
      good &= PORT_TEST_CHECK(came[i] == i, port, i);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

TEST_P(Urgent, packets_are_served_while_a_rank_computes) {
  run_two(GetParam(), [](lci::Port& port, Seen& seen) {
    if (!interrupts(port)) return true;
    bool good = true;
    constexpr std::uint64_t kTimes = 5;
    if (port.self() == 1) {
      port.wake(lci::Wake::watchdog, Ps{0});
      const Ps limit = port.now() + seconds(20);
      while (seen.asked < kTimes && port.now() < limit) compute(port);
      good &= PORT_TEST_CHECK(seen.asked == kTimes, port, seen.asked);
      port.wake(lci::Wake::poll_only, Ps{0});
      return good;
    }
    for (std::uint64_t i = 1; i <= kTimes; ++i) {
      good &= PORT_TEST_CHECK(port.send_small({1}, kAsk, lci::Lane::request, lci::Words{}, {},
                                              lci::kUrgent) == Post::done,
                              port, i);
      while (good && seen.answered < i) {
        good &= PORT_TEST_CHECK(
            port.wait({.any_packet = true, .deadline = port.now() + seconds(20)}) == Post::done,
            port, i);
      }
    }
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
