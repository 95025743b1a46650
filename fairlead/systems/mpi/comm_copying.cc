// MPI_Comm_idup: a communicator made while the program goes on.
#include <algorithm>
#include <memory>

#include "fairlead/base/prng.h"
#include "fairlead/systems/mpi/collectives/schedule.h"
#include "fairlead/systems/mpi/comm_making.h"
#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/operation.h"

namespace fairlead::mpi {
namespace {

// Other communicators may be made meanwhile by some of the members, so that the highest number
// anybody would take is only offered: it is taken when all still can. Blocking calls take numbers
// of another range (wire.h), and need no second round.
//
// Two copies that are offered the same number in turns would refuse it to each other for ever, each
// on a member that has taken it for the other one. After a refusal a copy therefore offers a number
// further on, drawn from more and more of them: of those offered at once the highest is free on
// every member, unless two copies draw the same one.
class Copying final : public Task, public Driven {
 public:
  Copying(const Call& call, Comm& parent, Comm& made)
      : Task(call.process(), RequestKind::task), made_(made) {
    use(parent);
    const std::uint32_t context = (parent.context + 1) | kScheduleContext;
    const std::int32_t tag = schedule_tag(parent.everyone());
    draw_ = Prng(std::uint64_t{context} << 32 | static_cast<std::uint32_t>(tag));
    agreement_ = std::make_unique<Schedule>(call.process(), parent.everyone(),
                                            RequestKind::persistent, context, tag, call.name());
    Recorder recorder(*agreement_);
    record_allreduce(recorder, mine_, all_,
                     {find_combine(MPI_MAX, MPI_UINT32_T), 2, sizeof(std::uint32_t)});
    ask(false);
    call.engine().drive(*this);
  }

  Step advance() override {
    if (!agreement_->request().done()) return Step::none;
    std::uint32_t& next = process_.extras().next_copy_context;
    const bool agreed = all_[1] == 0;
    if (!agreed) offer();
    if (agreed || offered_ + 2 > kScheduleContext) {
      made_.set_context(offered_);
      request().state = State::done;
      return Step::over;
    }
    const bool can = offered_ >= next;
    if (can) next = offered_ + 2;
    ask(can);
    return Step::moved;
  }

  int tell(const Call&, MPI_Status&) override { return all_[1] == 0 ? MPI_SUCCESS : MPI_ERR_OTHER; }
  int cancel(const Call& call) override {
    return call.fail(request().comm, MPI_ERR_REQUEST, "a collective cannot be cancelled");
  }

 private:
  // All members draw the same.
  void offer() {
    constexpr std::uint32_t kDrawnOfMost = 64;
    offered_ = all_[0] + 2 * static_cast<std::uint32_t>(draw_.below(drawn_of_));
    drawn_of_ = std::min(2 * drawn_of_, kDrawnOfMost);
  }
  void ask(bool can) {
    mine_[0] = process_.extras().next_copy_context;
    mine_[1] = can ? 0 : 1;
    agreement_->restart();
  }

  Comm& made_;
  std::unique_ptr<Schedule> agreement_;
  std::uint32_t offered_ = 0;
  std::uint32_t drawn_of_ = 1;  // numbers; the first offer is the first that all would take
  Prng draw_{0};                // the same on all members, and another for each copy
  // The context this member would take, and whether it cannot take the one offered.
  std::uint32_t mine_[2] = {};
  std::uint32_t all_[2] = {};
};

}  // namespace

int begin_copy(const Call& call, Comm& parent, MPI_Comm* newcomm, MPI_Request* request) {
  if (const int error = call.check_output(&parent, newcomm, "newcomm")) return error;
  if (const int error = call.check_output(&parent, request, "request")) return error;
  const MadeComm made = copy_without_context(call, parent);
  if (made.comm == nullptr) return made.error;
  *newcomm = Process::handle_of(made.comm);
  *request = (new Copying(call, parent, *made.comm))->handle();
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi
