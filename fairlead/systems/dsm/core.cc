// A rank's start and end, what it waits for, and what messages do.
#include "fairlead/systems/dsm/core.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "fairlead/base/pass_signal_on.h"
#include "fairlead/run/lost_ranks.h"
#include "fairlead/systems/dsm/segments.h"

namespace fairlead::dsm {
namespace {

// With a job that has lost a rank.
constexpr Ps kPatience = milliseconds(500);
constexpr std::size_t kDiffBuffers = 4;

// The handler of both signals. Outside a rank nobody knows who had them before.
void on_fault(int signal, siginfo_t* info, void* machine) {
  const int error = errno;
  Core* const core = Core::current();
  if (core == nullptr) {
    // A thread of the program that is no rank.
    if (Memory::may_have(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
      Core::tell_of_thread(info->si_addr);
    }
    pass_signal_on({}, signal, info, machine);
  } else if (!core->fault(info->si_addr, machine)) {
    // One that the kernel raised, not somebody's kill().
    if (info->si_code > 0 && core->signals().ends_process(signal)) {
      core->tell_of_wild_access(info->si_addr, machine);
    }
    core->signals().pass_on(signal, info, machine);
  }
  errno = error;
}

}  // namespace

Result<std::unique_ptr<Core>> Core::make(run::Context& context, const Options& options) {
  const std::size_t bytes = (options.heap_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (bytes == 0 || bytes / kPageBytes > ~PageId{0}) {
    return Error{fmt::format("a shared heap of {} bytes: from 1 to 2^44", options.heap_bytes)};
  }
  if (options.cache_pages != 0 && options.cache_pages < kCacheMin) {
    return Error{fmt::format("a cache of {} pages: at least {}, or 0 for no limit",
                             options.cache_pages, kCacheMin)};
  }
  try {
    std::unique_ptr<Core> core(new Core(context, options));
    if (const Result<void> opened = core->open(options); !opened.ok()) return opened.error();
    return core;
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("a shared heap of {} bytes, with as much for copies of its pages, finds no "
                    "address space: is there a limit (ulimit -v, ulimit -d), or a smaller heap?",
                    bytes)};
  }
}

Core::Core(run::Context& context, const Options& options)
    : context_(context),
      port_(context.port()),
      dsm_(*this),
      size_(port_.size()),
      self_(port_.self()),
      protocol_(options.protocol),
      // What came ahead is read without a fault.
      ahead_(options.ahead && !options.protocol.faithful && !options.races),
      profile_(options.profile),
      migrate_(options.migrate),
      apart_(options.races),
      own_words_((port_.caps(self_).flags & lci::kRemoteAtomic) == 0),
      queued_(!apart_ && has_queued_locks(protocol_)),
      diff_buffers_(options.protocol.faithful ? 1 : kDiffBuffers),
      pages_(static_cast<PageId>((options.heap_bytes + kPageBytes - 1) / kPageBytes)),
      state_(pages_),
      home_(pages_),
      need_(std::size_t{pages_} * size_),
      read_versions_(kAhead * size_),
      cache_pages_(options.cache_pages),
      time_(size_, 0),
      log_(size_),
      stamps_(size_),
      unacknowledged_(size_),
      records_read_(size_),
      wire_(
          port_, kDsmNames.channels[0],
          {[](void* self, Message& message) { static_cast<Core*>(self)->handle(message); }, this}),
      relay_(size_),
      rounds_(self_, size_),
      arrivals_(rounds_.steps().size()),
      waits_(port_, context.rank_call()),
      asked_{kALock} {}

Core::~Core() {
  if (running_) {
    port_.wake(lci::Wake::poll_only, Ps{0});
    if (engine_->uses_signals()) signals_.release();
  }
  if (twins_ != nullptr) unmap_sparse(twins_, std::size_t{pages_} * kPageBytes);
  if (own_masters_ != nullptr) unmap_sparse(own_masters_, std::size_t{pages_} * kPageBytes);
}

// What peers reach, then the handlers.
Result<void> Core::open(const Options& options) {
  const auto words = [this](lci::SegId segment, std::size_t count) {
    return static_cast<std::uint64_t*>(
        port_.allocate(segment, count * sizeof(std::uint64_t), lci::Place::host));
  };
  versions_ = words(kVersions, std::size_t{pages_} * size_);
  first_touch_ = words(kFirstTouch, (pages_ + size_ - 1) / size_);
  pages_taken_ = words(kPagesTaken, 1);
  if (versions_ == nullptr || first_touch_ == nullptr || pages_taken_ == nullptr) {
    return Error{
        fmt::format("{} bytes for the versions of {} pages by {} ranks: this fabric does "
                    "not have so much memory that peers can reach; a smaller heap?",
                    std::size_t{pages_} * size_ * sizeof(std::uint64_t), pages_, size_)};
  }
  if (queued_) {
    lock_words_ = words(kLockWords, lock_words(size_));
    std::uint64_t* const board = words(kRecords, RecordBoard::bytes() / sizeof(std::uint64_t) + 1);
    if (lock_words_ == nullptr || board == nullptr) {
      return Error{"this fabric does not have the memory that locks take; a smaller heap?"};
    }
    board_.emplace(board);
  }
  const std::size_t bytes = std::size_t{pages_} * kPageBytes;
  twins_ = static_cast<std::byte*>(map_sparse(bytes));
  const bool anywhere = options.engine == EngineKind::checked;
  void* const allocated = port_.allocate(kPages, bytes, lci::Place::host);
  Result<Memory> memory = Memory::map(bytes, apart_ ? nullptr : allocated, anywhere);
  if (!memory.ok()) return memory.error();
  memory_.emplace(std::move(memory.value()));
  if (apart_ || !profile_.empty()) {
    watch_ = std::make_unique<Watch>(pages_, self_, size_, port_.now());
    if (apart_) shown_.emplace(pages_);
  }
  Result<std::unique_ptr<FaultEngine>> engine =
      make_engine(options.engine, *memory_, watch_ != nullptr, why_);
  if (!engine.ok()) return engine.error();
  engine_ = std::move(engine.value());
  masters_ = apart_ ? static_cast<std::byte*>(allocated) : memory_->alias(0);
  if (masters_ == nullptr) masters_ = own_masters_ = static_cast<std::byte*>(map_sparse(bytes));
  if (masters_ != allocated) {
    if (allocated != nullptr) (void)port_.withdraw(kPages);
    const Post exposed =
        port_.expose(kPages, masters_, bytes, lci::kRead | lci::kWrite | lci::kAtomic, nullptr, {});
    if (exposed != Post::done) return Error{"the network cannot reach the shared heap"};
  }
  for (std::size_t part = 0; part < program_.parts().size(); ++part) {
    const DataPart& statics = program_.parts()[part];
    const auto segment = static_cast<lci::SegId>(kStatics + part);
    if (port_.expose(segment, statics.base, statics.bytes, lci::kWrite, nullptr, {}) !=
        Post::done) {
      return Error{"the network cannot reach the program's static variables"};
    }
  }
  for (std::uint32_t slot = 0; protocol_.fetch == FetchPart::async && slot < kAhead; ++slot) {
    port_.expose_counter(kDsmNames.counters[slot], &put_[slot]);
  }
  heap_ =
      std::make_unique<Heap>(*memory_, [this](std::uint64_t count) { return take_pages(count); });
  written_.reserve(pages_);
  if (cache_pages_ != 0) cache_marks_.emplace(pages_);
  if (migrate_) {
    lone_writer_.emplace(pages_);
    moved_to_.emplace(pages_);
  }
  running_ = true;
  owner_ = getpid();
  thread_ = pthread_self();
  if (engine_->uses_signals()) signals_.take(on_fault);
  const bool served = protocol_.fetch == FetchPart::async || protocol_.diff != DiffPart::draw_full;
  if (options.wake == WakeKind::always || (options.wake == WakeKind::automatic && served)) {
    port_.wake(lci::Wake::immediate, Ps{0});
  }
  return {};
}

Core* Core::current() {
  run::Context* const context = run::current();
  return context == nullptr ? nullptr : static_cast<Core*>(context->state(run::System::dsm));
}

std::string Core::engine() const {
  return why_.empty() ? engine_->name() : fmt::format("{} ({})", engine_->name(), why_);
}

void Core::stop() {
  check_running("stop");
  if (!held_.empty()) fail(fmt::format("ends while it holds lock {}", held_.begin()->first));
  if (!held_ranges_.empty()) fail("ends while it holds a range");
  {
    const lci::PortTurn turn(port_);
    const Awaited end{"the end of the DSM"};
    // Behind the first barrier nobody asks for anything new; behind the second all answers have
    // left. A timer that still runs would find no Core.
    for (int i = 0; i < 2; ++i) {
      barrier(~std::uint64_t{0}, end.what);
      wait_until([this] { return wire_.idle() && !looking_later_ && !unconfirmed(); }, end);
      await(replied_, replies_, end);
      if (i == 0 && watch_ != nullptr) gather_profiles();
    }
  }
  port_.wake(lci::Wake::poll_only, Ps{0});
  running_ = false;
  if (engine_->uses_signals()) signals_.release();
  for (const lci::SegId segment : {kPages, kVersions, kFirstTouch, kPagesTaken}) {
    (void)port_.withdraw(segment);
  }
  for (std::size_t part = 0; part < program_.parts().size(); ++part) {
    (void)port_.withdraw(static_cast<lci::SegId>(kStatics + part));
  }
  if (queued_) {
    for (const lci::SegId segment : {kLockWords, kRecords}) (void)port_.withdraw(segment);
  }
  if (watch_ != nullptr && self_ == 0) write_report();
}

void Core::fail(const std::string& text) {
  context_.abort_job(1, fmt::format("DSM: {}", text));
  std::abort();  // GCC forgets that a virtual function does not return
}

void Core::check_running(const char* call) {
  if (!running_) fail(fmt::format("{} after the end of the DSM", call));
}

PageId Core::checked_page(const void* begin, std::size_t bytes, const char* call) {
  check_running(call);
  const auto* const first = static_cast<const std::byte*>(begin);
  if (!memory_->has(first) ||
      bytes > memory_->bytes() - static_cast<std::size_t>(first - memory_->view(0))) {
    fail(fmt::format("{} of {} bytes at {}: not of the shared heap", call, bytes, begin));
  }
  return memory_->page_of(first);
}

// A deadline that has passed is none of its business.
void Core::must(Post answer, const char* what) {
  if (answer == Post::done || answer == Post::pending || answer == Post::again_credit) return;
  if (answer != Post::peer_down) {
    fail(fmt::format("{}: the network answered {}", what, static_cast<int>(answer)));
  }
  // The launcher, which knows how a rank ended, ends the job; else this rank says what it knows.
  const Ps patience = port_.now() + kPatience;
  while (port_.now() < patience) (void)port_.wait({.deadline = patience, .what = what});
  fail(fmt::format("{}: {}", what, run::lost_ranks(port_)));
}

Post Core::wait_once(run::ToldWait& told, lci::Until until, const Awaited& of) {
  until.what = of.what;
  return told.wait(
      until, of.peer(), [this](const lci::Until& one) { return port_.wait(one); },
      [&](run::CallFacts& facts) {
        of.describe(facts);
        run::set_call_text(facts.group, what_it_holds());
      });
}

void Core::await(const Counter& counter, std::uint64_t at, const Awaited& of) {
  if (in_fault_ && counter.ok + counter.failed < at) check_that_port_looks();
  run::ToldWait told(waits_);
  must(wait_once(told, {.counter = &counter, .at = at}, of), of.what);
  if (counter.failed.load(std::memory_order_relaxed) != 0) {
    fail(fmt::format("{}: a rank refused it", of.what));
  }
}

void Core::await_word(const std::atomic<std::uint64_t>& word, lci::Cmp cmp, std::uint64_t value,
                      const Awaited& of) {
  run::ToldWait told(waits_);
  must(wait_once(told, {.word = &word, .cmp = cmp, .value = value}, of), of.what);
}

std::string Core::what_it_holds() const {
  std::string all;
  for (const auto& [lock, held] : held_) {
    all += fmt::format("{}lock {}", all.empty() ? "" : ", ", lock);
  }
  if (!held_ranges_.empty()) all += all.empty() ? "a range" : ", a range";
  return all;
}

void Core::handle(Message& message) {
  const bool of_page = message.kind == Kind::page_ask || message.kind == Kind::forward ||
                       message.kind == Kind::diff || message.kind == Kind::diff_ack ||
                       message.kind == Kind::place || message.kind == Kind::placed ||
                       message.kind == Kind::page_home || message.kind >= Kind::page_data;
  if (of_page && message.value >= pages_) refuse(message);
  switch (message.kind) {
    case Kind::page_ask:
      return asked(message, false);
    case Kind::forward:
      return asked(message, true);
    case Kind::page_data:
    case Kind::page_yours:
    case Kind::page_none:
      return answered(message);
    case Kind::place:
      return place_asked(message);
    case Kind::placed:
      return place_told(message);
    case Kind::page_home:
      return home_told(message);
    case Kind::diff:
      return take_diff(message);
    case Kind::diff_ack:
      if (unacknowledged_[message.from] == 0) refuse(message);
      --unacknowledged_[message.from];
      return;
    case Kind::stamps:
      return take_stamps(message);
    case Kind::arrive:
      return arrived(message);
    case Kind::acquire: {
      const auto lock = static_cast<std::uint32_t>(message.value);
      if (message.body.size() != size_ || message.value >= kLocks) refuse(message);
      if (locks_.acquire(lock, LockTable::Waiter{message.from, message.body})) {
        grant(message.from, Kind::grant, lock, lock, message.body);
      }
      return;
    }
    case Kind::release: {
      const auto lock = static_cast<std::uint32_t>(message.value);
      take_release(message, lock);
      const auto [was_held, next] = locks_.release(lock, message.from);
      if (!was_held) refuse(message);
      if (next) grant(next->rank, Kind::grant, lock, lock, next->time);
      return;
    }
    case Kind::grant:
    case Kind::range_grant:
      return granted(message);
    case Kind::sought:
      return sought(message);
    case Kind::holder:
      return holder_told(message);
    case Kind::record_ask:
      return records_asked(message);
    case Kind::handed:
      return;
    case Kind::records:
      heard_ = notices_in(message, 0);
      recorded_ = true;
      return;
    case Kind::cond_wait:
      return condition_waiter(message);
    case Kind::cond_wake:
      return wake_condition(message);
    case Kind::cond_told:
      told_ = true;
      return;
    case Kind::cond_woken:
      woken_ = true;
      return;
    case Kind::range_acquire:
      return range_asked(message);
    case Kind::range_release:
      take_release(message, kRangesClock);
      if (!ranges_.release(message.from, static_cast<std::uint32_t>(message.value))) {
        refuse(message);
      }
      return grant_ranges();
    case Kind::profile:
      return take_profile(message);
    case Kind::count:
      break;
  }
  refuse(message);
}

void Core::refuse(const Message& message) {
  fail(fmt::format("rank {} sent what no rank sends (kind {})", message.from,
                   static_cast<unsigned>(message.kind)));
}

// --- Memory.

std::uint64_t Core::take_pages(std::uint64_t count) {
  if (self_ == 0 && own_words_)
    return word_of(*pages_taken_).fetch_add(count, std::memory_order_acq_rel);
  const Awaited memory{"memory of the shared heap", nullptr, {}, 0};
  begin(
      [&] {
        return port_.atomic({0, kPagesTaken, 0}, lci::Atomic::add, count, 0, &old_word_, &fetched_);
      },
      memory);
  await(fetched_, ++fetches_asked_, memory);
  return old_word_;
}

void* Core::allocate(std::size_t bytes) {
  check_running("allocate");
  const lci::PortTurn turn(port_);
  bool reused = false;
  void* const block = heap_->allocate(bytes, reused);
  if (block != nullptr && reused && bytes != 0) {
    touch(block, bytes, true);
    std::memset(block, 0, bytes);
  }
  return block;
}

void Core::free(void* block) {
  check_running("free");
  if (block != nullptr && heap_->free(block) == 0) {
    fail(fmt::format("free of {}, which this rank has not allocated", block));
  }
}

std::uint64_t Core::offset_of(const void* address) {
  (void)checked_page(address, 0, "a handle");
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - memory_->view(0));
}

void* Core::address_of(std::uint64_t offset) {
  if (offset >= memory_->bytes()) {
    fail(fmt::format("a handle of byte {}: the shared heap has {}", offset, memory_->bytes()));
  }
  return memory_->view(0) + offset;
}

}  // namespace fairlead::dsm
