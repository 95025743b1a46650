// MPI_Comm_idup: a communicator made while the program goes on.
#include <memory>
#include <set>

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
// Two copies that are under way at once would refuse each other's numbers for ever, each on a
// member that has taken one for the other. A member therefore takes numbers for the first of its
// copies alone, by their parents' contexts: the first of all copies is that on each of its members,
// which is then offered what all of them can take. A copy counts from its first vote on, when all
// members have begun it: a program may end one before some member begins another.
class Copying final : public Task, public Driven {
 public:
  Copying(const Call& call, Comm& parent, Comm& made)
      : Task(call.process(), RequestKind::task), made_(made) {
    use(parent);
    const std::uint32_t context = (parent.context + 1) | kScheduleContext;
    const std::int32_t tag = schedule_tag(parent.everyone());
    order_ = std::uint64_t{context} << 32 | static_cast<std::uint32_t>(tag);
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
    std::set<std::uint64_t>& copies = process_.extras().copies;
    const bool agreed = all_[1] == 0;
    if (!agreed) offered_ = all_[0];
    if (agreed || offered_ + 2 > kScheduleContext) {
      copies.erase(order_);
      made_.set_context(offered_);
      request().state = State::done;
      return Step::over;
    }
    copies.insert(order_);
    // The others' turn comes when this one is over; their other members wait for this one's vote.
    if (*copies.begin() != order_) return Step::none;
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
  void ask(bool can) {
    mine_[0] = process_.extras().next_copy_context;
    mine_[1] = can ? 0 : 1;
    agreement_->restart();
  }

  Comm& made_;
  std::unique_ptr<Schedule> agreement_;
  std::uint32_t offered_ = 0;
  std::uint64_t order_ = 0;  // among copies; another for each on a member
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
