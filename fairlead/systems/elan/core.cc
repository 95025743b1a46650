#include "fairlead/systems/elan/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/elan/errors.h"

namespace fairlead::elan {
namespace {

constexpr auto kChannels = run::names_of(run::System::elan).channels;
constexpr lci::Chan kMeetings = kChannels[0];
constexpr lci::Chan kTports = kChannels[1];
constexpr lci::Chan kQueues = kChannels[2];
constexpr lci::Chan kAnswers = kChannels[3];
constexpr lci::Chan kSignalChan = kChannels[4];
// Behind those that groups use.
constexpr std::uint32_t kDestEvents = 1 + kSignals;
lci::CtrId dest_event(unsigned number) {
  return run::names_of(run::System::elan).counters[kDestEvents + number];
}

lci::CtrId dma_event_name(unsigned number) { return dest_event(ELAN_DEST_EVENTS + number); }
static_assert(kDestEvents + ELAN_DEST_EVENTS + ELAN3_EVENTS <= run::kCountersEach);

// The largest and, by their complements, the smallest.
void largest(const void* in, void* inout, std::size_t count, void*) {
  const auto* const a = static_cast<const std::uint64_t*>(in);
  auto* const b = static_cast<std::uint64_t*>(inout);
  for (std::size_t i = 0; i < count; ++i) b[i] = std::max(a[i], b[i]);
}

const NamedFaults::System kFaults = {"Elan", "process", "elan",
                                     reinterpret_cast<const void*>(&largest), [](Rank* rank) {
                                       Core* const core = Core::current();
                                       if (core != nullptr) *rank = core->port().self();
                                       return core != nullptr;
                                     }};

}  // namespace

Core::Core(run::Context& context, std::unique_ptr<Memory> memory)
    : context_(context),
      port_(context.port()),
      told_(port_, context.rank_call()),
      faults_(kFaults),
      memory_(std::move(memory)),
      meeting_(context,
               {kMeetings, kSignalChan, run::names_of(run::System::elan).counters.first,
                memory_->control_segment(), memory_->neighbours_segment(),
                run::names_of(run::System::elan).groups.first, memory_->control()},
               memory_.get(), {.told = &told_}),
      tports_(
          context, {kTports, kAnswers}, "a message of a Tport",
          {nullptr, nullptr,
           [](void*, Send& send) {
             static_cast<elan_event*>(send.owner)->done.ok.fetch_add(1, std::memory_order_release);
           },
           nullptr}),
      queue_inbox_(context, kQueues, "a message of a queue"),
      all_{Group(meeting_, 0, {})},
      state_{port_.self(), port_.size()},
      base_{&state_, &all_, ELAN_POLL_EVENT} {
  for (unsigned i = 0; i < came_.size(); ++i) port_.expose_counter(dest_event(i), &came_[i]);
  queue_inbox_.wait_by(meeting_.waiting);
  tports_.wait_by(meeting_.waiting);
  // Peers reach what needs this process's processor while it computes, too.
  constexpr std::uint64_t kPassive = lci::kHwRdma | lci::kHwAtomic;
  if ((port_.caps(port_.self()).flags & kPassive) != kPassive) {
    port_.wake(lci::Wake::watchdog, Ps{0});
  }
}

Core::~Core() {
  for (unsigned i = 0; i < came_.size(); ++i) port_.expose_counter(dest_event(i), nullptr);
  if (dma_events_ == nullptr) return;
  for (const elan3_block& event : *dma_events_) port_.expose_counter(event.name, nullptr);
}

void Core::make_dma_events() {
  dma_events_ = std::make_unique<std::array<elan3_block, ELAN3_EVENTS>>();
  unsigned number = 0;
  for (elan3_block& event : *dma_events_) {
    event.number = number;
    event.name = dma_event_name(number++);
    port_.expose_counter(event.name, &event.count);
  }
}

GroupDma& Core::group_dma() {
  const auto counted = [](const Counter& counter) {
    return counter.ok.load(std::memory_order_acquire) +
           counter.failed.load(std::memory_order_acquire);
  };
  for (const std::unique_ptr<GroupDma>& each : group_dmas_) {
    if (counted(each->taken) < each->of || (each->tells && counted(each->told) == 0)) continue;
    for (Counter* const counter : {&each->taken, &each->told}) {
      counter->ok.store(0, std::memory_order_relaxed);
      counter->failed.store(0, std::memory_order_relaxed);
    }
    each->tells = false;
    return *each;
  }
  return *group_dmas_.emplace_back(std::make_unique<GroupDma>());
}

void Core::fail(const char* call, const std::string& what) { elan::fail(context_, call, what); }

void Core::join(bool threads) {
  const char* const call = "elan_baseInit";
  const std::uint64_t process = process_name();
  std::uint64_t agreed[] = {process,           ~process,
                            memory_->layout(), ~memory_->layout(),
                            memory_->bytes(),  ~memory_->bytes()};
  all_.group.reduce(agreed, agreed, 8, std::size(agreed), largest, nullptr,
                    ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL, call);
  if (agreed[4] != ~agreed[5]) {
    fail(call, fmt::format("heaps of {} to {} bytes: {} has to be the same everywhere", ~agreed[5],
                           agreed[4], memory_->variable()));
  }
  if (port_.size() > 1 && agreed[0] == ~agreed[1]) {
    memory_->refuse_statics(
        "the ranks are fibers of one process, which share it: use the heap, or run with --body "
        "process");
  } else if (agreed[2] != ~agreed[3]) {
    memory_->refuse_statics("the processes run different programs");
  } else {
    memory_->expose_statics();
  }
  if (port_.shareable()) {
    std::uint64_t asked = threads ? 1 : 0;
    all_.group.reduce(&asked, &asked, sizeof asked, 1, largest, nullptr,
                      ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL, call);
    meeting_.threads = asked != 0;
  }
  all_.group.gsync(call);
  meeting_.find_board();
  meeting_.find_node(all_.group, call);
}

void Core::leave() {
  all_.group.gsync("elan_fini");
  left_ = true;
}

// --- Memory.

// Every member proposes the first place free at it; the furthest is tried by all until it suits
// all.
void* Core::allocate(Group& group, std::size_t align, std::size_t n, bool in_ni, const char* call) {
  if ((align & (align - 1)) != 0 || align > Memory::kAlignMost) {
    fail(call, fmt::format("an alignment of {} bytes: a power of two, at most {}", align,
                           Memory::kAlignMost));
  }
  std::byte* base = in_ni && align <= Memory::kNiAlignMost ? memory_->ni_base() : nullptr;
  RangeAllocator& heap = base != nullptr ? memory_->ni_heap() : memory_->heap();
  if (base == nullptr) base = memory_->base();
  std::uint64_t from = 0;
  for (;;) {
    const std::uint64_t mine = heap.find(n, align, from);
    std::uint64_t agreed[] = {mine, ~mine, n, ~std::uint64_t{n}};
    group.reduce(agreed, agreed, 8, std::size(agreed), largest, nullptr,
                 ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL, call);
    if (agreed[2] != ~agreed[3]) {
      fail(call, fmt::format("{} bytes here, {} to {} elsewhere: all members ask for the same", n,
                             ~agreed[3], agreed[2]));
    }
    if (agreed[0] == RangeAllocator::kNone) return nullptr;
    if (agreed[0] == ~agreed[1]) {
      heap.take(mine, n);
      return base + mine;
    }
    from = agreed[0];
  }
}

void Core::free(void* memory, const char* call) {
  if (memory == nullptr) return;
  auto* const at = static_cast<std::byte*>(memory);
  if (memory_->in_ni(at)) {
    if (memory_->ni_heap().free(static_cast<std::uint64_t>(at - memory_->ni_base()))) return;
    fail(call, fmt::format("{} was not given out, or was freed", memory));
  }
  if (at < memory_->base() ||
      !memory_->heap().free(static_cast<std::uint64_t>(at - memory_->base()))) {
    fail(call, fmt::format("{} was not given out, or was freed", memory));
  }
}

Where Core::target(const void* address, std::size_t n, unsigned vp, const char* call) {
  if (vp >= port_.size()) {
    fail(call, fmt::format("process {} of a job of {}, address {}", vp, port_.size(), address));
  }
  const std::optional<Where> where = memory_->locate(address, n);
  if (!where) fail(call, fmt::format("process {}: {}", vp, memory_->describe(address, n)));
  return *where;
}

// --- Operations.

ELAN_EVENT* Core::make_event(const char* call) {
  if (free_events_.empty()) {
    events_.push_back(std::make_unique<elan_event>());
    free_events_.push_back(events_.back().get());
  }
  elan_event* const event = free_events_.back();
  free_events_.pop_back();
  event->done.ok.store(0, std::memory_order_relaxed);
  event->done.failed.store(0, std::memory_order_relaxed);
  event->at = 0;
  event->call = call;
  event->is_receive = false;
  event->receive = Receive();
  event->send = Send();
  event->old_to = nullptr;
  return event;
}

void Core::free_event(ELAN_EVENT* event) { free_events_.push_back(event); }

void Core::refused(Post answer, const void* address, unsigned vp, const char* call) {
  fail(call, answer == Post::peer_down
                 ? fmt::format("process {} was lost", vp)
                 : fmt::format("process {} does not permit it at {}", vp, address));
}

template <class Begin>
void Core::begin(const void* address, unsigned vp, const char* call, Begin&& operation) {
  const Post answer = insist(port_, operation);
  if (!accepted(answer)) refused(answer, address, vp, call);
}

ELAN_EVENT* Core::put(const void* source, void* target, std::uint64_t* word, std::size_t n,
                      unsigned vp, const char* call) {
  const Where where = this->target(target, n, vp, call);
  elan_event* const event = make_event(call);
  if (n > 0) {
    const lci::PutPiece piece{where.offset, source, n};
    begin(target, vp, call, [&] {
      return port_.put({vp}, where.segment, {&piece, 1}, &event->done, lci::kNoCounter,
                       lci::kNoFlags);
    });
    ++event->at;
  }
  if (word != nullptr) {
    const Where at = this->target(word, 8, vp, call);
    begin(word, vp, call, [&] {
      return port_.atomic({vp, at.segment, at.offset}, lci::Atomic::add, 1, 0, nullptr,
                          &event->done, lci::kAfter);
    });
    ++event->at;
  }
  begin(target, vp, call, [&] { return port_.fence({vp}, &event->done); });
  ++event->at;
  return event;
}

ELAN_EVENT* Core::put_event(const void* source, void* target, std::size_t n, unsigned vp,
                            unsigned number, const char* call) {
  const Where where = this->target(target, n, vp, call);
  if (number >= came_.size()) {
    fail(call, fmt::format("destination event {} of {}", number, came_.size()));
  }
  elan_event* const event = make_event(call);
  event->at = 1;
  const lci::PutPiece piece{where.offset, source, n};
  begin(target, vp, call, [&] {
    return port_.put({vp}, where.segment, {&piece, n > 0 ? 1u : 0u}, &event->done,
                     dest_event(number), lci::kNoFlags);
  });
  return event;
}

void Core::await_dest(unsigned number, std::uint64_t count, const char* call) {
  if (number >= came_.size()) {
    fail(call, fmt::format("destination event {} of {}", number, came_.size()));
  }
  if (wait({.counter = &came_[number], .at = count, .what = call}, call) != Post::done) {
    fail(call, "a process was lost");
  }
}

ELAN_EVENT* Core::get(const void* source, void* target, std::size_t n, unsigned vp,
                      const char* call) {
  const Where where = this->target(source, n, vp, call);
  elan_event* const event = make_event(call);
  if (n == 0) return event;
  event->at = 1;
  begin(source, vp, call, [&] {
    return port_.get({vp, where.segment, where.offset}, target, n, &event->done, lci::kNoFlags);
  });
  return event;
}

ELAN_EVENT* Core::atomic(ELAN_ATOMIC_OP op, std::size_t bytes, void* target, std::uint64_t a,
                         std::uint64_t b, void* old, unsigned vp, const char* call) {
  if (reinterpret_cast<std::uintptr_t>(target) % bytes != 0) {
    fail(call, fmt::format("process {}: {} is not aligned to {} bytes", vp, target, bytes));
  }
  const Where where = this->target(target, bytes, vp, call);
  elan_event* const event = make_event(call);
  event->at = 1;
  event->old_to = old;
  event->old_bytes = bytes;
  begin(target, vp, call, [&] {
    return port_.atomic({vp, where.segment, where.offset}, static_cast<lci::Atomic>(op), a, b,
                        &event->old, &event->done, bytes == 4 ? lci::kWord4 : lci::kNoFlags);
  });
  return event;
}

run::ToldWaits& told_waits(ELAN_BASE*) { return Core::current()->told(); }

void Core::wait(ELAN_EVENT* event) {
  if (event == nullptr) return;
  if (event->is_receive) {
    tports_.await(event->receive, event->call);
    return;
  }
  if (event->at > 0) {
    (void)wait({.counter = &event->done, .at = event->at, .what = event->call}, event->call);
    if (!event->is_done() || event->done.failed.load(std::memory_order_acquire) > 0) {
      fail(event->call, "the target refused it, or a process was lost");
    }
  }
  if (event->old_to != nullptr) std::memcpy(event->old_to, &event->old, event->old_bytes);
  free_event(event);
}

bool Core::poll(ELAN_EVENT* event, long spins) {
  if (event == nullptr) return true;
  for (long i = 0; !event->is_done(); ++i) {
    if (i >= std::max(spins, 1L)) return false;
    port_.poll();
  }
  wait(event);
  return true;
}

}  // namespace fairlead::elan
