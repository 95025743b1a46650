// Copies between this rank's memory and what a peer has exposed, for collectives.
#include <fmt/format.h>

#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {

// Begins a copy and waits for its end. True: it went by packets, where the path would not copy.
template <class Begin>
bool Engine::copy_now(Rank peer, std::size_t size, const char* call, Begin&& begin) {
  Counter copied;
  Post answer;
  while ((answer = begin(&copied)) == Post::again_credit || answer == Post::again_buffer) {
    wait_for_change(call);
  }
  lci::Until until;
  until.counter = &copied;
  until.at = 1;
  while (answer == Post::pending && copied.ok.load(std::memory_order_acquire) +
                                            copied.failed.load(std::memory_order_acquire) ==
                                        0) {
    (void)wait_until(until, call);
  }
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
