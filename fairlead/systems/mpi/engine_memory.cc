// Copies between this rank's memory and what a peer has exposed, for collectives
// and windows.
#include <fmt/format.h>

#include "fairlead/run/lost_ranks.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {

void Engine::wait_beside_device(lci::Until until, const char* call) {
  if (is_direct() || device_->waits_for_all()) {
    (void)wait_until(until, call, {});
    return;
  }
  // What the device took in while it sent has not been looked at. Looking may be all it takes.
  const std::uint64_t changes = port_.changes();
  device_->poll();
  if ((has_work() && progress()) || port_.changes() != changes) return;
  until.any_change = true;
  until.what = call;
  if (port_.wait(until) == Post::peer_down) {
    failed(fmt::format("{}: {}", call, run::lost_ranks(port_)));
  }
  device_->poll();
}

// Begins a copy and waits for its end. True: it went by packets, where the path would not copy.
template <class Begin>
bool Engine::copy_now(Rank peer, std::size_t size, const char* call, Begin&& begin) {
  Counter copied;
  Post answer;
  while ((answer = begin(&copied)) == Post::again_credit || answer == Post::again_buffer) {
    wait_beside_device({}, call);
  }
  lci::Until until;
  until.counter = &copied;
  until.at = 1;
  while (answer == Post::pending && copied.ok.load(std::memory_order_acquire) +
                                            copied.failed.load(std::memory_order_acquire) ==
                                        0) {
    wait_beside_device(until, call);
  }
  wait_is_over();
  if ((answer != Post::done && answer != Post::pending) || copied.failed.load() != 0) {
    failed(
        fmt::format("{}: cannot copy {} bytes between this rank's memory and that of rank {}: it "
                    "is gone, or in another call",
                    call, size, peer));
  }
  return answer == Post::pending;
}

void Engine::fetch(const lci::Remote& from, void* to, std::size_t size, const char* call) {
  copy_now(from.rank, size, call,
           [&](Counter* copied) { return port_.get(from, to, size, copied, lci::kNoFlags); });
}

void Engine::store(const void* from, const lci::Remote& to, std::size_t size, const char* call) {
  const lci::PutPiece piece{to.offset, from, size};
  const bool by_packets = copy_now(to.rank, size, call, [&](Counter* copied) {
    return port_.put({to.rank}, to.segment, {&piece, 1}, copied, lci::kNoCounter, lci::kNoFlags);
  });
  if (!by_packets) return;
  copy_now(to.rank, size, call, [&](Counter* there) { return port_.fence({to.rank}, there); });
}

}  // namespace fairlead::mpi
