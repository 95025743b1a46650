// Functions of the program that work on operands (MPI_Op_create) where several threads call.
#pragma once
#include <atomic>
#include <thread>

namespace fairlead::mpi {

// Which thread runs such a function. It does so within a call, and the calls that the function
// makes (the standard lets it ask for types and the like) are in the turn of that call, as nobody
// else has one meanwhile.
class OperationTurn {
 public:
  bool is_this_threads() const {
    return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  // For the length of one such function, of which one may be in another (MPI_Reduce_local).
  class Within {
   public:
    // nullptr: one thread calls, or turns may be in each other.
    explicit Within(OperationTurn* turn) : turn_(turn) {
      if (turn == nullptr) return;
      before_ = turn->thread_.exchange(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ~Within() {
      if (turn_ != nullptr) turn_->thread_.store(before_, std::memory_order_relaxed);
    }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    OperationTurn* const turn_;
    std::thread::id before_;
  };

 private:
  std::atomic<std::thread::id> thread_ = std::thread::id();
};

}  // namespace fairlead::mpi
