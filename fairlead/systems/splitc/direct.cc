#include "fairlead/systems/splitc/direct.h"

#include <fmt/format.h>

#include <algorithm>

#include "fairlead/systems/splitc/endpoint.h"

namespace fairlead::splitc {
namespace {

enum Handler : handler_t { kReturned = 0, kStored, kAtomic, kAtomicDone };

bool no_room(Post answer) { return answer == Post::again_credit || answer == Post::again_buffer; }

}  // namespace

Direct::Direct(lci::Port& port, Host& host, lci::SegId heap_segment)
    : port_(port), host_(host), segment_(heap_segment), is_dirty_(port.size()) {}

void Direct::open(std::byte* heap, std::uint64_t bytes) {
  const int joined = AM_Init();
  began_am_ = joined == AM_OK;
  const bool good = (began_am_ || joined == AM_ERR_IN_USE) &&
                    make_endpoint(port_, bundle_, endpoint_) &&
                    AM_SetSeg(endpoint_, heap, bytes) == AM_OK &&
                    AM_SetHandler(endpoint_, kReturned, handler_of(&on_returned)) == AM_OK &&
                    AM_SetHandler(endpoint_, kStored, handler_of(&on_stored)) == AM_OK &&
                    AM_SetHandler(endpoint_, kAtomic, handler_of(&on_atomic)) == AM_OK &&
                    AM_SetHandler(endpoint_, kAtomicDone, handler_of(&on_atomic_done)) == AM_OK;
  if (!good) host_.fail("no endpoint of Active Messages");
}

void Direct::close() {
  (void)AM_FreeBundle(bundle_);
  if (began_am_) (void)AM_Terminate();
}

void Direct::wait(const lci::Until& until) {
  // What came in a wait that was over at once is served before this one blocks; who waits looks
  // again then.
  if (serves_first_) return poll();
  lci::Until any = until;
  any.any_packet = true;
  if (port_.wait(any) == Post::peer_down) {
    host_.fail(fmt::format("a rank was lost while this one waited for {}", until.what));
  }
  const Counter* const counter = until.counter;
  serves_first_ = counter != nullptr && counter->ok + counter->failed >= until.at;
  if (!serves_first_) poll();
}

void Direct::poll() {
  serves_first_ = false;
  (void)AM_Poll(bundle_);
}

// AM_Poll itself would give the processor away now and then.
void Direct::glance() {
  if (port_.poll() > 0) poll();
}

void Direct::get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) {
  Post answer;
  while (no_room(answer = port_.get({rank, segment_, offset}, to, bytes, &done_, lci::kNoBlock))) {
    wait_for_room();
  }
  if (answer != Post::done && answer != Post::pending) host_.fail("a get or read was refused");
  ++begun_;
}

void Direct::put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes,
                 bool copied) {
  if (bytes == 0) return;
  const lci::PutPiece piece{offset, from, bytes};
  Counter* const done = copied ? nullptr : &done_;
  Post answer;
  while (no_room(
      answer = port_.put({rank}, segment_, {&piece, 1}, done, lci::kNoCounter, lci::kNoBlock))) {
    wait_for_room();
  }
  if (answer != Post::done && answer != Post::pending) host_.fail("a put or write was refused");
  if (!copied) ++begun_;
  if (is_dirty_[rank]) return;
  is_dirty_[rank] = true;
  dirty_.push_back(rank);
}

void Direct::await(const char* what) {
  while (done_.ok + done_.failed < begun_) {
    wait({.counter = &done_, .at = begun_, .what = what});
  }
  if (done_.failed > 0) host_.fail("a get or put was refused, or its rank was lost");
}

void Direct::await_gets() { await("a read"); }

void Direct::sync() {
  for (const Rank rank : dirty_) {
    Post answer;
    while (no_room(answer = port_.fence({rank}, &done_))) wait_for_room();
    if (answer != Post::done && answer != Post::pending) host_.fail("sync: a rank was lost");
    ++begun_;
    is_dirty_[rank] = false;
  }
  dirty_.clear();
  await("gets and puts");
}

void Direct::store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, AM_MaxLong());
    (void)AM_RequestXfer0(endpoint_, static_cast<int>(rank), offset, kStored, at, part);
    at += part;
    offset += part;
    bytes -= part;
  }
}

void Direct::atomic(Rank rank, std::span<const std::byte> call) {
  (void)AM_RequestI0(endpoint_, static_cast<int>(rank), kAtomic, call.data(), call.size());
}

void Direct::on_stored(void*, void*, std::size_t bytes) { current_host().stored(bytes); }

void Direct::on_atomic(void* token, void* data, std::size_t bytes) {
  alignas(std::max_align_t) std::byte out[access::kAtomicMax];
  const std::size_t its = current_host().run({static_cast<const std::byte*>(data), bytes}, out);
  (void)AM_ReplyI0(token, kAtomicDone, out, its);
}
void Direct::on_atomic_done(void*, void* data, std::size_t bytes) {
  current_host().atomic_done({static_cast<const std::byte*>(data), bytes});
}
void Direct::on_returned(int status, op_t, void* block) { came_back(status, block); }

}  // namespace fairlead::splitc
