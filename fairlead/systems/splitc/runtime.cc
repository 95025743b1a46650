#include "fairlead/systems/splitc/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "fairlead/run/names.h"

namespace fairlead::splitc {
namespace {

constexpr run::Names kNames = run::names_of(run::System::splitc);
constexpr lci::SegId kHeapSegment = kNames.segments[0];
constexpr std::uint64_t kHeapBytesMin = std::uint64_t{1} << 20;
enum Handler : handler_t { kReturned = 0, kStored, kAtomic, kAtomicDone };

bool may_be_mapped(lci::Port& port) {
  for (Rank rank = 0; rank < port.size(); ++rank) {
    if (rank != port.self() && (port.caps(rank).flags & lci::kMappable) != 0) return true;
  }
  return false;
}

bool no_room(Post answer) { return answer == Post::again_credit || answer == Post::again_buffer; }

template <class F>
am_handler_t handler_of(F* function) {
  return reinterpret_cast<am_handler_t>(function);
}

}  // namespace

Runtime::Runtime(run::Context& context, access::Body program_anchor)
    : context_(context),
      port_(context.port()),
      anchor_(reinterpret_cast<std::uintptr_t>(program_anchor)),
      collectives_(
          port_, kNames.channels[0],
          {this,
           [](void* self, const lci::Until& until) { static_cast<Runtime*>(self)->wait(until); },
           [](void* self, const std::string& reason) {
             static_cast<Runtime*>(self)->fail(reason);
           }}),
      is_dirty_(port_.size()) {
  procs = port_.size();
  me = port_.self();
}

Runtime::~Runtime() {
  if (heap_ != nullptr) (void)port_.withdraw(kHeapSegment);
}

void Runtime::fail(const std::string& reason) {
  context_.abort_job(1, "Split-C: " + reason);
  std::abort();  // GCC forgets that a virtual function does not return
}

// Reserved here and touched on use: in memory that others map, where there is such, or in the
// process's own.
void Runtime::make_heap() {
  heap_bytes_ = kHeapBytes;
  if (may_be_mapped(port_)) {
    while (heap_ == nullptr && heap_bytes_ >= kHeapBytesMin) {
      heap_ = static_cast<std::byte*>(port_.allocate(kHeapSegment, heap_bytes_, lci::Place::host));
      if (heap_ == nullptr) heap_bytes_ /= 2;
    }
  } else {
    own_ = ReservedMemory(heap_bytes_);
    heap_ = own_.data();
    if (port_.expose(kHeapSegment, heap_, heap_bytes_, lci::kRead | lci::kWrite | lci::kAtomic,
                     nullptr, {}) != Post::done) {
      heap_ = nullptr;
    }
  }
  if (heap_ == nullptr) fail("there is no memory left for the heap");
}

void Runtime::open_endpoint() {
  const int joined = AM_Init();
  began_am_ = joined == AM_OK;
  en_t name{};
  bool good = began_am_ || joined == AM_ERR_IN_USE;
  good = good && AM_AllocateBundle(AM_SEQ, &bundle_) == AM_OK &&
         AM_AllocateEndpoint(bundle_, &endpoint_, &name) == AM_OK &&
         AM_SetSeg(endpoint_, heap_, heap_bytes_) == AM_OK &&
         AM_SetHandler(endpoint_, kReturned, handler_of(&on_returned)) == AM_OK &&
         AM_SetHandler(endpoint_, kStored, handler_of(&on_stored)) == AM_OK &&
         AM_SetHandler(endpoint_, kAtomic, handler_of(&on_atomic)) == AM_OK &&
         AM_SetHandler(endpoint_, kAtomicDone, handler_of(&on_atomic_done)) == AM_OK &&
         AM_SetNumTranslations(endpoint_, static_cast<int>(procs)) == AM_OK;
  for (Rank rank = 0; good && rank < procs; ++rank) {
    good =
        AM_Map(endpoint_, static_cast<int>(rank), AM_NameOf(rank, name.endpoint), AM_ALL) == AM_OK;
  }
  if (!good) fail("no endpoint of Active Messages");
}

void Runtime::begin() {
  make_heap();
  open_endpoint();
  // Nobody looks at a heap, or sends to it, before it is there.
  const auto least = [](void* into, const void* from) {
    auto& mine = *static_cast<std::uint64_t*>(into);
    mine = std::min(mine, *static_cast<const std::uint64_t*>(from));
  };
  collectives_.reduce(&heap_bytes_, sizeof heap_bytes_, least, "start");
  bases_.resize(procs);
  for (Rank rank = 0; rank < procs; ++rank) {
    bases_[rank] = rank == me
                       ? heap_
                       : static_cast<std::byte*>((port_.caps(rank).flags & lci::kMappable) != 0
                                                     ? port_.map(rank, kHeapSegment)
                                                     : nullptr);
  }
  bases = bases_.data();
  room = heap_bytes_ - access::kHeapBegin;
  until_poll = kPollEvery;
  parts_ = RangeAllocator(room);
  collectives_.barrier();
}

void Runtime::end() {
  sync();
  all_store_sync();
  collectives_.barrier();
  (void)AM_FreeBundle(bundle_);
  if (began_am_) (void)AM_Terminate();
}

void Runtime::wait(const lci::Until& until) {
  // What came in a wait that was over at once is served before this one blocks; who waits looks
  // again then.
  if (serves_first_) return poll();
  lci::Until any = until;
  any.any_packet = true;
  if (port_.wait(any) == Post::peer_down) {
    fail(fmt::format("a rank was lost while this one waited for {}", until.what));
  }
  const Counter* const counter = until.counter;
  serves_first_ = counter != nullptr && counter->ok + counter->failed >= until.at;
  if (!serves_first_) poll();
}

void Runtime::poll() {
  serves_first_ = false;
  (void)AM_Poll(bundle_);
}

std::byte* Runtime::look(Rank rank, std::uint64_t offset, std::size_t bytes, const char* call) {
  if (rank >= procs) {
    fail(fmt::format("{} of {} bytes at {:#x} of rank {}: there are {} ranks", call, bytes, offset,
                     rank, procs));
  }
  if (offset < access::kHeapBegin || bytes > room || offset - access::kHeapBegin > room - bytes) {
    fail(fmt::format("{} of {} bytes at {:#x} of rank {}: its heap is from {:#x} to {:#x}", call,
                     bytes, offset, rank, access::kHeapBegin, heap_bytes_));
  }
  if (until_poll <= 1) {
    until_poll = kPollEvery;
    // AM_Poll itself would give the processor away now and then: this rank computes.
    if (port_.poll() > 0) poll();
  }
  --until_poll;
  return bases[rank] == nullptr ? nullptr : bases[rank] + offset;
}

void Runtime::get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes, const char* call) {
  if (const std::byte* const at = look(rank, offset, bytes, call)) {
    std::memcpy(to, at, bytes);
    if (bytes > 64) port_.charge({.working_set_bytes = bytes, .copied_bytes = bytes});
    return;
  }
  Post answer;
  while (
      no_room(answer = port_.get({rank, kHeapSegment, offset}, to, bytes, &done_, lci::kNoBlock))) {
    wait_for_room();
  }
  if (answer != Post::done && answer != Post::pending) fail(fmt::format("{}: refused", call));
  ++begun_;
}

void Runtime::mark_dirty(Rank rank) {
  if (is_dirty_[rank]) return;
  is_dirty_[rank] = true;
  dirty_.push_back(rank);
}

void Runtime::put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes, bool copied,
                  const char* call) {
  if (std::byte* const at = look(rank, offset, bytes, call)) {
    std::memcpy(at, from, bytes);
    if (bytes > 64) port_.charge({.working_set_bytes = bytes, .copied_bytes = bytes});
    return;
  }
  if (bytes == 0) return;
  const lci::PutPiece piece{offset, from, bytes};
  Counter* const done = copied ? nullptr : &done_;
  Post answer;
  while (no_room(answer = port_.put({rank}, kHeapSegment, {&piece, 1}, done, lci::kNoCounter,
                                    lci::kNoBlock))) {
    wait_for_room();
  }
  if (answer != Post::done && answer != Post::pending) fail(fmt::format("{}: refused", call));
  if (!copied) ++begun_;
  mark_dirty(rank);
}

void Runtime::sync() {
  for (const Rank rank : dirty_) {
    Post answer;
    while (no_room(answer = port_.fence({rank}, &done_))) wait_for_room();
    if (answer != Post::done && answer != Post::pending) fail("sync: a rank was lost");
    ++begun_;
    is_dirty_[rank] = false;
  }
  dirty_.clear();
  while (done_.ok + done_.failed < begun_) {
    wait({.counter = &done_, .at = begun_, .what = "gets and puts"});
  }
  if (done_.failed > 0) fail("a get or put was refused, or its rank was lost");
}

void Runtime::read(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) {
  get(to, rank, offset, bytes, "read");
  while (done_.ok + done_.failed < begun_) {
    wait({.counter = &done_, .at = begun_, .what = "a read"});
  }
  if (done_.failed > 0) fail("a get or put was refused, or its rank was lost");
}

void Runtime::write(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  put(rank, offset, from, bytes, false, "write");
  sync();
}

std::uint64_t Runtime::stored() const {
  return std::atomic_ref<std::uint64_t>(reinterpret_cast<Control*>(heap_)->stored)
      .load(std::memory_order_acquire);
}

void Runtime::store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  stores_ += bytes;
  if (std::byte* const at = look(rank, offset, bytes, "store")) {
    std::memcpy(at, from, bytes);
    std::atomic_ref<std::uint64_t>(control_of(rank).stored)
        .fetch_add(bytes, std::memory_order_release);
    if (bytes > 64) port_.charge({.working_set_bytes = bytes, .copied_bytes = bytes});
    return;
  }
  const auto* at = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, AM_MaxLong());
    (void)AM_RequestXfer0(endpoint_, static_cast<int>(rank), offset, kStored, at, part);
    at += part;
    offset += part;
    bytes -= part;
  }
}

void Runtime::on_stored(void*, void*, std::size_t bytes) {
  std::atomic_ref<std::uint64_t>(reinterpret_cast<Control*>(current().heap_)->stored)
      .fetch_add(bytes, std::memory_order_release);
}

void Runtime::store_sync(std::uint64_t bytes) {
  poll();
  auto* const word =
      reinterpret_cast<std::atomic<std::uint64_t>*>(&reinterpret_cast<Control*>(heap_)->stored);
  while (stored() - consumed_ < bytes) {
    wait({.word = word, .cmp = lci::Cmp::ge, .value = consumed_ + bytes, .what = "stores"});
  }
  consumed_ += bytes;
}

// The number of bytes stored by all grows no more once all are here; then all wait until as many
// have come.
void Runtime::all_store_sync() {
  const auto add = [](void* into, const void* from) {
    *static_cast<std::uint64_t*>(into) += *static_cast<const std::uint64_t*>(from);
  };
  std::uint64_t sent = stores_;
  collectives_.reduce(&sent, sizeof sent, add, "all_store_sync");
  std::uint64_t here = 0;
  std::uint64_t came = 0;
  do {
    poll();
    here = stored();
    came = here;
    collectives_.reduce(&came, sizeof came, add, "all_store_sync's second part");
  } while (came < sent);
  consumed_ = here;
}

std::uint64_t Runtime::allocate(std::size_t bytes) {
  constexpr std::uint64_t kLine = 64;
  const std::uint64_t place = parts_.find(bytes, kLine, 0);
  if (place == RangeAllocator::kNone) {
    fail(fmt::format("{} bytes of every heap: there is no room for them", bytes));
  }
  parts_.take(place, bytes);
  const std::uint64_t offset = access::kHeapBegin + place;
  // All have come, with the same number.
  std::uint64_t both[2] = {bytes, ~std::uint64_t{bytes}};
  const auto least = [](void* into, const void* from) {
    for (int i = 0; i < 2; ++i) {
      auto& mine = static_cast<std::uint64_t*>(into)[i];
      mine = std::min(mine, static_cast<const std::uint64_t*>(from)[i]);
    }
  };
  // Those who had this part before are done with it: they came to free().
  std::memset(heap_ + offset, 0, bytes);
  collectives_.reduce(both, sizeof both, least, "an allocation");
  if (both[0] != bytes || both[1] != ~std::uint64_t{bytes}) {
    fail(fmt::format("{} bytes are allocated here, {} on another rank", bytes,
                     both[0] != bytes ? both[0] : ~both[1]));
  }
  return offset;
}

void Runtime::free(std::uint64_t offset) {
  collectives_.barrier();
  if (offset < access::kHeapBegin || !parts_.free(offset - access::kHeapBegin)) {
    fail(fmt::format("nothing is allocated at {:#x}", offset));
  }
}

std::uint64_t Runtime::offset_of(const void* local, const char* call) {
  const auto* const at = static_cast<const std::byte*>(local);
  if (at < heap_ + access::kHeapBegin || at >= heap_ + heap_bytes_) {
    fail(fmt::format("{} of address {}: it is not in the heap of this rank", call, local));
  }
  return static_cast<std::uint64_t>(at - heap_);
}

void Runtime::atomic(Rank rank, access::Body body, const void* in, std::size_t in_bytes, void* out,
                     std::size_t out_bytes) {
  if (rank >= procs) fail(fmt::format("atomic at rank {}: there are {} ranks", rank, procs));
  poll();
  if (rank == me) return body(in, out);
  std::byte message[access::kAtomicMax];
  const Call call{reinterpret_cast<std::uintptr_t>(body) - anchor_, out_bytes};
  std::memcpy(message, &call, sizeof call);
  std::memcpy(message + sizeof call, in, in_bytes);
  answered_ = false;
  answer_ = static_cast<std::byte*>(out);
  answer_bytes_ = out_bytes;
  (void)AM_RequestI0(endpoint_, static_cast<int>(rank), kAtomic, message, sizeof call + in_bytes);
  while (!answered_) wait({.what = "the answer of an atomic"});
}

void Runtime::serve_atomic(void* token, const std::byte* message, std::size_t bytes) {
  Call call{};
  if (bytes < sizeof call) return;
  std::memcpy(&call, message, sizeof call);
  alignas(std::max_align_t) std::byte out[access::kAtomicMax];
  const auto body = reinterpret_cast<access::Body>(anchor_ + call.body);
  body(message + sizeof call, out);
  (void)AM_ReplyI0(token, kAtomicDone, out, std::min(call.out_bytes, access::kAtomicMax));
}

void Runtime::on_atomic(void* token, void* data, std::size_t bytes) {
  current().serve_atomic(token, static_cast<const std::byte*>(data), bytes);
}
void Runtime::on_atomic_done(void*, void* data, std::size_t bytes) {
  current().atomic_done(static_cast<const std::byte*>(data), bytes);
}
void Runtime::atomic_done(const std::byte* out, std::size_t bytes) {
  std::copy_n(out, std::min(bytes, answer_bytes_), answer_);
  answered_ = true;
}
void Runtime::on_returned(int status, op_t, void* block) {
  const auto& back = *static_cast<const am_returned_t*>(block);
  current().fail(
      fmt::format("a message to rank {} came back with status {:#x}", back.to.rank, status));
}

}  // namespace fairlead::splitc
