// Teams and contexts as programs name them: by pointers, which the fast paths follow unchecked.
#pragma once
#include <cstddef>
#include <deque>
#include <utility>

namespace fairlead::shmem {

// Objects that programs hold pointers to, T with a bool `alive`. One that was given up stays for a
// while, so that a call that still names it can say so, and serves again once kRetiredKept others
// were given up after it.
template <class T>
class Handles {
 public:
  // Stays where it is.
  T* add(T made) {
    if (retired_.size() <= kRetiredKept) return &all_.emplace_back(std::move(made));
    T* const again = retired_.front();
    retired_.pop_front();
    *again = std::move(made);
    return again;
  }
  void retire(T& one) {
    one = T{};
    one.alive = false;
    retired_.push_back(&one);
  }
  template <class Visit>
  void for_each_alive(Visit&& visit) {
    for (T& each : all_) {
      if (each.alive) visit(each);
    }
  }

 private:
  static constexpr std::size_t kRetiredKept = 256;
  std::deque<T> all_;
  std::deque<T*> retired_;
};

}  // namespace fairlead::shmem
