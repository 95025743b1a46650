// Operations that wait to be sent, in a queue for each rank they go to: one without room holds up
// nobody else's.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "fairlead/base/intrusive_list.h"
#include "fairlead/base/pool.h"
#include "fairlead/lci/backlog.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Op has the members `std::uint32_t id` and `Op* next_free` of a Pool's objects, `Rank rank`, where
// it goes, `std::uint64_t turn` and `Op* next`, both kept by this, and clear(), which makes it
// ready for its next use. Makes no memory once as many operations as now, to the same ranks, have
// waited before.
template <class Op>
class TargetQueues {
 public:
  // What waits counts in `backlog`, which outlives it.
  explicit TargetQueues(Backlog& backlog) : backlog_(backlog) {}

  bool empty() const { return size() == 0; }
  std::size_t size() const { return used_ == nullptr ? 0 : used_->size; }
  // The next to be sent to that rank, or nullptr; from there Op::next leads on.
  Op* front(Rank rank) const {
    if (used_ == nullptr) return nullptr;
    const auto found = used_->targets.find(rank);
    return found == used_->targets.end() ? nullptr : found->second.first;
  }

  // An operation to be filled in; push_back() or drop() takes it back.
  Op* make() {
    if (used_ == nullptr) used_ = std::make_unique<Used>();
    return used_->pool.take();
  }
  void drop(Op* op) {
    op->clear();
    used_->pool.give(op);
  }
  void push_back(Op* op) {
    op->turn = used_->turns++;
    op->next = nullptr;
    Target& to = used_->targets[op->rank];
    if (to.first == nullptr) {
      to.first = op;
      used_->waiting.push_back(&to);
    } else {
      to.last->next = op;
    }
    to.last = op;
    ++used_->size;
    ++backlog_.items;
  }

  // Calls advance(op) for the first operation of each rank, in the order in which they came, until
  // it returns false, which leaves that rank's others where they are. Returns how many were done.
  template <class Advance>
  int advance(Advance advance) {
    int done = 0;
    if (used_ == nullptr) return done;
    for (Target* at = used_->waiting.front(); at != nullptr;) {
      if (!advance(*at->first)) {
        at = used_->waiting.next(at);
        continue;
      }
      ++done;
      at = next_after(at);
    }
    return done;
  }
  // Calls ended(op) for each operation to `rank`, and forgets them.
  template <class Ended>
  void remove_all(Rank rank, Ended ended) {
    if (used_ == nullptr) return;
    const auto found = used_->targets.find(rank);
    if (found == used_->targets.end()) return;
    while (found->second.first != nullptr) {
      ended(*found->second.first);
      pop(found->second);
    }
  }

 private:
  struct Target {
    Op* first = nullptr;
    Op* last = nullptr;
    ListLink<Target> link{};
  };

  void pop(Target& target) {
    Op* const op = target.first;
    target.first = op->next;
    if (target.first == nullptr) used_->waiting.remove(&target);
    drop(op);
    --used_->size;
    --backlog_.items;
  }
  // The first operation of `at` is done; returns whose turn is next.
  Target* next_after(Target* at) {
    Target* const next = used_->waiting.next(at);
    pop(*at);
    if (at->first == nullptr || next == nullptr) return at->first == nullptr ? next : at;
    if (at->first->turn < next->first->turn) return at;
    // Its place is behind those whose first came earlier.
    used_->waiting.remove(at);
    Target* before = next;
    while (before != nullptr && before->first->turn < at->first->turn) {
      before = used_->waiting.next(before);
    }
    used_->waiting.insert_before(before, at);
    return next;
  }

  // Most ranks of a large job have nothing of this.
  struct Used {
    std::unordered_map<Rank, Target> targets;
    IntrusiveList<Target, &Target::link> waiting;  // that have operations, by the first one's turn
    Pool<Op> pool;
    std::uint64_t turns = 0;
    std::size_t size = 0;
  };

  Backlog& backlog_;
  std::unique_ptr<Used> used_;
};

}  // namespace fairlead::lci
