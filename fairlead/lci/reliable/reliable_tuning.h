// What the reliability over datagrams (reliable_nic.cc) is set to: sizes of windows and batches,
// timers, and when small packets are held back for coalescing.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/lci/reliable/frame_pool.h"
#include "fairlead/lci/reliable/reliable_options.h"
#include "fairlead/proto/coalescing.h"
#include "fairlead/proto/selective_repeat.h"

namespace fairlead::lci {

// The most that waits for its window, per flow: then senders are told to wait too.
inline constexpr std::size_t kWaitingMax = 64;
inline constexpr std::size_t kWaitingBytes = 256 << 10;
// Frames under construction, waiting or not acknowledged, over all flows.
inline constexpr std::uint32_t kFramesMax = 4096;
// So much is handed to the fabric at once: what it can send by a few calls.
inline constexpr std::size_t kBatchFrames = 192;
inline constexpr std::size_t kBatchBytes = 60'000;
// Packets built in a buffer that are no longer than this are copied, so that they share a frame.
inline constexpr std::size_t kJoinedMax = 1024;
// When small packets wait for each other to share a frame.
inline constexpr proto::CoalescingOptions kCoalescing{.burst_min = microseconds(3),
                                                      .burst_max = microseconds(20),
                                                      .forgotten = microseconds(30),
                                                      .eager_first = 32,
                                                      .eager_max = 4096};
// Channel of an acknowledgment that is its sender's last word, and how often that is said.
inline constexpr std::uint16_t kGoodbye = 1;
inline constexpr int kGoodbyes = 4;
// Packets delivered a turn before the client can say that it has no room for more replies.
inline constexpr std::uint32_t kDeliveredMax = 1024;
// Packets that are looked at in one turn while the client is away; they are kept.
inline constexpr int kAbsentBudget = 256;
// Turns in which nothing happens, for each that looks at the clock: timers are 50 us and more.
inline constexpr std::uint32_t kIdlePerClock = 8;
// As above, for packets that join others.
inline constexpr std::uint32_t kPostsPerClock = 8;
// Round trips are measured on clocks of 2^16 ps.
inline constexpr unsigned kStampShift = 16;

// Pieces of copies under way by one of several rails: so few that the next ones wait for whichever
// rail is free first.
inline constexpr std::uint32_t kStripeOut = 32;
// A rail by which nothing comes for so long, while another brings something, has its pieces taken
// over. As long as a pair's own rail has (paths/rails_nic.h).
inline constexpr Ps kStripeSilent = milliseconds(20);
// As above, where no other brings anything: the peer may compute, and no harm is done.
inline constexpr Ps kStripeSilentAlone = milliseconds(100);

inline constexpr Ps kTimeoutMin = microseconds(300);
inline constexpr Ps kTimeoutMax = milliseconds(100);
inline constexpr Ps kAckDelay = microseconds(50);

inline constexpr std::size_t kWindowLeast = 8;
inline constexpr std::size_t kWindowMost = 1024;
inline constexpr std::uint32_t kAckEvery = 16;
inline constexpr std::uint32_t kAckEveryMax = 64;  // of a stream

inline proto::SelectiveRepeat::Options flow_options(const ReliableOptions& options,
                                                    std::size_t frame_bytes, std::uint32_t rails) {
  const auto window = static_cast<std::uint32_t>(
      std::bit_floor(std::clamp(options.window_bytes / frame_bytes, kWindowLeast, kWindowMost)));
  return {.window_max = window,
          .window_first = std::min<std::uint32_t>(16, window),
          .timeout_first = options.timeout_first,
          .timeout_min = kTimeoutMin,
          .timeout_max = std::max(kTimeoutMax, options.timeout_first),
          .ack_delay = kAckDelay,
          .ack_every = std::clamp<std::uint32_t>(window / 4, 2, kAckEvery),
          .ack_every_max =
              std::clamp<std::uint32_t>(window / 4, 2, rails > 1 ? kStripeOut / 2 : kAckEveryMax),
          .first = options.first};
}

}  // namespace fairlead::lci
