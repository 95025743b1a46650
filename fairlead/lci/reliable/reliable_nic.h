// A fabric that loses, doubles or reorders packets, made reliable on the host (the paper's hrx, LCI
// paper section 5.1, with proto/selective_repeat.h): a Nic over a Nic. Packets sent back to back
// travel in one frame.
//
//   Port                     client packets
//   ReliableNic              frames: numbered, kept until acknowledged, sent again
//   Nic(udp), faulty, ...    moves a frame, or loses it
//
// Every lane has a window of its own, so that replies drain whatever requests do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fairlead/base/units.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::lci {

struct ReliableOptions {
  Ps epoch{};                              // CLOCK_MONOTONIC at the start of the World
  std::size_t window_bytes = 1 << 20;      // under way to one peer and lane, in full frames
  std::uint32_t frame_bytes = UINT32_MAX;  // of a frame; at most what the fabric below carries
  std::uint32_t first = 0;             // number of the first frame to and from each peer; they wrap
  Ps timeout_first = milliseconds(5);  // before a round trip was measured
  // What is kept back so that it shares a frame leaves within milliseconds (AbsenceWatch) even if the
  // client makes no more calls. False: no thread is wanted, as in a test that counts frames.
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

class ReliableNic : public fabric::Nic {
 public:
  // Everything that was sent has been acknowledged and everything that came has been, or nobody is
  // left on the other side.
  virtual bool settled() = 0;
  // This rank needs nothing any more and does not respond from now on: its peers are told, so that
  // none waits for an acknowledgment that was lost. Said several times; all of them may be lost
  // too. The last call.
  virtual void leave() = 0;
};

// `below` outlives it.
std::unique_ptr<ReliableNic> make_reliable_nic(fabric::Nic& below, const ReliableOptions& options);

}  // namespace fairlead::lci
