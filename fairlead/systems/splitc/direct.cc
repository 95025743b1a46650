#include "fairlead/systems/splitc/direct.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fairlead/systems/splitc/endpoint.h"

namespace fairlead::splitc {
namespace {

enum Handler : handler_t { kReturned = 0, kStored, kStores, kAtomic, kAtomicDone };

// Operations of a store that is put into a buffer, and of one that is taken out of a message.
constexpr std::uint64_t kPackOps = 12;

bool no_room(Post answer) { return answer == Post::again_credit || answer == Post::again_buffer; }

}  // namespace

Direct::Direct(lci::Port& port, Host& host, lci::SegId heap_segment, bool aggregates)
    : port_(port),
      host_(host),
      segment_(heap_segment),
      aggregates_(aggregates),
      is_dirty_(port.size()) {}

void Direct::open(std::byte* heap, std::uint64_t bytes) {
  const int joined = AM_Init();
  began_am_ = joined == AM_OK;
  const bool good = (began_am_ || joined == AM_ERR_IN_USE) &&
                    make_endpoint(port_, bundle_, endpoint_) &&
                    AM_SetSeg(endpoint_, heap, bytes) == AM_OK &&
                    AM_SetHandler(endpoint_, kReturned, handler_of(&on_returned)) == AM_OK &&
                    AM_SetHandler(endpoint_, kStored, handler_of(&on_stored)) == AM_OK &&
                    AM_SetHandler(endpoint_, kStores, handler_of(&on_stores)) == AM_OK &&
                    AM_SetHandler(endpoint_, kAtomic, handler_of(&on_atomic)) == AM_OK &&
                    AM_SetHandler(endpoint_, kAtomicDone, handler_of(&on_atomic_done)) == AM_OK;
  if (!good) host_.fail("no endpoint of Active Messages");
  if (aggregates_) make_buffers();
}

void Direct::make_buffers() {
  // Bytes for the headers of a message of Active Messages.
  constexpr std::size_t kHeads = 128;
  std::size_t bytes = std::min(kMessageMax, AM_MaxMedium());
  for (Rank rank = 0; rank < port_.size(); ++rank) {
    if (rank != port_.self()) bytes = std::min<std::size_t>(bytes, port_.caps(rank).mtu_bytes);
  }
  buffers_ = std::make_unique<StoreBuffers>(
      port_.size(), std::max(bytes, StoreBuffers::kBytesMin + kHeads) - kHeads);
}

void Direct::close() {
  (void)AM_FreeBundle(bundle_);
  if (began_am_) (void)AM_Terminate();
}

void Direct::wait(const lci::Until& until) {
  flush();
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
  flush();
  serves_first_ = false;
  (void)AM_Poll(bundle_);
}

// AM_Poll itself would give the processor away now and then.
void Direct::glance() {
  flush();
  if (port_.poll() > 0 || serves_first_) poll();
}

template <class Try>
Post Direct::with_room(Rank rank, const Try& post) {
  Post answer{};
  host_.waits().until({.any_change = true, .what = "room"}, Waits::of_rank(rank), [&] {
    answer = post();
    return !no_room(answer);
  });
  return answer;
}

void Direct::get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) {
  const Post answer = with_room(rank, [&] {
    return port_.get({rank, segment_, offset}, to, bytes, &done_, lci::kNoBlock);
  });
  if (answer != Post::done && answer != Post::pending) host_.fail("a get or read was refused");
  ++begun_;
}

void Direct::put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes,
                 bool copied) {
  if (bytes == 0) return;
  const lci::PutPiece piece{offset, from, bytes};
  Counter* const done = copied ? nullptr : &done_;
  const Post answer = with_room(rank, [&] {
    return port_.put({rank}, segment_, {&piece, 1}, done, lci::kNoCounter, lci::kNoBlock);
  });
  if (answer != Post::done && answer != Post::pending) host_.fail("a put or write was refused");
  if (!copied) ++begun_;
  if (is_dirty_[rank]) return;
  is_dirty_[rank] = true;
  dirty_.push_back(rank);
}

void Direct::await(const char* what) {
  host_.waits().until({.counter = &done_, .at = begun_, .what = what}, Waits::of_last_access(),
                      [this] { return done_.ok + done_.failed >= begun_; });
  if (done_.failed > 0) host_.fail("a get or put was refused, or its rank was lost");
}

void Direct::await_gets() { await("a read"); }

void Direct::sync() {
  flush();
  for (const Rank rank : dirty_) {
    const Post answer = with_room(rank, [&] { return port_.fence({rank}, &done_); });
    if (answer != Post::done && answer != Post::pending) host_.fail("sync: a rank was lost");
    ++begun_;
    is_dirty_[rank] = false;
  }
  dirty_.clear();
  await("gets and puts");
}

void Direct::store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  if (buffers_ == nullptr) return store_alone(rank, offset, from, bytes);
  if (bytes == 0) return;
  if (bytes > StoreBuffers::kStoreMax) {
    // Stores of one rank stay in order.
    send_stores(rank);
    return store_alone(rank, offset, from, bytes);
  }
  const auto place = static_cast<std::uint32_t>(offset);
  while (!buffers_->add(rank, place, from, bytes)) send_stores(rank);
}

void Direct::send_stores(Rank rank) {
  std::uint32_t stores = 0;
  const std::span<const std::byte> message = buffers_->take(rank, stores);
  if (message.empty()) return;
  port_.charge({.ops = stores * kPackOps,
                .working_set_bytes = message.size(),
                .copied_bytes = message.size()});
  (void)AM_RequestI0(endpoint_, static_cast<int>(rank), kStores, message.data(), message.size());
}

void Direct::flush() {
  if (buffers_ == nullptr) return;
  host_.count_stores();
  if (buffers_->waiting().empty()) return;
  for (const Rank rank : std::exchange(buffers_->waiting(), {})) send_stores(rank);
}

void Direct::store_alone(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
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
  flush();
  (void)AM_RequestI0(endpoint_, static_cast<int>(rank), kAtomic, call.data(), call.size());
}

void Direct::on_stored(void*, void*, std::size_t bytes) { current_host().stored(bytes); }

void Direct::on_stores(void*, void* data, std::size_t bytes) {
  Host& host = current_host();
  std::size_t records = 0;
  std::size_t stored = 0;
  const bool good =
      StoreBuffers::for_each({static_cast<const std::byte*>(data), bytes},
                             [&](std::uint32_t place, std::span<const std::byte> its) {
                               std::copy(its.begin(), its.end(), host.own(place, its.size()));
                               stored += its.size();
                               ++records;
                             });
  if (!good) host.fail("stores came that no rank sends");
  static_cast<Direct&>(current_remote())
      .port_.charge(
          {.ops = records * kPackOps, .working_set_bytes = stored, .copied_bytes = stored});
  host.stored(stored);
}

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
