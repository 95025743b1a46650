// What the reliability over datagrams (reliable_nic.h) is asked for.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"

namespace fairlead::lci {

struct ReliableOptions {
  Ps epoch{};                              // CLOCK_MONOTONIC at the start of the World
  std::size_t window_bytes = 1 << 20;      // under way to one peer and lane, in full frames
  std::uint32_t frame_bytes = UINT32_MAX;  // of a frame; at most what the fabric below carries
  std::uint32_t first = 0;             // number of the first frame to and from each peer; they wrap
  Ps timeout_first = milliseconds(5);  // before a round trip was measured
  // What is kept back so that it shares a frame leaves within milliseconds (AbsenceWatch) even if
  // the client makes no more calls. False: no thread is wanted, as in a test that counts frames.
  bool watch_absence = false;
  // A peer's program has ended in order: it needs nothing any more, and acknowledges nothing.
  bool (*left)(void* context, Peer peer) = nullptr;
  void* context = nullptr;
  // Nothing was ever heard of a peer, although this rank sent to it all that time: told once for
  // each. A rank that computes does not respond, so the time is a long one.
  Ps patience = kNever;
  void (*never_heard)(void* context, Peer peer) = nullptr;
  void* never_heard_context = nullptr;
};

}  // namespace fairlead::lci
