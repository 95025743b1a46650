// Intervals, as a part of Core: what ends one, all ways to bring changes home, what notices do.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/mutants.h"
#include "fairlead/systems/dsm/segments.h"

namespace fairlead::dsm {
namespace {

constexpr std::size_t kPiecesMax = 64;  // of one put
constexpr std::size_t kDiffHead = 2;    // words before the runs: interval, whether it is the last
// Runs of changed bytes in a page: with more, the home's processor, which is called anyway, applies
// them from one message, where each put is one of the network's.
constexpr std::size_t kRunsByPuts = 32;

}  // namespace

void Core::close_interval() {
  written_.clear();
  engine_->collect(written_);
  charge_writes();
  std::sort(by_atomics_.begin(), by_atomics_.end());
  by_atomics_.erase(std::unique(by_atomics_.begin(), by_atomics_.end()), by_atomics_.end());
  if (written_.empty() && by_atomics_.empty()) return;
  const std::uint32_t seq = time_[self_] + 1;
  std::uint64_t interval = seq;
  keep_newest(mine_, mine_most_);
  const std::size_t before = mine_.size();
  for (const PageId page : written_) {
    const Ps begin = watch_ == nullptr ? Ps{} : port_.now();
    find_changes(page);
    if (is_master(page) || !runs_.empty()) {
      const std::uint64_t bytes_before = counts_.diff_bytes;
      bring_home(page, interval);
      if (!mutated(Mutant::changes_not_told)) mine_.push_back({page, self_, seq});
      if (watch_ != nullptr && !is_master(page)) {
        watch_->diff(page, counts_.diff_bytes - bytes_before, port_.now() - begin);
      }
    }
    if (watch_ != nullptr) watch_->closed(page);
  }
  // Atomics were done at the home; what there is to bring is that there were some.
  runs_.clear();
  for (const PageId page : by_atomics_) {
    bring_home(page, interval);
    if (!mutated(Mutant::atomic_not_told)) mine_.push_back({page, self_, seq});
  }
  by_atomics_.clear();
  for (const Rank home : stamped_) {
    wire_.send(home, Kind::stamps, seq, stamps_[home], true);
    stamps_[home].clear();
  }
  stamped_.clear();
  await(flushed_, flushes_asked_,
        {"changes to be written to their pages' homes", "changes to come home"});
  drain();
  if (mine_.size() == before) return;
  time_[self_] = seq;
  if (watch_ != nullptr) watch_->end_interval(apart_ ? watch_->clock() : time_);
  const std::span<const Notice> added = log_.add(std::span(mine_).subspan(before));
  if (queued_) show_records(added);
  ++counts_.intervals;
}

// Leaves them in runs_; none for the home, whose copy is the one that others change.
void Core::find_changes(PageId page) {
  runs_.clear();
  const std::byte* const twin = twins_ + std::size_t{page} * kPageBytes;
  if (!is_master(page)) {
    find_runs(memory_->alias(page), twin, runs_);
    port_.charge({.bytes = 2 * kPageBytes, .working_set_bytes = 2 * kPageBytes});
    if (watch_ != nullptr) watch_->wrote(page, runs_, false);
  } else if (watch_ != nullptr && watch_->written_at(page) != 0) {
    find_runs(memory_->alias(page), twin, runs_);
    watch_->wrote(page, runs_, true);
    runs_.clear();
  }
}

// The first write to each of them was a fault, after which the page might be written; now runs of
// neighbours are protected again. Whatever engine this machine has, the modelled one has
// protections.
void Core::charge_writes() {
  if (written_.empty()) return;
  std::uint64_t runs = 1;
  for (std::size_t i = 1; i < written_.size(); ++i) {
    if (written_[i] != written_[i - 1] + 1) ++runs;
  }
  charge_protections(written_.size(), written_.size() + runs);
}

// Sends the changes of a page, then its version behind them. `interval` and the page stay as they
// are until both have left.
void Core::bring_home(PageId page, std::uint64_t& interval) {
  if (home_[page] == self_ + 1) {
    if (apart_) keep_runs(page);
    return set_version(page, self_, interval);
  }
  const Rank home = home_[page] - 1;
  ++counts_.diffs;
  // A copy that is fetched again has them.
  if (!mutated(Mutant::own_changes_forgotten)) {
    need_[std::size_t{page} * size_ + self_] = interval;
  }
  if (protocol_.diff == DiffPart::async || (runs_.size() > kRunsByPuts && packs_runs(home))) {
    send_runs(page, static_cast<std::uint32_t>(interval));
    return;
  }
  // What the home has still to apply must not come behind newer bytes.
  serve([&] { return unacknowledged_[home] == 0; },
        {"changes to be applied at a home", "changes to be applied", {}, home});
  put_runs(page);
  if (protocol_.diff == DiffPart::draw) {
    if (stamps_[home].empty()) stamped_.push_back(home);
    stamps_[home].push_back(page);
    return;
  }
  const lci::PutPiece version{(std::uint64_t{page} * size_ + self_) * sizeof interval, &interval,
                              sizeof interval};
  begin(
      [&] {
        return port_.put({home}, kVersions, {&version, 1}, &flushed_, lci::kNoCounter, lci::kAfter);
      },
      {"a page's version", "room for version of page", page, home});
  ++flushes_asked_;
}

// From this rank's view into the home's copy, which is here, too.
void Core::keep_runs(PageId page) {
  std::byte* const twin = twins_ + std::size_t{page} * kPageBytes;
  for (const ByteRun& run : runs_) {
    const std::size_t bytes = static_cast<std::size_t>(run.end - run.begin);
    std::memcpy(master(page) + run.begin, memory_->alias(page) + run.begin, bytes);
    std::memcpy(twin + run.begin, memory_->alias(page) + run.begin, bytes);
    counts_.diff_bytes += bytes;
  }
}

bool Core::packs_runs(Rank home) const {
  return protocol_.diff == DiffPart::draw && !protocol_.faithful &&
         (port_.caps(home).flags & lci::kMappable) == 0;
}

void Core::put_runs(PageId page) {
  std::byte* const twin = twins_ + std::size_t{page} * kPageBytes;
  std::array<lci::PutPiece, kPiecesMax> pieces;
  std::size_t count = 0;
  if (mutated(Mutant::changes_not_sent)) return;
  const bool refreshes = !mutated(Mutant::old_twin);
  const auto flush = [&] {
    begin(
        [&] {
          return port_.put({home_[page] - 1}, kPages, std::span(pieces).first(count), &flushed_,
                           lci::kNoCounter, lci::kNoFlags);
        },
        {"a page's changes", "room for changes of page", page, home_[page] - 1});
    ++flushes_asked_;
    count = 0;
  };
  for (const ByteRun& run : runs_) {
    const std::size_t bytes = static_cast<std::size_t>(run.end - run.begin);
    pieces[count++] = {std::uint64_t{page} * kPageBytes + run.begin,
                       memory_->alias(page) + run.begin, bytes};
    if (refreshes) std::memcpy(twin + run.begin, memory_->alias(page) + run.begin, bytes);
    counts_.diff_bytes += bytes;
    if (count == kPiecesMax) flush();
  }
  if (count != 0) flush();
}

// In parts of one packet each; the home has as many buffers for pages as there may be unconfirmed.
void Core::send_runs(PageId page, std::uint32_t seq) {
  const Rank home = home_[page] - 1;
  serve([&] { return unacknowledged_[home] < diff_buffers_; },
        {"a buffer for changes at a home", "room for changes of page", page, home});
  std::byte* const twin = twins_ + std::size_t{page} * kPageBytes;
  const std::size_t words_max = port_.caps(home).mtu_bytes / sizeof(std::uint32_t);
  auto left = std::span<const ByteRun>(runs_);
  ++unacknowledged_[home];
  do {
    words_.assign({seq, 0});
    const std::size_t taken = encode_runs(left, memory_->alias(page), words_max, words_);
    left = left.subspan(taken);
    words_[1] = left.empty() ? 1 : 0;
    wire_.send(home, Kind::diff, page, words_);
  } while (!left.empty());
  std::size_t bytes = 0;
  for (const ByteRun& run : runs_) {
    const std::size_t size = static_cast<std::size_t>(run.end - run.begin);
    std::memcpy(twin + run.begin, memory_->alias(page) + run.begin, size);
    bytes += size;
  }
  counts_.diff_bytes += bytes;
  port_.charge({.working_set_bytes = kPageBytes, .copied_bytes = 2 * bytes});
}

void Core::take_diff(const Message& message) {
  const auto page = static_cast<PageId>(message.value);
  if (message.body.size() < kDiffHead ||
      !apply_runs(std::span(message.body).subspan(kDiffHead), master(page))) {
    refuse(message);
  }
  port_.charge({.working_set_bytes = kPageBytes, .copied_bytes = message.body.size() * 4});
  if (message.body[1] == 0) return;
  set_version(page, message.from, message.body[0]);
  wire_.send(message.from, Kind::diff_ack, page, {});
}

void Core::take_stamps(const Message& message) {
  for (const std::uint32_t page : message.body) {
    if (page >= pages_) refuse(message);
    set_version(page, message.from, message.value);
  }
}

bool Core::unconfirmed() const {
  return std::any_of(unacknowledged_.begin(), unacknowledged_.end(),
                     [](std::uint32_t diffs) { return diffs != 0; });
}

// A home that moved here may know of more than is said now.
void Core::set_version(PageId page, Rank writer, std::uint64_t seq) {
  std::atomic<std::uint64_t>& version = word_of(versions_[std::size_t{page} * size_ + writer]);
  if (version.load(std::memory_order_relaxed) < seq) version.store(seq, std::memory_order_release);
  if (!parked_.empty()) look_at_asks(page);
}

// Puts out what others wrote. This rank's own writes are home already, as its interval was closed
// before.
std::span<const Notice> Core::apply(std::span<const Notice> notices) {
  for (const Notice& notice : notices) {
    if (notice.writer == self_) continue;
    std::uint64_t& need = need_[std::size_t{notice.page} * size_ + notice.writer];
    need = std::max<std::uint64_t>(need, notice.seq);
    time_[notice.writer] = std::max(time_[notice.writer], notice.seq);
    if (is_master(notice.page)) {
      await_version(notice.page, notice.writer, notice.seq);
    } else if (state_[notice.page] != State::out) {
      state_[notice.page] = State::out;
      engine_->expel(notice.page, 1);
      charge_protections(0, 1);
      ++counts_.invalidations;
    }
  }
  return log_.add(notices);
}

void Core::await_version(PageId page, std::uint32_t writer, std::uint64_t seq) {
  std::atomic<std::uint64_t>& version = word_of(versions_[std::size_t{page} * size_ + writer]);
  if (version.load(std::memory_order_acquire) >= seq) return;
  await_word(version, lci::Cmp::ge, seq,
             {"a writer's changes to a page of this rank", "changes to page", page, writer});
}

}  // namespace fairlead::dsm
