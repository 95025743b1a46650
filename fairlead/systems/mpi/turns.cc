// Calls of MPI as turns: where several threads call, or upcalls run between calls.
#include <memory>

#include "fairlead/systems/mpi/background.h"
#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/windows/windows.h"

namespace fairlead::mpi {

void Process::begin_turn() {
  if (lock != nullptr) {
    if (!extras_->operation_turn.is_this_threads()) engine_.take_lock();
    return;
  }
  engine_.port().enter();
  if (background_ != nullptr && background_->on()) background_->entered();
}

void Process::end_turn() {
  if (lock != nullptr) {
    if (!extras_->operation_turn.is_this_threads()) engine_.give_lock();
    return;
  }
  const bool is_over = background_ != nullptr && background_->on() && background_->leaving();
  engine_.port().leave();
  if (!is_over) return;
  background_->stop();
  Windows::settle_wake();  // those made meanwhile found the Port awake
}

void Process::let_go_on(const Driven& work) {
  if (background_ != nullptr && !background_->wanted()) return;
  lci::Port& port = engine_.port();
  if (!work.alone || takes_turns() || outside != 0 || !Background::exists(engine_, port)) return;
  if (background_ == nullptr) background_ = std::make_unique<Background>(engine_, port);
  background_->start();
  begin_turn();  // the rest of the call is one
}

}  // namespace fairlead::mpi
