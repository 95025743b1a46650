#include "fairlead/systems/mpi/collectives/direct_call.h"

#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/board_agreement.h"
#include "fairlead/systems/mpi/collectives/wrong_call.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

bool DirectCall::possible(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  if (comm.board == nullptr) settle_board(process, comm, kind, call);
  return comm.board != nullptr && comm.board_copies;
}

DirectCall::~DirectCall() {
  for (const Which which : {kIn, kOut}) {
    if (!exposed_[which]) continue;
    const Post answer = process_.engine().port().withdraw(segment(which));
    FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", segment(which));
  }
}

std::uint32_t DirectCall::segment(Which which) const {
  return kVectorSegment | comm_.context << 1 | which;
}

void DirectCall::expose(Which which, void* vector, lci::Permission permission) {
  const Post answer = process_.engine().port().expose(segment(which), vector, bytes_, permission,
                                                      nullptr, std::span(comm_.members));
  FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", segment(which));
  exposed_[which] = true;
}

std::uint64_t DirectCall::meet(std::uint64_t word) {
  const std::uint64_t own[2] = {bytes_, word};
  const BoardSlot* const slots = meet_on_board(process_, comm_, kind_, call_, own, sizeof own);
  for (int r = 0; r < comm_.size; ++r) {
    std::uint64_t theirs;
    std::memcpy(&theirs, slots[r].data, sizeof theirs);
    if (theirs != bytes_) disagree_on_size(process_, comm_, call_, r, theirs, bytes_);
  }
  std::uint64_t first[2];
  std::memcpy(first, slots[0].data, sizeof first);
  return first[1];
}

void DirectCall::fetch(int member, Which which, std::uint64_t offset, void* to,
                       std::uint64_t size) {
  process_.engine().fetch({comm_.job_rank(member), segment(which), offset}, to, size, call_);
}

void DirectCall::store(const void* from, int member, Which which, std::uint64_t offset,
                       std::uint64_t size) {
  process_.engine().store(from, {comm_.job_rank(member), segment(which), offset}, size, call_);
}

}  // namespace fairlead::mpi
