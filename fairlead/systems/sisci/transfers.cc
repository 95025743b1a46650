#include "fairlead/systems/sisci/transfers.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "fairlead/lci/insist.h"

namespace fairlead::sisci {

bool Transfers::begun(Rank rank, Post answer) {
  if (accepted(answer)) return true;
  ++errors_[rank];
  return false;
}

bool Transfers::begin_put(Place to, const void* data, std::size_t size, Counter* done) {
  const lci::PutPiece piece{to.offset, data, size};
  return begun(
      to.rank, lci::insist(port_, [&] {
        return port_.put({to.rank}, to.segment, {&piece, 1}, done, lci::kNoCounter, lci::kAfter);
      }));
}

bool Transfers::begin_get(Place from, void* data, std::size_t size, Counter* done) {
  // After what this process has put there: it reads its own stores.
  return begun(
      from.rank, lci::insist(port_, [&] {
        return port_.get({from.rank, from.segment, from.offset}, data, size, done, lci::kAfter);
      }));
}

bool Transfers::begin_settle(Rank rank, Counter* done) {
  return begun(rank, lci::insist(port_, [&] { return port_.fence({rank}, done); }));
}

void Transfers::wait_for(Rank rank, const Counter& done, const char* what) {
  while (done.ok.load(std::memory_order_acquire) + done.failed.load(std::memory_order_acquire) ==
         0) {
    (void)port_.wait({.counter = &done, .at = 1, .what = what});
  }
  if (done.failed.load(std::memory_order_acquire) > 0) ++errors_[rank];
}

void Transfers::put(Place to, const void* data, std::size_t size) {
  Counter left;
  Counter* const counter = size <= kCopiedMost ? nullptr : &left;
  if (begin_put(to, data, size, counter) && counter != nullptr) {
    wait_for(to.rank, left, "the room of a copy into a segment");
  }
}

void Transfers::get(Place from, void* data, std::size_t size) {
  Counter came;
  if (begin_get(from, data, size, &came)) wait_for(from.rank, came, "a copy out of a segment");
}

void Transfers::move(Place from, Place to, std::size_t size) {
  std::vector<std::byte> bounce(std::min(size, kBounceBytes));
  for (std::size_t moved = 0; moved < size;) {
    const std::size_t now = std::min(size - moved, bounce.size());
    get({from.rank, from.segment, from.offset + moved}, bounce.data(), now);
    put({to.rank, to.segment, to.offset + moved}, bounce.data(), now);
    moved += now;
  }
}

void Transfers::settle(Rank rank) {
  // Stores to mapped memory, too.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Counter done;
  if (begin_settle(rank, &done)) wait_for(rank, done, "what was stored into a segment");
}

// Where a path may lose puts when it changes, a fence alone would not know.
std::uint64_t Transfers::errors(Rank rank) const {
  const auto found = errors_.find(rank);
  const std::uint64_t counted = found == errors_.end() ? 0 : found->second;
  const bool loses = (port_.caps(rank).flags & lci::kRawPuts) != 0;
  return counted + (loses ? port_.path(rank).lost : 0);
}

}  // namespace fairlead::sisci
