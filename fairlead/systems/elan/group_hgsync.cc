// The hgsync of all processes: the first one asks by queries (Port::query) whether all have come.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/elan/errors.h"
#include "fairlead/systems/elan/group.h"

namespace fairlead::elan {
namespace {

// Words of the control segment: numbers of hgsyncs, and below them the kind of what the process is
// doing, or, once it is released, the first member is.
constexpr std::size_t kCame = 0;
constexpr std::size_t kReleased = 1;
// The number of the hgsync whose late ones tell process 0 that they have come.
constexpr std::size_t kToldOf = 2;
constexpr unsigned kKindBits = 8;

constexpr std::int64_t kBackOffFirstUs = 2;
constexpr std::int64_t kBackOffMostUs = 64;
// Where what answers may share a processor with those who are late.
constexpr std::int64_t kBackOffSharedMostUs = 1024;
// After so many tries, a millisecond, who asks waits to be told, where the network answers.
constexpr std::uint32_t kTriesMost = 20;

}  // namespace

const char* Group::waits_in(const char* call) {
  waits_in_ = fmt::format("{}: the end of a barrier", call);
  return waits_in_.c_str();
}

// Everybody's word says so when this returns. A query that fails afterwards found somebody who had
// not come, and who will read the word.
void Group::ask_to_be_told(const char* call) {
  Counter done;
  const lci::PutPiece piece{kToldOf * 8, &meeting_.hgsyncs, 8};
  const Post answer = insist(port_, [&] {
    return port_.put(everybody(), meeting_.names.control, {&piece, 1}, &done, lci::kNoCounter,
                     lci::kNoFlags);
  });
  if (accepted(answer)) await(done, 1, waits_in_.c_str(), call);
  if (done.failed.load(std::memory_order_acquire) > 0 || !accepted(answer)) {
    fail(meeting_.context, call, "a process was lost");
  }
}

// The first member's part: the conditional, tried later and later while not all have come, and at
// last whenever a late one tells that it has come: nobody asks for ever what nobody can change any
// more, and where time is virtual such a job is known to hang. What it stores at all is its own
// `came`, whose kind may be another than theirs.
void Group::ask_until_all_came(std::uint64_t came, bool event, const char* call) {
  lci::Query query;
  query.group = static_cast<std::uint16_t>(everybody().id);
  query.segment = meeting_.names.control;
  query.offset = kCame * 8;
  query.cmp = lci::Cmp::ge;
  query.value = meeting_.hgsyncs << kKindBits;
  query.stores = !event;
  query.store_segment = query.segment;
  query.store_offset = kReleased * 8;
  query.store_value = came;
  const bool by_network = one_packet_reaches_all();  // else by NI engines
  std::int64_t back_off_us = kBackOffFirstUs;
  const Counter& late = meeting_.signalled[kLate];
  CallWait all_came(meeting_.waiting, port_, call);
  for (std::uint32_t tries = 1;; ++tries) {
    const std::uint64_t told = late.ok.load(std::memory_order_acquire);
    bool all = false;
    Counter done;
    const Post answer = insist(port_, [&] { return port_.query(query, &all, &done); });
    const bool answered =
        accepted(answer) &&
        all_came.once({.counter = &done, .at = 1, .what = waits_in(call)}) == Post::done;
    if (!answered || done.failed.load(std::memory_order_acquire) > 0) {
      fail(meeting_.context, call, "a process was lost");
    }
    if (all) break;
    if (tries < kTriesMost || !by_network) {
      (void)all_came.once(
          {.deadline = port_.now() + microseconds(back_off_us), .what = waits_in(call)});
      back_off_us = std::min(back_off_us * 2, by_network ? kBackOffMostUs : kBackOffSharedMostUs);
    } else if (tries == kTriesMost) {
      ask_to_be_told(call);
    } else {
      await(late, told + 1, waits_in(call), call);
    }
  }
  if (event) signal_all(kWake, lci::kNoFlags, call);
}

// The hgsync of all processes. Returns the first one's kind, unless it is told by an event.
std::uint8_t Group::hgsync_of_all(std::uint8_t kind, bool event, const char* call) {
  const std::uint64_t came = ++meeting_.hgsyncs << kKindBits | kind;
  std::uint64_t* const words = meeting_.names.words;
  // In virtual time the network reads the word without asking this process, whose clock may be
  // ahead after computing: a poll waits until the network has caught up.
  if (network_query()) (void)port_.poll();
  std::atomic_ref(words[kCame]).store(came, std::memory_order_release);
  if (event) ++meeting_.wakes;
  if (self_ == 0) {
    ask_until_all_came(came, event, call);
    return kind;
  }
  if (std::atomic_ref(words[kToldOf]).load(std::memory_order_acquire) == meeting_.hgsyncs) {
    const Post told = insist(port_, [&] {
      return port_.put({member(0)}, meeting_.names.control, {}, nullptr, meeting_.counter_of(kLate),
                       lci::kNoFlags);
    });
    if (!accepted(told)) fail(meeting_.context, call, "a process was lost");
  }
  if (event) {
    await(meeting_.signalled[kWake], meeting_.wakes, waits_in(call), call);
    return kind;
  }
  const auto* const word = reinterpret_cast<std::atomic<std::uint64_t>*>(&words[kReleased]);
  const std::uint64_t number = meeting_.hgsyncs << kKindBits;
  while (word->load(std::memory_order_acquire) < number) {
    if (wait({.word = word, .cmp = lci::Cmp::ge, .value = number, .what = waits_in(call)}, call) ==
        Post::peer_down) {
      fail(meeting_.context, call, "a process was lost while this one waited at a barrier");
    }
  }
  return static_cast<std::uint8_t>(word->load(std::memory_order_acquire));
}

}  // namespace fairlead::elan
