// An operation under way: who waits for it, and as what it stands in a queue of its object.
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/systems/orca/codec.h"
#include "fairlead/systems/orca/wire.h"

namespace fairlead::orca {

struct Operation;

// A process of this rank that waits; on its stack.
struct Pending {
  Counter done;  // once
  Status status = Status::done;
  Bytes result;

  void finish(Status how) {
    status = how;
    done.ok.fetch_add(1, std::memory_order_release);
  }
};

// The processes that wait for a message of their own to come back in order.
class Pendings {
 public:
  std::uint32_t add(Pending& pending) {
    if (free_.empty()) {
      slots_.push_back(&pending);
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = &pending;
    return slot;
  }
  // nullptr: nobody.
  Pending* take(std::uint32_t slot) {
    if (slot >= slots_.size() || slots_[slot] == nullptr) return nullptr;
    free_.push_back(slot);
    return std::exchange(slots_[slot], nullptr);
  }

 private:
  std::vector<Pending*> slots_;
  std::vector<std::uint32_t> free_;
};

// One that this rank executes.
struct Invocation {
  const Operation* operation = nullptr;  // nullptr: the object is to go
  // The parameters: these bytes, or those of `block`, which are the message's.
  Bytes parameters;
  // Who hears of the result: a process here, a caller elsewhere, or nobody.
  Pending* process = nullptr;
  panda::Token caller;
  panda::Incoming message{};
  std::span<const std::byte> block{};

  std::span<const std::byte> given() const { return block.empty() ? parameters.view() : block; }
  // What is left of a message: kept where it has a block of its own, else copied, as packets must
  // not wait for a guard.
  void take_parameters(panda::Incoming&& from) {
    block = from.block();
    if (!block.empty()) {
      message = std::move(from);
      return;
    }
    const std::size_t size = from.size();
    from.pop(parameters.extend(size), size);
  }
};

// Invocations at one object whose guards did not hold when they came: continuations, none of which
// needs a thread. As many as processes at most, for each waits for one.
class Guards {
 public:
  enum class Attempt : std::uint8_t { waits, read, wrote };

  void add(Invocation&& invocation) { waiting_.push_back(std::move(invocation)); }
  bool empty() const { return waiting_.empty(); }
  // After a write: runs those whose guards hold now, in the order in which they came, from the
  // first again after each one that wrote. That order depends on the writes alone, so that replicas
  // agree whatever reads wait among them.
  template <class Run>
  void retry(Run&& run) {
    for (std::size_t i = 0; i < waiting_.size();) {
      const Attempt attempt = run(waiting_[i]);
      if (attempt == Attempt::waits) {
        ++i;
        continue;
      }
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      if (attempt == Attempt::wrote) i = 0;
    }
  }
  // All of them, in order; none waits any more.
  std::deque<Invocation> take_all() { return std::exchange(waiting_, {}); }

 private:
  std::deque<Invocation> waiting_;
};

}  // namespace fairlead::orca
