// What a schedule (schedule.h) consists of: its steps in the algorithm's order, the messages that
// they begin and end, memory, and objects that the steps refer to. Of schedules that are over a
// process keeps some for the next, which then allocates nothing here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace fairlead::mpi {

struct Request;

// Objects of any type that are destroyed together, the last one first. The first ones lie in memory
// that is part of this.
class KeptObjects {
 public:
  KeptObjects() = default;
  ~KeptObjects() { clear(); }
  KeptObjects(const KeptObjects&) = delete;
  KeptObjects& operator=(const KeptObjects&) = delete;

  template <class T, class... Arguments>
  T& make(Arguments&&... arguments) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    T* const made = ::new (take(sizeof(T))) T(std::forward<Arguments>(arguments)...);
    all_.push_back({made, [](void* one) { static_cast<T*>(one)->~T(); }});
    return *made;
  }
  void clear() {
    for (; !all_.empty(); all_.pop_back()) all_.back().destroy(all_.back().object);
    used_ = 0;
    further_.clear();
  }

 private:
  struct One {
    void* object;
    void (*destroy)(void*);
  };
  static constexpr std::size_t kInside = 512;

  void* take(std::size_t size) {
    constexpr std::size_t kUnit = alignof(std::max_align_t);
    size = (size + kUnit - 1) / kUnit * kUnit;
    if (size > kInside - used_) {
      return further_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(size)).get();
    }
    used_ += size;
    return inside_ + used_ - size;
  }

  std::size_t used_ = 0;
  std::vector<One> all_;
  std::vector<std::unique_ptr<std::byte[]>> further_;
  alignas(std::max_align_t) std::byte inside_[kInside];
};

struct ScheduleSteps {
  // A message of the schedule; used again once it has ended.
  struct Message {
    Request* request = nullptr;  // while it is under way
    std::uint64_t size = 0;      // of a receive
    bool is_send = false;
  };
  enum class What : std::uint8_t { send, receive, end, copy, combine, call };
  struct Act {
    What what;
    int member = 0;  // of a call: which
    Message* message = nullptr;
    const void* from = nullptr;  // of a combination: the lower operand
    const void* higher = nullptr;
    void* to = nullptr;
    std::uint64_t size = 0;  // in bytes; of a combination: in elements
  };
  using Piece = std::pair<std::unique_ptr<std::byte[]>, std::uint64_t>;

  std::vector<Act> acts;
  std::deque<Message> messages;
  std::vector<Piece> memory;
  std::vector<std::function<void()>> calls;
  KeptObjects kept;
  // While steps are recorded: messages that have ended, and memory that those so far are done with.
  std::vector<Message*> ended;
  std::vector<std::pair<std::byte*, std::uint64_t>> spare;

  // The steps go; messages and memory stay.
  void clear() {
    acts.clear();
    calls.clear();
    kept.clear();
    ended.clear();
    spare.clear();
  }
};

}  // namespace fairlead::mpi
