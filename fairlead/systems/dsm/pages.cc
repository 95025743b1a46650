// How pages come, as a part of Core: what a fault does, how homes are found, both ways to fetch.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fairlead/base/counters.h"
#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/mutants.h"
#include "fairlead/systems/dsm/segments.h"

namespace fairlead::dsm {
namespace {

// Between two looks at a version that is too old.
constexpr Ps kLookAgain = microseconds(2);
constexpr Ps kLookAgainMost = microseconds(500);
constexpr std::size_t kPageWords = kPageBytes / sizeof(std::uint32_t);
constexpr std::int64_t kStrideMost = 64;  // pages
constexpr const char* kOtherThread =
    "of the shared heap, which was not here, was accessed by another thread than the one that "
    "started the DSM: that one alone may; others are given copies, or pages that Dsm::touch has "
    "brought";
// What lies so near to the end of a stack is taken to be meant for it.
constexpr std::uintptr_t kStackReach = 65536;

}  // namespace

bool Core::fault(void* address, void* machine) {
  if (!running_ || !memory_->has(address)) return false;
  if (getpid() != owner_) refuse_child(address);
  if (pthread_equal(pthread_self(), thread_) == 0) refuse_thread(address);
  if (const auto* const stack = reinterpret_cast<const void*>(stack_of(machine)); has(stack)) {
    fail(
        fmt::format("the program's stack has come to {}, in the shared heap: stacks are each "
                    "process's own; take memory of malloc or mmap for them",
                    stack));
  }
  const PageId page = memory_->page_of(address);
  if (in_fault_) was_handed(address);
  fault_at_ = address;
  const lci::PortTurn turn(port_);
  if (watch_ != nullptr) at_ = watch_->accessed_at(machine);
  if (state_[page] == State::in) {
    if (engine_->fault_inside(page) && watch_ != nullptr) note_write(page, at_);
  } else {
    if (state_[page] == State::out) {
      charge_protections(1, 0);
      take_fault(page, !apart_ && access_of(machine) == Access::write);
    }
    if (apart_) {
      show(page);
      const std::size_t offset = offset_of(address);
      if (access_of(machine) == Access::read) note_read(page, offset, offset + 1);
    }
  }
  return true;
}

void Core::was_handed(const void* address) {
  fail(fmt::format("{} of the shared heap was handed to a call that moves data, and was not here",
                   address));
}

// An upcall that stores what came, as a get's, runs inside a call, and nothing comes before it
// returns. Where work is declared to a model, its ranks' looks take time: there it is not asked.
void Core::check_that_port_looks() {
  if ((port_.caps(self_).flags & lci::kFreeWork) == 0) return;
  const std::uint64_t looks = port_.counters().polls;
  (void)port_.poll();
  if (port_.counters().polls == looks) was_handed(fault_at_);
}

// A child of fork has this rank's memory but the heap, and is no rank: nothing here is called.
void Core::refuse_child(const void* address) const {
  std::array<char, 256> text;
  const auto end = fmt::format_to_n(
      text.data(), text.size(),
      "rank {}: process {}, a child of fork, accessed {} of the shared heap, which children do not "
      "have: let it exec, or copy what it needs before the fork\n",
      self_, getpid(), address);
  const ssize_t written = ::write(STDERR_FILENO, text.data(), std::min(end.size, text.size()));
  _exit(written < 0 ? 2 : 1);
}

// The port's turn may be another thread's, but what it does with pages is for one only.
void Core::refuse_thread(const void* address) { fail(fmt::format("{} {}", address, kOtherThread)); }

void Core::tell_of_thread(const void* address) {
  std::array<char, 512> text;
  const auto end = fmt::format_to_n(text.data(), text.size(), "process {}: {} {}\n", getpid(),
                                    address, kOtherThread);
  (void)!::write(STDERR_FILENO, text.data(), std::min(end.size, text.size()));
}

void Core::tell_of_wild_access(const void* address, void* machine) const {
  std::array<char, 512> text;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t stack = stack_of(machine);
  const bool near_stack = at + kStackReach > stack && at < stack + kStackReach;
  const auto end = fmt::format_to_n(
      text.data(), text.size(), "rank {}: an access to {}, {}\n", self_, address,
      near_stack ? "where the stack has come to its end: ulimit -s gives it more"
                 : "where this rank has no memory. An address that another rank took of its own "
                   "memory (stack, malloc, mmap) means nothing here: share what Tmk_malloc, "
                   "G_MALLOC or Dsm::allocate returns");
  (void)!::write(STDERR_FILENO, text.data(), std::min(end.size, text.size()));
}

void Core::take_fault(PageId page, bool writes) {
  fault_writes_ = writes;
  const Ps begin = watch_ == nullptr ? Ps{} : port_.now();
  ++counts_.faults;
  bring_in(page);
  fault_writes_ = false;
  if (watch_ == nullptr) return;
  watch_->fault(page, at_, port_.now() - begin);
  if (writes) note_write(page, at_);
}

void Core::bring_in(PageId page) {
  in_fault_ = true;
  slots_[0] = {page, false, false, 0};
  slots_used_ = 1;
  add_stride(page);
  make_room(slots_used_);
  fetch_slots();
  admit_slots();
  in_fault_ = false;
}

// Two faults with the same distance between them, or so far behind a fetch that went ahead as it
// brought pages: the next ones are likely.
void Core::add_stride(PageId page) {
  if (!ahead_) return;
  const std::int64_t stride = std::int64_t{page} - last_fault_;
  last_fault_ = page;
  const bool again = stride == stride_ || stride == stride_ * std::int64_t{kAhead};
  if (!again) {
    stride_ = stride;
    return;
  }
  if (stride_ == 0 || stride_ > kStrideMost || stride_ < -kStrideMost) return;
  for (std::int64_t next = page + stride_; slots_used_ < kAhead; next += stride_) {
    if (next < 0 || next >= pages_) return;
    const auto ahead = static_cast<PageId>(next);
    if (state_[ahead] != State::out) return;
    slots_[slots_used_++] = {ahead, false, false, 0};
  }
}

void Core::prefetch(const void* begin, std::size_t bytes, std::uintptr_t at) {
  PageId page = checked_page(begin, bytes, "prefetch");
  if (bytes == 0) return;
  const lci::PortTurn turn(port_);
  at_ = at;
  const PageId last = memory_->page_of(static_cast<const std::byte*>(begin) + bytes - 1);
  while (page <= last) {
    slots_used_ = 0;
    for (; page <= last && slots_used_ < kAhead; ++page) {
      if (state_[page] == State::out) slots_[slots_used_++] = {page, false, false, 0};
    }
    if (slots_used_ == 0) break;
    make_room(slots_used_);
    fetch_slots();
    admit_slots();
    for (std::size_t i = 0; apart_ && i < slots_used_; ++i) hide(slots_[i].page);
  }
}

void Core::touch(const void* begin, std::size_t bytes, bool write, std::uintptr_t at) {
  PageId page = checked_page(begin, bytes, "an access");
  if (bytes == 0) return;
  const lci::PortTurn turn(port_);
  at_ = at;
  const PageId last = memory_->page_of(static_cast<const std::byte*>(begin) + bytes - 1);
  if (cache_pages_ != 0 && last - page >= cache_pages_ / 2) {
    fail(
        fmt::format("an access of {} bytes at {}: more than half of what FAIRLEAD_DSM_CACHE={} "
                    "lets be here at once: in parts, or a larger cache",
                    bytes, begin, cache_pages_));
  }
  const std::size_t offset = offset_of(begin);
  for (; page <= last; ++page) {
    const bool shown = state_[page] == State::in;
    if (state_[page] == State::out) take_fault(page, false);
    if (apart_ && !shown) show(page);
    if (!write) {
      engine_->reach(page);
      note_read(page, offset, offset + bytes);
      continue;
    }
    if (engine_->mark_written(page) && watch_ != nullptr) note_write(page, at);
  }
}

void Core::fetch_slots() { protocol_.fetch == FetchPart::async ? fetch_async() : fetch_ardmar(); }

// Neighbours together.
void Core::admit_slots() {
  const PageId wanted = slots_[0].page;
  const auto pages = std::span(slots_).first(slots_used_);
  std::sort(pages.begin(), pages.end(),
            [](const Slot& a, const Slot& b) { return a.page < b.page; });
  std::size_t taken = 0;
  for (std::size_t i = 0; i < pages.size();) {
    if (!pages[i].here) {
      ++i;
      continue;
    }
    std::size_t count = 0;
    while (i + count < pages.size() && pages[i + count].here &&
           pages[i + count].page == pages[i].page + count) {
      state_[pages[i + count].page] = State::in;
      cached(pages[i + count].page);
      ++count;
    }
    admit(pages[i].page, static_cast<PageId>(count), wanted);
    charge_protections(0, 1);
    taken += count;
    i += count;
  }
  if (taken > 1) counts_.prefetched += taken - 1;
}

// Pages [first, first + count); the one that is about to be written apart.
void Core::admit(PageId first, PageId count, PageId wanted) {
  const PageId end = first + count;
  if (!fault_writes_ || wanted < first || wanted >= end) return engine_->admit(first, count);
  if (wanted > first) engine_->admit(first, wanted - first);
  engine_->admit_written(wanted);
  if (wanted + 1 < end) engine_->admit(wanted + 1, end - wanted - 1);
}

void Core::became_home(PageId page) {
  home_[page] = self_ + 1;
  ++counts_.homes;
}

bool Core::has_all(std::span<const std::uint64_t> version, PageId page) const {
  if (mutated(Mutant::version_ignored)) return true;
  for (std::uint32_t writer = 0; writer < size_; ++writer) {
    if (version[writer] < need_[std::size_t{page} * size_ + writer]) return false;
  }
  return true;
}

// --- ARDMAR.

void Core::fetch_ardmar() {
  find_homes();
  for (std::size_t i = 0; i < slots_used_; ++i) {
    Slot& slot = slots_[i];
    slot.over = slot.here = home_[slot.page] == self_ + 1;
    if (slot.here) bring_own(slot.page);
    if (home_[slot.page] == 0) slot.over = true;
  }
  read_slots(true);
  Slot& wanted = slots_[0];
  if (!in_fault_ || wanted.here) return;
  const Awaited changes{"a writer's changes at a page's home", "changes to page", wanted.page,
                        home_[wanted.page] - 1};
  run::ToldWait told(waits_);
  for (Ps pause = kLookAgain; !wanted.here; pause = std::min(pause + pause, kLookAgainMost)) {
    const Post waited = wait_once(told, {.deadline = port_.now() + pause}, changes);
    if (waited == Post::peer_down) must(waited, "a page's version");
    wanted.over = false;
    read_slots(false);
  }
}

// The page that a fault waits for becomes this rank's where it is nobody's; for others this rank
// asks only.
void Core::find_homes() {
  for (std::size_t i = 0; i < slots_used_; ++i) {
    Slot& slot = slots_[i];
    if (home_[slot.page] != 0) continue;
    const Rank keeper = slot.page % size_;
    const bool wanted = i == 0 && in_fault_;
    const lci::Remote at{keeper, kFirstTouch, slot.page / size_ * sizeof(std::uint64_t)};
    const Awaited home{"a page's home", "home of page", slot.page, keeper};
    slot.word = 0;
    if (keeper == self_) {
      std::atomic<std::uint64_t>& word = word_of(first_touch_[slot.page / size_]);
      slot.word = word.load(std::memory_order_acquire);
      if (slot.word != 0 || !wanted) continue;
      if (own_words_) {
        word.compare_exchange_strong(slot.word, self_ + 1, std::memory_order_acq_rel);
        continue;
      }
    }
    ++fetches_asked_;
    if (!wanted) {
      begin([&] { return port_.get(at, &slot.word, sizeof slot.word, &fetched_, lci::kNoFlags); },
            home);
      continue;
    }
    begin(
        [&] {
          return port_.atomic(at, lci::Atomic::compare_swap, 0, self_ + 1, &slot.word, &fetched_);
        },
        home);
    if (protocol_.faithful) {
      ++fetches_asked_;
      begin([&] { return port_.get(at, &read_word_, sizeof read_word_, &fetched_, lci::kNoFlags); },
            home);
    }
  }
  await(fetched_, fetches_asked_, of_slot(slots_[0], "a page's home", "home of page"));
  for (std::size_t i = 0; i < slots_used_; ++i) {
    const Slot& slot = slots_[i];
    if (home_[slot.page] != 0) continue;
    if (slot.word != 0 && !mutated(Mutant::two_homes)) {
      home_[slot.page] = static_cast<std::uint32_t>(slot.word);
    } else if (i == 0 && in_fault_) {
      became_home(slot.page);
    }
  }
}

// The version first: the changes that it names are in a page that is read later. Both are asked for
// at once where the network keeps them in order.
void Core::read_slots(bool first) {
  const std::size_t row = size_ * sizeof(std::uint64_t);
  const Awaited page = of_slot(slots_[0], "a page", "page");
  const Awaited version = of_slot(slots_[0], "a page's version", "version of page");
  const auto read_page = [&](const Slot& slot) {
    ++fetches_asked_;
    begin(
        [&] {
          return port_.get({home_[slot.page] - 1, kPages, std::uint64_t{slot.page} * kPageBytes},
                           memory_->alias(slot.page), kPageBytes, &fetched_, lci::kNoFlags);
        },
        page);
  };
  const auto together = [&](const Slot& slot) {
    // Later tries ask for the version alone, as one that is too old would cost a page; and where
    // memory is mapped nothing is saved by asking for both.
    return reads_in_order(home_[slot.page] - 1) && (first || protocol_.faithful);
  };
  const bool page_first = mutated(Mutant::page_before_version);
  for (std::size_t i = 0; page_first && i < slots_used_; ++i) {
    if (!slots_[i].over) read_page(slots_[i]);
  }
  if (page_first) await(fetched_, fetches_asked_, page);
  bool any = false;
  for (std::size_t i = 0; i < slots_used_; ++i) {
    const Slot& slot = slots_[i];
    if (slot.over) continue;
    any = true;
    ++counts_.version_reads;
    ++fetches_asked_;
    begin(
        [&] {
          return port_.get({home_[slot.page] - 1, kVersions, slot.page * row},
                           &read_versions_[i * size_], row, &fetched_, lci::kNoFlags);
        },
        version);
    if (together(slot) && !page_first) read_page(slot);
  }
  if (!any) return;
  await(fetched_, fetches_asked_, version);
  for (std::size_t i = 0; i < slots_used_; ++i) {
    Slot& slot = slots_[i];
    if (slot.over) continue;
    slot.here = has_all(std::span(read_versions_).subspan(i * size_, size_), slot.page);
    if (slot.here && !together(slot) && !page_first) read_page(slot);
  }
  await(fetched_, fetches_asked_, page);
  for (std::size_t i = 0; i < slots_used_; ++i) {
    Slot& slot = slots_[i];
    if (!slot.over && slot.here) keep_twin(slot.page);
    slot.over = true;
  }
}

// Something of a page that is fetched; of several that are, the first one, which a fault waits for.
Awaited Core::of_slot(const Slot& slot, const char* what, const char* thing) const {
  const std::uint32_t home = home_[slot.page];
  return {what, thing, slot.page, home == 0 ? slot.page % size_ : home - 1};
}

bool Core::reads_in_order(Rank rank) const {
  return (port_.caps(rank).flags & lci::kOrderedGet) != 0;
}

void Core::keep_twin(PageId page) {
  if (!mutated(Mutant::no_twin)) {
    std::memcpy(twins_ + std::size_t{page} * kPageBytes, memory_->alias(page), kPageBytes);
  }
  port_.charge({.working_set_bytes = 2 * kPageBytes, .copied_bytes = kPageBytes});
  ++counts_.fetches;
  if (watch_ != nullptr) watch_->fetch(page, at_);
}

// A page that is homed here, maybe by a hint, so that others were faster to write it. Where homes'
// copies are no rank's view, its view gets one as others do.
void Core::bring_own(PageId page) {
  for (Rank writer = 0; writer < size_; ++writer) {
    const std::uint64_t need = need_[std::size_t{page} * size_ + writer];
    if (need != 0) await_version(page, writer, need);
  }
  if (!apart_) return;
  std::memcpy(memory_->alias(page), master(page), kPageBytes);
  keep_twin(page);
}

// --- ASYNC: the rank that asks. A home puts the page into the asker's view, and counts it there
// for the slot that it is asked for, where the network does so by itself (kCountedPut); else it
// sends it. Whoever of the two ranks knows the home tells the asker, who may not.

bool Core::takes_puts(Rank home) const {
  return !apart_ && (port_.caps(home).flags & lci::kCountedPut) != 0;
}

void Core::fetch_async() {
  for (std::size_t i = 0; i < slots_used_; ++i) ask(i, i == 0 && in_fault_);
  const auto used = std::span(slots_).first(slots_used_);
  // Before what has come is looked at: it may be what is waited for.
  if (in_fault_) check_that_port_looks();
  run::ToldWait told(waits_);
  for (;;) {
    look_at_puts();
    const auto missing =
        std::find_if(used.begin(), used.end(), [](const Slot& slot) { return !slot.over; });
    if (missing == used.end()) break;
    const Counter& put = put_[static_cast<std::size_t>(missing - used.begin())];
    // A page that is there, and whose home is not known yet, waits for a message.
    const bool there = put.ok.load(std::memory_order_acquire) != missing->puts;
    wait(told, {.counter = there ? nullptr : &put, .at = missing->puts + 1, .any_packet = true},
         of_slot(*missing, "a page", "page"));
  }
  for (const Slot& slot : used) {
    if (!slot.here) continue;
    home_[slot.page] == self_ + 1 ? bring_own(slot.page) : keep_twin(slot.page);
  }
}

void Core::ask(std::size_t number, bool wanted) {
  Slot& slot = slots_[number];
  const PageId page = slot.page;
  if (home_[page] == 0 && page % size_ == self_) {
    const std::uint64_t home = home_by_touch(page, self_, wanted);
    if (home == 0) {
      slot.over = true;
      return;
    }
    if (home == self_ + 1) {
      became_home(page);
    } else {
      home_[page] = static_cast<std::uint32_t>(home);
    }
  }
  if (home_[page] == self_ + 1) {
    slot.here = slot.over = true;
    return;
  }
  const Rank to = home_[page] != 0 ? home_[page] - 1 : page % size_;
  slot.puts = put_[number].ok.load(std::memory_order_relaxed);
  ask_body_.assign({wanted ? 1U : 0U, takes_puts(to) ? static_cast<std::uint32_t>(number) + 1 : 0});
  for (std::uint32_t writer = 0; writer < size_; ++writer) {
    const std::uint64_t need = need_[std::size_t{page} * size_ + writer];
    if (need != 0) ask_body_.insert(ask_body_.end(), {writer, static_cast<std::uint32_t>(need)});
  }
  wire_.send(to, Kind::page_ask, page, ask_body_);
}

void Core::look_at_puts() {
  for (std::size_t i = 0; i < slots_used_; ++i) {
    Slot& slot = slots_[i];
    if (slot.over || home_[slot.page] == 0) continue;
    if (put_[i].ok.load(std::memory_order_acquire) != slot.puts) slot.here = slot.over = true;
  }
}

// Maybe of a page that has come by a message, as the home's puts found no room.
void Core::home_told(const Message& message) {
  if (message.body.size() != 1 || message.body[0] >= size_ ||
      message.value % size_ != message.from) {
    refuse(message);
  }
  std::uint32_t& home = home_[static_cast<PageId>(message.value)];
  if (home == 0) home = message.body[0] + 1;
}

void Core::answered(const Message& message) {
  const auto end = slots_.begin() + static_cast<std::ptrdiff_t>(slots_used_);
  const auto at = std::find_if(slots_.begin(), end, [&](const Slot& slot) {
    return slot.page == message.value && !slot.over;
  });
  if (at == end) refuse(message);
  if (message.kind == Kind::page_data) {
    if (message.body.size() != kPageWords) refuse(message);
    std::memcpy(memory_->alias(at->page), message.body.data(), kPageBytes);
    port_.charge({.working_set_bytes = 2 * kPageBytes, .copied_bytes = kPageBytes});
    home_[at->page] = message.from + 1;
  } else if (message.kind == Kind::page_yours) {
    became_home(at->page);
  }
  at->here = message.kind != Kind::page_none;
  at->over = true;
}

// --- ASYNC: the ranks that are asked.

// A page's home + 1, which `rank` becomes where it is wanted and nobody is; 0: nobody.
std::uint64_t Core::home_by_touch(PageId page, Rank rank, bool wanted) {
  std::atomic<std::uint64_t>& word = word_of(first_touch_[page / size_]);
  std::uint64_t home = 0;
  if (!wanted) return word.load(std::memory_order_acquire);
  if (word.compare_exchange_strong(home, rank + 1, std::memory_order_acq_rel)) home = rank + 1;
  return home;
}

// One that was forwarded has the rank that asks in front.
void Core::asked(const Message& message, bool forwarded) {
  const std::size_t from = forwarded ? 1 : 0;
  const std::size_t head = from + 2;
  if (message.body.size() < head || (message.body.size() - head) % 2 != 0) refuse(message);
  const auto needs = std::span(message.body).subspan(head);
  const Asked ask{forwarded ? message.body[0] : message.from,
                  static_cast<PageId>(message.value),
                  message.body[from + 1],
                  {needs.begin(), needs.end()}};
  bool good = ask.rank < size_ && ask.put <= kAhead;
  for (std::size_t i = 0; i < needs.size(); i += 2) good = good && needs[i] < size_;
  if (!good) refuse(message);
  if (!forwarded && ask.page % size_ == self_) {
    const std::uint64_t home = home_by_touch(ask.page, ask.rank, message.body[0] != 0);
    if (home == 0 || home == ask.rank + 1) {
      wire_.send(ask.rank, home == 0 ? Kind::page_none : Kind::page_yours, ask.page, {});
      return;
    }
    const auto rank = static_cast<std::uint32_t>(home - 1);
    if (rank != self_) {
      std::vector<std::uint32_t> body{ask.rank};
      body.insert(body.end(), message.body.begin(), message.body.end());
      wire_.send(rank, Kind::forward, ask.page, body);
    }
    if (ask.put != 0) wire_.send(ask.rank, Kind::page_home, ask.page, std::span(&rank, 1));
    if (rank != self_) return;
  }
  if (serve_ask(ask)) return;
  parked_.push_back(ask);
  if (protocol_.diff == DiffPart::draw_full) look_at_asks_later();
}

bool Core::serve_ask(const Asked& ask) {
  for (std::size_t i = 0; i < ask.needs.size(); i += 2) {
    std::uint64_t& version = versions_[std::size_t{ask.page} * size_ + ask.needs[i]];
    if (word_of(version).load(std::memory_order_acquire) < ask.needs[i + 1]) return false;
  }
  ++counts_.served;
  if (ask.put != 0 && takes_puts(ask.rank)) {
    const lci::PutPiece page{std::uint64_t{ask.page} * kPageBytes, master(ask.page), kPageBytes};
    const Post put = port_.put({ask.rank}, kPages, {&page, 1}, &replied_,
                               kDsmNames.counters[ask.put - 1], lci::kNoFlags);
    if (put == Post::done || put == Post::pending) {
      ++replies_;
      return true;
    }
  }
  const auto* const words = reinterpret_cast<const std::uint32_t*>(master(ask.page));
  wire_.send(ask.rank, Kind::page_data, ask.page, {words, kPageWords});
  return true;
}

void Core::look_at_asks(PageId page) {
  std::erase_if(parked_, [&](const Asked& ask) { return ask.page == page && serve_ask(ask); });
}

// Writers change versions here without this processor.
void Core::look_at_asks_later() {
  if (looking_later_) return;
  looking_later_ = true;
  port_.after(kLookAgain, {[](void* self) {
                             Core& core = *static_cast<Core*>(self);
                             core.looking_later_ = false;
                             std::erase_if(core.parked_,
                                           [&](const Asked& ask) { return core.serve_ask(ask); });
                             if (!core.parked_.empty()) core.look_at_asks_later();
                           },
                           this});
}

}  // namespace fairlead::dsm
