#include "fairlead/systems/dsm/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fairlead/run/lost_ranks.h"
#include "fairlead/systems/dsm/fault_signals.h"

namespace fairlead::dsm {
namespace {

constexpr run::Names kNames = run::names_of(run::System::dsm);
constexpr lci::SegId kPages = kNames.segments[0];
constexpr lci::SegId kVersions = kNames.segments[1];
constexpr lci::SegId kFirstTouch = kNames.segments[2];
constexpr lci::SegId kPagesTaken = kNames.segments[3];

constexpr std::size_t kPiecesMax = 64;  // of one put
// Between two looks at a version that is too old.
constexpr Ps kLookAgain = microseconds(2);
constexpr Ps kLookAgainMost = microseconds(500);
// With a job that has lost a rank.
constexpr Ps kPatience = milliseconds(500);

std::atomic<std::uint64_t>& word(std::uint64_t& of) {
  return reinterpret_cast<std::atomic<std::uint64_t>&>(of);
}
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace

Result<std::unique_ptr<Core>> Core::make(run::Context& context, const Options& options) {
  const std::size_t bytes = (options.heap_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (bytes == 0 || bytes / kPageBytes > ~PageId{0}) {
    return Error{fmt::format("a shared heap of {} bytes: from {} to 2^44", options.heap_bytes, 1)};
  }
  Result<Memory> memory = Memory::map(bytes);
  if (!memory.ok()) return memory.error();
  std::unique_ptr<Core> core(new Core(context, std::move(memory.value())));
  Result<std::unique_ptr<FaultEngine>> engine =
      make_engine(options.engine, core->memory_, core->why_);
  if (!engine.ok()) return engine.error();
  core->engine_ = std::move(engine.value());
  if (core->open() != Post::done) {
    return Error{
        fmt::format("{} bytes for the versions of {} pages by {} ranks: this fabric does "
                    "not have so much memory that peers can reach; a smaller heap?",
                    core->memory_.pages() * core->size_ * sizeof(std::uint64_t),
                    core->memory_.pages(), core->size_)};
  }
  return core;
}

Core::Core(run::Context& context, Memory memory)
    : context_(context),
      port_(context.port()),
      dsm_(*this),
      size_(port_.size()),
      self_(port_.self()),
      memory_(std::move(memory)),
      state_(memory_.pages()),
      home_(memory_.pages()),
      need_(std::size_t{memory_.pages()} * size_),
      twins_(static_cast<std::byte*>(map_sparse(memory_.bytes()))),
      read_version_(size_),
      time_(size_, 0),
      log_(size_),
      wire_(port_, kNames.channels[0]),
      relay_(size_),
      heap_(memory_, [this](std::uint64_t count) { return take_pages(count); }) {}

Core::~Core() {
  if (running_) restore_handlers(*this);
  unmap_sparse(twins_, memory_.bytes());
}

// What peers reach, then the handlers.
Post Core::open() {
  const std::size_t pages = memory_.pages();
  const auto words = [this](lci::SegId segment, std::size_t count) {
    return static_cast<std::uint64_t*>(
        port_.allocate(segment, count * sizeof(std::uint64_t), lci::Place::host));
  };
  versions_ = words(kVersions, pages * size_);
  first_touch_ = words(kFirstTouch, (pages + size_ - 1) / size_);
  pages_taken_ = words(kPagesTaken, 1);
  if (versions_ == nullptr || first_touch_ == nullptr || pages_taken_ == nullptr) {
    return Post::invalid;
  }
  const Post exposed = port_.expose(kPages, memory_.alias(0), memory_.bytes(),
                                    lci::kRead | lci::kWrite, nullptr, {});
  if (exposed != Post::done) return exposed;
  written_.reserve(pages);
  running_ = true;
  install_handlers(*this, bus_, segv_);
  return Post::done;
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
  barrier(~std::uint64_t{0}, "the end of the DSM");
  running_ = false;
  restore_handlers(*this);
  for (const lci::SegId segment : {kPages, kVersions, kFirstTouch, kPagesTaken}) {
    (void)port_.withdraw(segment);
  }
}

void Core::fail(const std::string& text) {
  context_.abort_job(1, fmt::format("DSM: {}", text));
  std::abort();  // GCC forgets that a virtual function does not return
}

void Core::check_running(const char* call) {
  if (!running_) fail(fmt::format("{} after the end of the DSM", call));
}

void Core::must(Post answer, const char* what) {
  if (answer == Post::done || answer == Post::pending) return;
  if (answer != Post::peer_down) {
    fail(fmt::format("{}: the network answered {}", what, static_cast<int>(answer)));
  }
  // The launcher, which knows how a rank ended, ends the job; else this rank says what it knows.
  const Ps patience = port_.now() + kPatience;
  while (port_.now() < patience) (void)port_.wait({.deadline = patience, .what = what});
  fail(fmt::format("{}: {}", what, run::lost_ranks(port_)));
}

void Core::await(const Counter& counter, std::uint64_t at, const char* what) {
  must(port_.wait({.counter = &counter, .at = at, .what = what}), what);
  if (counter.failed.load(std::memory_order_relaxed) != 0) {
    fail(fmt::format("{}: a rank refused it", what));
  }
}

// --- Faults.

bool Core::fault(void* address) {
  if (!running_ || !memory_.has(address)) return false;
  const PageId page = memory_.page_of(address);
  if (in_fault_) {
    fail(fmt::format("{} of the shared heap was handed to a call that moves data, and was not here",
                     address));
  }
  in_fault_ = true;
  if (state_[page] == State::in) {
    engine_->fault_inside(page);
  } else {
    ++counts_.faults;
    if (home_[page] == 0) find_home(page);
    if (home_[page] != self_ + 1) fetch(page);
    state_[page] = State::in;
    engine_->admit(page);
  }
  in_fault_ = false;
  return true;
}

void Core::find_home(PageId page) {
  const Rank keeper = page % size_;
  std::uint64_t former = 0;
  if (keeper == self_) {
    word(first_touch_[page / size_])
        .compare_exchange_strong(former, self_ + 1, std::memory_order_acq_rel);
  } else {
    begin(
        [&] {
          return port_.atomic({keeper, kFirstTouch, page / size_ * sizeof(std::uint64_t)},
                              lci::Atomic::compare_swap, 0, self_ + 1, &old_word_, &fetched_);
        },
        "a page's home");
    await(fetched_, ++fetches_asked_, "a page's home");
    former = old_word_;
  }
  home_[page] = former == 0 ? self_ + 1 : static_cast<std::uint32_t>(former);
  if (former == 0) ++counts_.homes;
}

bool Core::has_all(PageId page) const {
  for (std::uint32_t writer = 0; writer < size_; ++writer) {
    if (read_version_[writer] < need_[std::size_t{page} * size_ + writer]) return false;
  }
  return true;
}

// The version first: what it says to be in the page is in a page that is read later.
void Core::fetch(PageId page) {
  const Rank home = home_[page] - 1;
  const std::size_t row = size_ * sizeof(std::uint64_t);
  for (Ps pause = kLookAgain;; pause = std::min(pause + pause, kLookAgainMost)) {
    ++counts_.version_reads;
    begin(
        [&] {
          return port_.get({home, kVersions, page * row}, read_version_.data(), row, &fetched_,
                           lci::kNoFlags);
        },
        "a page's version");
    await(fetched_, ++fetches_asked_, "a page's version");
    if (has_all(page)) break;
    const Post waited = port_.wait(
        {.deadline = port_.now() + pause, .what = "a writer's changes at a page's home"});
    if (waited == Post::peer_down) must(waited, "a page's version");
  }
  begin(
      [&] {
        return port_.get({home, kPages, std::uint64_t{page} * kPageBytes}, memory_.alias(page),
                         kPageBytes, &fetched_, lci::kNoFlags);
      },
      "a page");
  await(fetched_, ++fetches_asked_, "a page");
  std::memcpy(twins_ + std::size_t{page} * kPageBytes, memory_.alias(page), kPageBytes);
  port_.charge({.working_set_bytes = 2 * kPageBytes, .copied_bytes = kPageBytes});
  ++counts_.fetches;
}

// --- Intervals.

void Core::close_interval() {
  written_.clear();
  engine_->collect(written_);
  if (written_.empty()) return;
  const std::uint32_t seq = time_[self_] + 1;
  const std::uint64_t interval = seq;
  const std::size_t before = mine_.size();
  for (const PageId page : written_) {
    if (home_[page] == self_ + 1) {
      word(versions_[std::size_t{page} * size_ + self_]).store(seq, std::memory_order_release);
    } else {
      runs_.clear();
      const std::byte* const twin = twins_ + std::size_t{page} * kPageBytes;
      find_runs(memory_.alias(page), twin, runs_);
      port_.charge({.bytes = 2 * kPageBytes, .working_set_bytes = 2 * kPageBytes});
      if (runs_.empty()) continue;
      write_home(page, interval);
    }
    mine_.push_back({page, self_, seq});
  }
  await(flushed_, flushes_asked_, "changes to be written to their pages' homes");
  if (mine_.size() == before) return;
  time_[self_] = seq;
  log_.add(std::span(mine_).subspan(before));
  ++counts_.intervals;
}

// The changed bytes, then the interval behind them. `interval` and the page stay until they left.
void Core::write_home(PageId page, const std::uint64_t& interval) {
  const Rank home = home_[page] - 1;
  std::byte* const twin = twins_ + std::size_t{page} * kPageBytes;
  std::array<lci::PutPiece, kPiecesMax> pieces;
  std::size_t count = 0;
  const auto flush = [&] {
    begin(
        [&] {
          return port_.put({home}, kPages, std::span(pieces).first(count), &flushed_,
                           lci::kNoCounter, lci::kNoFlags);
        },
        "a page's changes");
    ++flushes_asked_;
    count = 0;
  };
  for (const ByteRun& run : runs_) {
    const std::size_t bytes = run.end - run.begin;
    pieces[count++] = {std::uint64_t{page} * kPageBytes + run.begin,
                       memory_.alias(page) + run.begin, bytes};
    std::memcpy(twin + run.begin, memory_.alias(page) + run.begin, bytes);
    counts_.diff_bytes += bytes;
    if (count == kPiecesMax) flush();
  }
  if (count != 0) flush();
  const lci::PutPiece version{(std::uint64_t{page} * size_ + self_) * sizeof interval, &interval,
                              sizeof interval};
  begin(
      [&] {
        return port_.put({home}, kVersions, {&version, 1}, &flushed_, lci::kNoCounter, lci::kAfter);
      },
      "a page's version");
  ++flushes_asked_;
  ++counts_.diffs;
}

// What was written here is home already, as an interval was closed before.
void Core::apply(std::span<const Notice> notices) {
  for (const Notice& notice : notices) {
    if (notice.writer == self_) continue;
    std::uint64_t& need = need_[std::size_t{notice.page} * size_ + notice.writer];
    need = std::max<std::uint64_t>(need, notice.seq);
    time_[notice.writer] = std::max(time_[notice.writer], notice.seq);
    if (home_[notice.page] == self_ + 1) {
      await_version(notice.page, notice.writer, notice.seq);
    } else if (state_[notice.page] == State::in) {
      state_[notice.page] = State::out;
      engine_->expel(notice.page, 1);
      ++counts_.invalidations;
    }
  }
  log_.add(notices);
}

void Core::await_version(PageId page, std::uint32_t writer, std::uint64_t seq) {
  std::atomic<std::uint64_t>& version = word(versions_[std::size_t{page} * size_ + writer]);
  if (version.load(std::memory_order_acquire) >= seq) return;
  const char* const what = "a writer's changes to a page of this rank";
  must(port_.wait({.word = &version, .cmp = lci::Cmp::ge, .value = seq, .what = what}), what);
}

// --- Memory.

std::uint64_t Core::take_pages(std::uint64_t count) {
  if (self_ == 0) return word(*pages_taken_).fetch_add(count, std::memory_order_acq_rel);
  begin(
      [&] {
        return port_.atomic({0, kPagesTaken, 0}, lci::Atomic::add, count, 0, &old_word_, &fetched_);
      },
      "memory of the shared heap");
  await(fetched_, ++fetches_asked_, "memory of the shared heap");
  return old_word_;
}

void* Core::allocate(std::size_t bytes) {
  check_running("allocate");
  bool reused = false;
  void* const block = heap_.allocate(bytes, reused);
  if (block != nullptr && reused) std::memset(block, 0, bytes);
  return block;
}

void Core::free(void* block) {
  check_running("free");
  if (block != nullptr && heap_.free(block) == 0) {
    fail(fmt::format("free of {}, which this rank has not allocated", block));
  }
}

}  // namespace fairlead::dsm
