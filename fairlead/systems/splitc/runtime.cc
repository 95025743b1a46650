#include "fairlead/systems/splitc/runtime.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fairlead/base/pages.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/run/names.h"
#include "fairlead/run/node/rank_call.h"
#include "fairlead/systems/splitc/amvia.h"
#include "fairlead/systems/splitc/amvia_shm.h"
#include "fairlead/systems/splitc/direct.h"
#include "fairlead/systems/splitc/via.h"

namespace fairlead::splitc {
static_assert(Runtime::kHeapBytes <= UINT32_MAX && Runtime::kProgramHeapBytes <= UINT32_MAX,
              "places travel in 4 bytes (via.h)");

namespace {

constexpr run::Names kNames = run::names_of(run::System::splitc);
constexpr lci::SegId kHeapSegment = kNames.segments[0];
constexpr std::uint64_t kHeapBytesMin = std::uint64_t{1} << 20;

bool may_be_mapped(lci::Port& port) {
  for (Rank rank = 0; rank < port.size(); ++rank) {
    if (rank != port.self() && (port.caps(rank).flags & lci::kMappable) != 0) return true;
  }
  return false;
}

std::unique_ptr<Remote> make_remote(const Choice& choice, run::Context& context,
                                    const NodeHeaps* node, Host& host) {
  lci::Port& port = context.port();
  switch (choice.implementation) {
    case Implementation::direct:
      return std::make_unique<Direct>(port, host, kHeapSegment, choice.extras.aggregate);
    case Implementation::amvia:
      return std::make_unique<Amvia>(port, host, "amvia");
    case Implementation::am:
      return std::make_unique<Amvia>(port, host, "direct");
    case Implementation::amvia_shm:
      return std::make_unique<AmviaShm>(port, context.layer_costs(), host, *node);
    case Implementation::via:
      return std::make_unique<Via>(port, context.layer_costs(), host, choice.extras);
    case Implementation::via_unreliable:
      if (choice.extras.selective) {
        return std::make_unique<ViaSelective>(port, context.layer_costs(), host, choice.extras);
      }
      return std::make_unique<ViaUnreliable>(port, context.layer_costs(), host, choice.extras);
  }
  return nullptr;
}

}  // namespace

Host& current_host() { return Runtime::current().host(); }
Remote& current_remote() { return Runtime::current().remote(); }

Runtime::Runtime(run::Context& context, const Choice& choice, access::Body program_anchor,
                 HeapAt heap_at)
    : context_(context),
      port_(context.port()),
      waits_(port_, context.rank_call(),
             {this,
              [](void* self, const lci::Until& until) {
                static_cast<Runtime*>(self)->remote_->wait(until);
              }}),
      anchor_(reinterpret_cast<std::uintptr_t>(program_anchor)),
      shares_(choice.implementation == Implementation::direct),
      node_(choice.implementation == Implementation::amvia_shm
                ? std::make_unique<NodeHeaps>(context, host())
                : nullptr),
      remote_(make_remote(choice, context_, node_.get(), *this)),
      collectives_(
          port_, kNames.channels[0], waits_,
          {this, [](void* self,
                    const std::string& reason) { static_cast<Runtime*>(self)->fail(reason); }}),
      heap_at_(heap_at) {
  procs = port_.size();
  if (choice.extras.aggregate) {
    uncounted_.resize(procs);
    uncounted = uncounted_.data();
  }
  me = port_.self();
}

Runtime::~Runtime() {
  if (heap_ != nullptr && shares_) (void)port_.withdraw(kHeapSegment);
}

void Runtime::fail(const std::string& reason) {
  context_.abort_job(1, "Split-C: " + reason);
  std::abort();  // GCC forgets that a virtual function does not return
}

void Runtime::make_own_heap() {
  if (heap_at_ == HeapAt::any) {
    own_ = ReservedMemory(heap_bytes_);
    heap_ = own_.data();
    return;
  }
  // Shared, as only such pages can be mapped a second time.
  void* const at = mmap(reinterpret_cast<void*>(kOneAddress), heap_bytes_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) {
    fail(fmt::format("the heap cannot be mapped at {:#x}: {}", kOneAddress, std::strerror(errno)));
  }
  view_ = static_cast<std::byte*>(at);
  heap_ = view_;
}

void Runtime::map_heap_at_one_address() {
  void* const reserved =
      mmap(reinterpret_cast<void*>(kOneAddress), heap_bytes_, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  void* const at = reserved == MAP_FAILED ? nullptr : map_again(heap_, heap_bytes_, reserved);
  if (at == nullptr) {
    fail(fmt::format("the heap cannot be mapped at {:#x}: {}", kOneAddress, std::strerror(errno)));
  }
  view_ = static_cast<std::byte*>(at);
}

// Reserved here and touched on use: in memory that others map, where there is such, or in the
// process's own.
void Runtime::make_heap() {
  heap_bytes_ = heap_at_ == HeapAt::one_address ? kProgramHeapBytes : kHeapBytes;
  if (node_ != nullptr) {
    heap_ = node_->make(heap_bytes_, heap_at_ == HeapAt::one_address ? kOneAddress : 0);
    if (heap_at_ == HeapAt::one_address) view_ = heap_;
  } else if (!shares_) {
    make_own_heap();
  } else if (may_be_mapped(port_)) {
    while (heap_ == nullptr && heap_bytes_ >= kHeapBytesMin) {
      heap_ = static_cast<std::byte*>(port_.allocate(kHeapSegment, heap_bytes_, lci::Place::host));
      if (heap_ == nullptr) heap_bytes_ /= 2;
    }
  } else {
    make_own_heap();
    if (port_.expose(kHeapSegment, heap_, heap_bytes_, lci::kRead | lci::kWrite | lci::kAtomic,
                     nullptr, {}) != Post::done) {
      heap_ = nullptr;
    }
  }
  if (heap_ == nullptr) fail("there is no memory left for the heap");
  if (heap_at_ == HeapAt::one_address && view_ == nullptr) map_heap_at_one_address();
}

void Runtime::begin() {
  make_heap();
  remote_->open(heap_, heap_bytes_);
  collectives_.take(remote_->road());
  // Nobody looks at a heap, or sends to it, before it is there.
  const auto least = [](void* into, const void* from) {
    auto& mine = *static_cast<std::uint64_t*>(into);
    mine = std::min(mine, *static_cast<const std::uint64_t*>(from));
  };
  collectives_.reduce(&heap_bytes_, sizeof heap_bytes_, least, "start");
  bases_.resize(procs);
  for (Rank rank = 0; rank < procs; ++rank) {
    const bool maps = shares_ && (port_.caps(rank).flags & lci::kMappable) != 0;
    void* const theirs = maps && rank != me ? port_.map(rank, kHeapSegment) : nullptr;
    bases_[rank] = rank == me ? heap_ : static_cast<std::byte*>(theirs);
    if (theirs != nullptr) poll_every_ = kPollEveryMapped;
    if (node_ != nullptr) bases_[rank] = node_->heap(rank);
  }
  bases = bases_.data();
  room = heap_bytes_ - access::kHeapBegin;
  takes_time_ = remote_->takes_time();
  is_asked_ = all_are_mapped();
  if (is_asked_) limit = &control_of(me).limit;
  until_poll = takes_time_ || is_asked_ ? 1 : poll_every_;
  parts_ = RangeAllocator(room);
  if (is_asked_) open_or_serve();
  collectives_.barrier();
  if (node_ != nullptr) node_->all_have_mapped();
}

bool Runtime::all_are_mapped() {
  // All ranks come to this result alike.
  const bool may_be = shares_ && uncounted == nullptr && room > access::kShortBytes &&
                      procs <= Control::kRanks && (port_.caps(me).flags & lci::kFreeWork) != 0;
  if (!may_be) return false;
  struct Each {
    std::uint64_t all;
    std::uint64_t least_thread;
    std::uint64_t least_other;  // of what counts down as the first one counts up
  };
  const auto thread = static_cast<std::uint64_t>(gettid());
  Each each{1, thread, ~thread};
  for (const std::byte* const base : bases_) each.all = base == nullptr ? 0 : each.all;
  const auto both = [](void* into, const void* from) {
    Each& mine = *static_cast<Each*>(into);
    const Each& its = *static_cast<const Each*>(from);
    mine.all &= its.all;
    mine.least_thread = std::min(mine.least_thread, its.least_thread);
    mine.least_other = std::min(mine.least_other, its.least_other);
  };
  collectives_.reduce(&each, sizeof each, both, "start");
  // Where ranks share a thread, who waits for a value has to let others run: its accesses do.
  const bool share_a_thread = procs > 1 && each.least_thread == ~each.least_other;
  return each.all != 0 && !share_a_thread;
}

// In one order for all: whoever closes it later than this rank opens it has asked before, so that
// one of the two sees what the other one did.
void Runtime::open_or_serve() {
  Control& own = control_of(me);
  const std::atomic_ref<std::uint64_t> asking(own.asking);
  if (asking.load() != 0) remote_->poll();
  const std::atomic_ref<std::uint64_t> its(own.limit);
  its.store(room - access::kShortBytes);
  if (asking.load() != 0) its.store(0);
}

void Runtime::ask(Rank rank) {
  std::atomic_ref<std::uint64_t>(control_of(rank).asking).fetch_add(1);
  std::atomic_ref<std::uint64_t>(control_of(rank).limit).store(0);
}

void Runtime::answered_one() { std::atomic_ref<std::uint64_t>(control_of(me).asking).fetch_sub(1); }

void Runtime::end() {
  sync();
  all_store_sync();
  remote_->settle();
  collectives_.barrier();
  remote_->close();
}

std::byte* Runtime::look(Rank rank, std::uint64_t offset, std::size_t bytes, const char* call,
                         bool counts) {
  if (rank >= procs) {
    fail(fmt::format("{} of {} bytes at {:#x} of rank {}: there are {} ranks", call, bytes, offset,
                     rank, procs));
  }
  if (offset < access::kHeapBegin || bytes > room || offset - access::kHeapBegin > room - bytes) {
    fail(fmt::format("{} of {} bytes at {:#x} of rank {}: its heap is from {:#x} to {:#x}", call,
                     bytes, offset, rank, access::kHeapBegin, heap_bytes_));
  }
  if (is_asked_ && std::atomic_ref<std::uint64_t>(*limit).load(std::memory_order_relaxed) == 0) {
    open_or_serve();
  }
  std::uint32_t& until_glance = takes_time_ || is_asked_ ? until_glance_ : until_poll;
  if (until_glance <= 1) {
    until_glance = poll_every_;
    remote_->glance();
  }
  --until_glance;
  if (takes_time_ || is_asked_) until_poll = 1;
  if (bases[rank] == nullptr) return nullptr;
  if (takes_time_ && rank != me) {
    remote_->touch(rank, bytes, counts);
  } else if (bytes > 64) {
    port_.charge({.working_set_bytes = bytes, .copied_bytes = bytes});
  }
  return bases[rank] + offset;
}

void Runtime::get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes, const char* call) {
  if (const std::byte* const at = look(rank, offset, bytes, call)) {
    std::memcpy(to, at, bytes);
    return;
  }
  waits_.accesses(rank, offset, bytes);
  remote_->get(to, rank, offset, bytes);
}

void Runtime::put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes, bool copied,
                  const char* call) {
  if (std::byte* const at = look(rank, offset, bytes, call)) {
    std::memcpy(at, from, bytes);
    return;
  }
  waits_.accesses(rank, offset, bytes);
  remote_->put(rank, offset, from, bytes, copied);
}

void Runtime::sync() { remote_->sync(); }

void Runtime::read(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) {
  get(to, rank, offset, bytes, "read");
  remote_->await_gets();
}

void Runtime::write(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  put(rank, offset, from, bytes, false, "write");
  sync();
}

std::uint64_t Runtime::stored_here() {
  if (!is_asked_) return stored_word()->load(std::memory_order_acquire);
  std::uint64_t all = 0;
  for (Rank rank = 0; rank < procs; ++rank) {
    all += std::atomic_ref<std::uint64_t>(control_of(rank).stored_to[me])
               .load(std::memory_order_acquire);
  }
  return all;
}

void Runtime::store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  std::byte* const at = look(rank, offset, bytes, "store", true);
  if (at != nullptr) std::memcpy(at, from, bytes);
  if (at != nullptr && uncounted != nullptr) {
    uncounted[rank] += bytes;
    has_uncounted = true;
    return;
  }
  if (is_asked_) return access::stored(rank, bytes);
  stores_ += bytes;
  if (at != nullptr) {
    const std::uint64_t before = std::atomic_ref<std::uint64_t>(control_of(rank).stored)
                                     .fetch_add(bytes, std::memory_order_release);
    if (node_ != nullptr) remote_->stored_at(rank, before + bytes);
    return;
  }
  remote_->store(rank, offset, from, bytes);
}

std::byte* Runtime::own(std::uint64_t offset, std::size_t bytes) {
  if (offset < access::kHeapBegin || bytes > room || offset - access::kHeapBegin > room - bytes) {
    fail(fmt::format("{} bytes at {:#x} are asked for, outside the heap", bytes, offset));
  }
  return heap_ + offset;
}

void Runtime::stored(std::size_t bytes) {
  std::atomic_ref<std::uint64_t>(reinterpret_cast<Control*>(heap_)->stored)
      .fetch_add(bytes, std::memory_order_release);
}

void Runtime::count_stores() {
  if (!has_uncounted) return;
  has_uncounted = false;
  for (Rank rank = 0; rank < procs; ++rank) {
    if (uncounted_[rank] == 0) continue;
    const std::uint64_t bytes = std::exchange(uncounted_[rank], 0);
    stores_ += bytes;
    std::atomic_ref<std::uint64_t>(control_of(rank).stored)
        .fetch_add(bytes, std::memory_order_release);
  }
}

const std::atomic<std::uint64_t>* Runtime::stored_word() {
  return reinterpret_cast<const std::atomic<std::uint64_t>*>(
      &reinterpret_cast<Control*>(heap_)->stored);
}

void Runtime::await(const std::atomic<std::uint64_t>& word, std::uint64_t at, const char* what) {
  waits_.until({.word = &word, .cmp = lci::Cmp::ge, .value = at, .what = what}, {},
               [&] { return word.load(std::memory_order_acquire) >= at; });
}

// A wait ends when any of the words has changed; they are looked at anew for the next one.
void Runtime::await_stores(std::uint64_t bytes) {
  std::vector<lci::Until> words(procs);
  for (Rank rank = 0; rank < procs; ++rank) {
    words[rank].word =
        reinterpret_cast<const std::atomic<std::uint64_t>*>(&control_of(rank).stored_to[me]);
    words[rank].cmp = lci::Cmp::ne;
    if (rank + 1 < procs) words[rank].also = &words[rank + 1];
  }
  waits_.until({.what = "stores", .also = words.data()}, {}, [&] {
    std::uint64_t all = 0;
    for (lci::Until& each : words) {
      each.value = each.word->load(std::memory_order_acquire);
      all += each.value;
    }
    return all - consumed_ >= bytes;
  });
}

void Runtime::store_sync(std::uint64_t bytes) {
  poll();
  if (is_asked_) {
    if (stored_here() - consumed_ < bytes) await_stores(bytes);
    consumed_ += bytes;
    return;
  }
  waits_.until(
      {.word = stored_word(), .cmp = lci::Cmp::ge, .value = consumed_ + bytes, .what = "stores"},
      {}, [&] { return stored_here() - consumed_ >= bytes; });
  consumed_ += bytes;
}

void Runtime::reset_store_sync() {
  poll();
  consumed_ = stored_here();
}

// The number of bytes stored by all grows no more once all are here; then all wait until as many
// have come. Where all heaps are mapped they have, and nobody stores more before all have counted.
void Runtime::all_store_sync() {
  remote_->flush();
  if (is_asked_) {
    std::byte none{};
    collectives_.reduce(
        &none, 0, [](void*, const void*) {}, "all_store_sync");
    consumed_ = stored_here();
    return collectives_.barrier();
  }
  const auto add = [](void* into, const void* from) {
    *static_cast<std::uint64_t*>(into) += *static_cast<const std::uint64_t*>(from);
  };
  std::uint64_t sent = stores_;
  collectives_.reduce(&sent, sizeof sent, add, "all_store_sync");
  std::uint64_t here = 0;
  std::uint64_t came = 0;
  do {
    poll();
    here = stored_here();
    came = here;
    collectives_.reduce(&came, sizeof came, add, "all_store_sync's second part");
  } while (came < sent);
  consumed_ = here;
}

std::uint64_t Runtime::allocate(std::size_t bytes, Content content) {
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
  if (content == Content::zero) std::memset(heap_ + offset, 0, bytes);
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
  if (is_asked_) ask(rank);
  remote_->atomic(rank, {message, sizeof call + in_bytes});
  waits_.until({.what = "the answer of an atomic"}, Waits::of_rank(rank),
               [this] { return answered_; });
}

std::size_t Runtime::run(std::span<const std::byte> message, std::byte* out) {
  Call call{};
  if (message.size() < sizeof call) fail("a call of atomic that no rank sends");
  std::memcpy(&call, message.data(), sizeof call);
  const auto body = reinterpret_cast<access::Body>(anchor_ + call.body);
  body(message.data() + sizeof call, out);
  if (is_asked_) answered_one();
  return std::min<std::size_t>(call.out_bytes, access::kAtomicMax);
}

void Runtime::atomic_done(std::span<const std::byte> out) {
  std::copy_n(out.data(), std::min(out.size(), answer_bytes_), answer_);
  answered_ = true;
}

}  // namespace fairlead::splitc
