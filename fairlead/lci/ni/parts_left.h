// Parts of puts that an NI reads from their owners' memory, and the counters of clients that wait
// until it has: the NI reports parts by the numbers that they get here, in any order.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

#include "fairlead/base/post.h"
#include "fairlead/base/ring.h"

namespace fairlead::lci {

// Note: what its owner keeps of a part until that is reported.
template <class Note>
class PartsLeft {
 public:
  // A part that will be reported; returns its number, above 0.
  std::uint64_t add(Note note) {
    posted_.push_back({std::move(note), nullptr, false});
    return first_ + posted_.size() - 1;
  }
  // `done`, if there is one, counts when all parts before it are over.
  void count_when_left(Counter* done) {
    if (done == nullptr) return;
    if (posted_.empty()) return count(done);
    posted_.push_back({{}, done, true});
  }
  // The part of that number; it has been added and is not over.
  const Note& note(std::uint64_t number) { return posted_[number - first_].note; }
  // Its memory may be reused.
  void over(std::uint64_t number) {
    posted_[number - first_].over = true;
    for (; !posted_.empty() && posted_.front().over; ++first_) {
      Counter* const done = posted_.front().done;
      posted_.pop_front();
      if (done != nullptr) count(done);
    }
  }
  // Counters that have counted since the start.
  std::uint64_t counted() const { return counted_; }

 private:
  struct Posted {
    Note note;
    Counter* done = nullptr;  // of those that wait for the parts before them
    bool over = false;
  };

  void count(Counter* done) {
    ++counted_;
    done->ok.fetch_add(1, std::memory_order_relaxed);
  }

  Ring<Posted> posted_;
  std::uint64_t first_ = 1;  // the number of posted_.front()
  std::uint64_t counted_ = 0;
};

}  // namespace fairlead::lci
