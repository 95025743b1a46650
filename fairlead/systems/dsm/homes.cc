// Homes that a program asks for, and homes that follow who writes, as a part of Core.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/segments.h"

namespace fairlead::dsm {

// --- Hints.

void Core::place(const void* begin, std::size_t bytes, Rank rank) {
  PageId page = checked_page(begin, bytes, "a place of pages");
  if (rank >= size_) fail(fmt::format("pages placed at rank {}: there are {}", rank, size_));
  if (bytes == 0) return;
  const lci::PortTurn turn(port_);
  const PageId last = memory_->page_of(static_cast<const std::byte*>(begin) + bytes - 1);
  for (; page <= last; ++page) {
    if (home_[page] != 0) continue;
    const std::uint64_t before = claim(page, rank);
    home_[page] = before == 0 ? rank + 1 : static_cast<std::uint32_t>(before);
    if (before == 0 && rank == self_) ++counts_.homes;
  }
}

// Makes `rank` the page's home where nobody is. Returns who was, + 1.
std::uint64_t Core::claim(PageId page, Rank rank) {
  const Rank keeper = page % size_;
  // The keeper's processor changes the word for those that ask for pages by messages; the network's
  // atomics may not be atomic with it.
  if (protocol_.fetch == FetchPart::async) return claim_by_message(page, rank);
  if (keeper == self_ && own_words_) {
    std::uint64_t before = 0;
    word_of(first_touch_[page / size_])
        .compare_exchange_strong(before, rank + 1, std::memory_order_acq_rel);
    return before;
  }
  const Awaited home{"a page's home", "home of page", page, keeper};
  const lci::Remote at{keeper, kFirstTouch, page / size_ * sizeof(std::uint64_t)};
  begin(
      [&] {
        return port_.atomic(at, lci::Atomic::compare_swap, 0, rank + 1, &old_word_, &fetched_);
      },
      home);
  await(fetched_, ++fetches_asked_, home);
  return old_word_;
}

std::uint64_t Core::claim_by_message(PageId page, Rank rank) {
  const Rank keeper = page % size_;
  if (keeper == self_) return home_by_hint(page, rank);
  placed_.reset();
  const std::uint32_t body[] = {rank};
  wire_.send(keeper, Kind::place, page, body);
  serve([this] { return placed_.has_value(); }, {"a page's home", "home of page", page, keeper});
  return *placed_;
}

// At the keeper of the page.
std::uint64_t Core::home_by_hint(PageId page, Rank rank) {
  const std::uint64_t before = home_by_touch(page, rank, false);
  if (before == 0) (void)home_by_touch(page, rank, true);
  return before;
}

void Core::place_asked(const Message& message) {
  const auto page = static_cast<PageId>(message.value);
  if (message.body.size() != 1 || message.body[0] >= size_ || page % size_ != self_) {
    refuse(message);
  }
  const auto before = static_cast<std::uint32_t>(home_by_hint(page, message.body[0]));
  wire_.send(message.from, Kind::placed, page, std::span(&before, 1));
}

void Core::place_told(const Message& message) {
  if (message.body.size() != 1 || message.body[0] > size_ || placed_.has_value()) refuse(message);
  placed_ = message.body[0];
}

// --- Homes that move. All ranks have heard of the same intervals, so that each knows all that
// follows without being told. Between the two barriers old homes are still asked for what new homes
// do not have, and nobody writes.

void Core::move_homes() {
  std::vector<std::pair<PageId, Rank>> writers;
  for (const Notice& notice : heard_) writers.emplace_back(notice.page, notice.writer);
  std::sort(writers.begin(), writers.end());
  writers.erase(std::unique(writers.begin(), writers.end()), writers.end());
  std::vector<std::pair<PageId, Rank>> moves;
  for (std::size_t i = 0; i < writers.size();) {
    const auto [page, writer] = writers[i];
    std::size_t next = i + 1;
    while (next < writers.size() && writers[next].first == page) ++next;
    const bool is_alone = next == i + 1;
    i = next;
    const std::uint32_t before = (*lone_writer_)[page];
    (*lone_writer_)[page] = is_alone ? writer + 1 : 0;
    if (!is_alone || before != writer + 1 || (*moved_to_)[page] == writer + 1) continue;
    (*moved_to_)[page] = writer + 1;
    moves.emplace_back(page, writer);
  }
  if (moves.empty()) return;
  for (const auto& [page, writer] : moves) {
    if (writer == self_ && home_[page] != self_ + 1) take_home(page);
    if (page % size_ == self_) {
      word_of(first_touch_[page / size_]).store(writer + 1, std::memory_order_release);
    }
  }
  meet(kMoved, 0, {}, "a barrier at which homes move");
  for (const auto& [page, writer] : moves) {
    if (writer == self_) continue;
    // An old home's copy has no twin; it is fetched again where it is wanted.
    if (is_master(page) && state_[page] != State::out) {
      state_[page] = State::out;
      engine_->expel(page, 1);
      charge_protections(0, 1);
    }
    home_[page] = writer + 1;
  }
}

// The rank wrote the page last, and has all that was written before. What it sent to the old home
// has come there: it would else fall on the copy that the old home fetches next.
void Core::take_home(PageId page) {
  const Awaited changes{"changes to come to a page's old home", "old home of page", page,
                        home_[page] - 1};
  begin([&] { return port_.fence({home_[page] - 1}, &fetched_); }, changes);
  await(fetched_, ++fetches_asked_, changes);
  serve([this] { return !unconfirmed(); }, changes);
  at_ = 0;
  if (state_[page] == State::out) bring_in(page);
  if (apart_) {
    hide(page);
    std::memcpy(master(page), memory_->alias(page), kPageBytes);
  }
  home_[page] = self_ + 1;
  for (Rank writer = 0; writer < size_; ++writer) {
    set_version(page, writer, need_[std::size_t{page} * size_ + writer]);
  }
  ++counts_.migrations;
}

}  // namespace fairlead::dsm
