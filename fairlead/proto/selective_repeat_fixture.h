// What the tests of selective_repeat.h share: options, and both ends of a flow driven by hand.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "fairlead/proto/selective_repeat.h"
#include "fairlead/proto/test_clock.h"

namespace fairlead::proto::selective_repeat_fixture {

inline constexpr Peer kPeer = 1;
inline constexpr SelectiveRepeat::Options kOptions{
    .window_max = 64,
    .window_first = 8,
    .timeout_first = microseconds(1000),
    .timeout_min = microseconds(200),
    .timeout_max = microseconds(20'000),
    .ack_delay = microseconds(50),
    .ack_every = 4,
};

using Numbered = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // item, sequence number

struct Answer {
  bool ok = false;
  std::vector<std::uint32_t> freed;
  Numbered again;
};
inline Answer acknowledge(SelectiveRepeat& flow, TestClock& clock, std::uint32_t next,
                          std::vector<std::uint64_t> early = {}, Ps answers = {}) {
  Answer answer;
  answer.ok = flow.acknowledged(clock, kPeer, {next, early, answers},
                                [&](std::uint32_t item) { answer.freed.push_back(item); });
  while (flow.lost(kPeer) > 0) {
    const auto [item, sequence] = flow.take_lost(clock, kPeer);
    answer.again.emplace_back(item, sequence);
  }
  return answer;
}
struct Due {
  std::vector<Peer> acks;
  Numbered again;
};
inline Due run_due(SelectiveRepeat& flow, TestClock& clock) {
  Due due;
  flow.run_due(
      clock,
      [&](Peer peer) {
        (void)flow.take_ack(peer);
        due.acks.push_back(peer);
      },
      [&](Peer, std::uint32_t item, std::uint32_t sequence) {
        due.again.emplace_back(item, sequence);
      });
  return due;
}
inline void send(SelectiveRepeat& flow, TestClock& clock, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) (void)flow.number(clock, kPeer, 100 + i);
}
// Takes a packet that is in order, keeps one that is early.
inline Verdict receive(SelectiveRepeat& flow, TestClock& clock, std::uint32_t sequence) {
  const Verdict came = flow.arrived(clock, kPeer, sequence);
  if (came == Verdict::in_order) flow.accept(kPeer);
  if (came == Verdict::early) flow.keep(kPeer, sequence, sequence + 1000);
  return came;
}
inline std::vector<std::uint32_t> take_all_kept(SelectiveRepeat& flow, TestClock& clock) {
  std::vector<std::uint32_t> taken;
  for (std::uint32_t item; (item = flow.take_kept(clock, kPeer)) != SelectiveRepeat::kNothing;) {
    taken.push_back(item - 1000);
  }
  return taken;
}

}  // namespace fairlead::proto::selective_repeat_fixture
