// InfiniBand's reliable connection where links lose packets: which of its requests a requester has
// to keep, and which of a peer's a responder takes. Requests are numbered; the responder takes them
// in order and says up to which it has them, and a reader, or who waits for an atomic operation or
// for the end of a write, has an answer of its own. Only the requester repeats: what is not done,
// from the oldest on (go-back-N), when nothing was heard for a time or the responder found a gap.
// An answer that was lost is asked for by the request that comes again. (InfiniBand architecture
// specification, volume 1, chapter 9.7; numbers have 32 bits here.)
//
// Both halves are state machines: they send nothing and know no time.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/ring.h"

namespace fairlead::fabric::model {

class RcRequester {
 public:
  // Requests that are not done, at most; who finds no room waits.
  static constexpr std::size_t kWindow = 64;

  // `first`: the number of the first request.
  explicit RcRequester(std::uint32_t first = 0) : next_(first), taken_(first) {}

  bool full() const { return requests_.size() >= kWindow; }
  bool idle() const { return requests_.empty(); }

  // Keeps a request that leaves for the first time; its number. answer: it is done with its
  // answer, data: with the last of what it reads, not when the responder has it.
  enum class Ends : std::uint8_t { taken, answer, data };
  std::uint32_t add(std::uint32_t packet, Ends ends) {
    requests_.push_back({packet, next_, 0, ends, false, false});
    return next_++;
  }

  // The responder has all before `expected`. False: that was known.
  bool acknowledged(std::uint32_t expected) {
    if (!before(taken_, expected) || before(next_, expected)) return false;
    taken_ = expected;
    return true;
  }
  // Whether a gap that a responder found before `expected` came is news to this side.
  bool is_gap(std::uint32_t expected) const {
    return !before(expected, taken_) && before(expected, next_);
  }
  // An answer to that request came. False: it came before, or nobody waits for it.
  bool answered(std::uint32_t number) {
    Request* const request = find(number);
    if (request == nullptr || request->done) return false;
    request->done = true;
    (void)acknowledged(number + 1);
    return true;
  }
  // `bytes` of what that request reads came, which begin at `position` of it. gap: what is before
  // them was lost, of this read or of one before, which is told once until it came. Nothing is
  // taken before that: reads of one connection show the memory of one time after the other, and
  // the one that comes again will have read later. For the same reason nothing is taken of an
  // execution before that of what was taken last (`execution`: RcResponder's), which only a
  // network that changes the order could bring.
  enum class Data : std::uint8_t { next, known, gap };
  Data data(std::uint32_t number, std::uint64_t position, std::uint32_t bytes, bool last,
            std::uint32_t execution) {
    Request* const request = find(number);
    if (request == nullptr || request->ends != Ends::data || request->done ||
        position < request->position) {
      return Data::known;
    }
    Request* const missing = first_read();
    if (missing != request || position > request->position) {
      if (missing->gap) return Data::known;
      missing->gap = true;
      return Data::gap;
    }
    if (before(execution, executed_)) return Data::known;
    executed_ = execution;
    request->gap = false;
    request->position += bytes;
    request->done = last;
    (void)acknowledged(number + 1);
    return Data::next;
  }

  // Calls give(packet) for those at the begin that are done, and forgets them.
  template <class Give>
  void end_done(Give give) {
    while (!requests_.empty() && is_done(requests_.front())) {
      const std::uint32_t packet = requests_.front().packet;
      requests_.pop_front();
      give(packet);
    }
  }
  // Calls send(packet) for what is not done, in its order.
  template <class Send>
  void again(Send send) {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (!is_done(requests_[i])) send(requests_[i].packet);
    }
  }
  // Calls drop(packet, done) for all, and forgets them.
  template <class Drop>
  void give_up(Drop drop) {
    while (!requests_.empty()) {
      const Request request = requests_.front();
      requests_.pop_front();
      drop(request.packet, is_done(request));
    }
  }

 private:
  struct Request {
    std::uint32_t packet = 0;
    std::uint32_t number = 0;
    std::uint64_t position = 0;  // bytes of its answer that came
    Ends ends = Ends::taken;
    bool done = false;
    bool gap = false;  // was told of the answer
  };

  static bool before(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) < 0;
  }
  bool is_done(const Request& request) const {
    return request.done || (request.ends == Ends::taken && before(request.number, taken_));
  }
  Request* find(std::uint32_t number) {
    if (requests_.empty()) return nullptr;
    const std::uint32_t index = number - requests_.front().number;
    return index < requests_.size() ? &requests_[index] : nullptr;
  }

  // The oldest that is not done; nullptr: none.
  Request* first_read() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i].ends == Ends::data && !requests_[i].done) return &requests_[i];
    }
    return nullptr;
  }

  Ring<Request> requests_;  // numbers without gaps
  std::uint32_t next_;
  std::uint32_t taken_;         // by the responder: all before
  std::uint32_t executed_ = 0;  // the read of which data was taken last
};

class RcResponder {
 public:
  // How a request ended that has an answer.
  struct End {
    std::uint32_t number = 0;
    std::uint32_t operation = 0;
    std::uint64_t old = 0;
    std::uint8_t lane = 0;
    bool ok = false;
  };
  // So many are kept: a requester has no more requests that are not done, beside credits.
  static constexpr std::size_t kEndsKept = 4 * RcRequester::kWindow;

  explicit RcResponder(std::uint32_t first = 0) : expected_(first) {}

  std::uint32_t expected() const { return expected_; }
  // A read begins, for the first time or again: its place in the order of all of them.
  std::uint32_t execute() { return ++executed_; }

  // A request arrived. next: it is to be done. again: it was taken before. gap: what is before it
  // was lost, of which the requester is to be told; late: and was told.
  enum class Arrival : std::uint8_t { next, again, gap, late };
  Arrival arrived(std::uint32_t number) {
    if (number == expected_) {
      ++expected_;
      told_ = false;
      return Arrival::next;
    }
    if (static_cast<std::int32_t>(number - expected_) < 0) return Arrival::again;
    if (told_) return Arrival::late;
    told_ = true;
    return Arrival::gap;
  }

  void ended(const End& end) {
    if (ends_.size() == kEndsKept) ends_.pop_front();
    ends_.push_back(end);
  }
  // nullptr: it has not ended yet, or has no answer.
  const End* end_of(std::uint32_t number) {
    for (std::size_t i = ends_.size(); i > 0; --i) {
      if (ends_[i - 1].number == number) return &ends_[i - 1];
    }
    return nullptr;
  }

 private:
  Ring<End> ends_;
  std::uint32_t expected_;
  std::uint32_t executed_ = 0;  // reads
  bool told_ = false;           // the requester, of a gap here
};

}  // namespace fairlead::fabric::model
