#include "fairlead/systems/mpi/collectives/reduce_without_messages.h"

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/board_agreement.h"
#include "fairlead/systems/mpi/collectives/direct_call.h"
#include "fairlead/systems/mpi/collectives/direct_reduction.h"
#include "fairlead/systems/mpi/collectives/shared_reduction.h"

namespace fairlead::mpi {
namespace {

// As the first member enters it on the board.
enum class Way : std::uint64_t { messages, direct, shared };

// Calls with one result and with many take different times.
CopyChoice& choice_of(const LargeReduction& of) {
  return of.comm.reduction_choice[of.root == kAllRoots ? 0 : 1];
}

// At the first member.
Way choose(const LargeReduction& of) {
  Comm& comm = of.comm;
  if (comm.board_copies &&
      choice_of(of).choose(of.operand.bytes()) == CopyChoice::Way::single_copy) {
    return Way::direct;
  }
  if (make_shared_pieces(of.process, comm)) return Way::shared;
  return comm.board_copies ? Way::direct : Way::messages;
}

}  // namespace

bool reduce_without_messages(const LargeReduction& of) {
  Comm& comm = of.comm;
  const std::uint64_t bytes = of.operand.bytes();
  if (!reduces_in_parts(bytes, comm.size)) return false;
  // An element is not cut.
  if (of.operand.element > SharedPieces::piece_bytes(comm.size)) return false;
  if (comm.board == nullptr) settle_board(of.process, comm, of.kind, of.call);
  if (comm.board == nullptr) return false;
  DirectCall direct(of.process, comm, of.kind, of.call, bytes);
  if (comm.board_copies) {
    // Only read through; the port takes a plain pointer because segments may also be written.
    direct.expose(DirectCall::kIn, const_cast<void*>(of.own), lci::kRead);
    if (of.has_result(comm.rank)) direct.expose(DirectCall::kOut, of.result, lci::kWrite);
  }
  // All have entered their vectors.
  const Way way = Way{direct.meet(comm.rank == 0 ? static_cast<std::uint64_t>(choose(of)) : 0)};
  if (way == Way::messages) return false;
  const bool measures = comm.rank == 0 && comm.board_copies;
  lci::Port& port = of.process.engine().port();
  const Ps begin = measures ? port.now() : Ps{};
  if (way == Way::direct) {
    reduce_directly(of, direct);
  } else {
    reduce_through_shared(of);
  }
  if (measures) {
    choice_of(of).arrived(
        way == Way::direct ? CopyChoice::Way::single_copy : CopyChoice::Way::pieces, bytes, begin,
        port.now());
  }
  return true;
}

}  // namespace fairlead::mpi
