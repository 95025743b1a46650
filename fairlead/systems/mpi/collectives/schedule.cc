#include "fairlead/systems/mpi/collectives/schedule.h"

#include <cstring>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/collectives/wrong_call.h"
#include "fairlead/systems/mpi/extras.h"

namespace fairlead::mpi {
namespace {

// How much of what schedules consist of is kept for the next ones.
constexpr std::size_t kSchedulesKept = 8;
constexpr std::uint64_t kScheduleBytesMax = 64 * 1024;

}  // namespace

Schedule::Schedule(Process& process, Comm& comm, RequestKind kind, std::uint32_t context,
                   std::int32_t tag, const char* call)
    : Task(process, kind), comm_(comm), context_(context), tag_(tag), call_(call) {
  alone = true;
  use(comm);
  std::vector<std::unique_ptr<ScheduleSteps>>& spare = process.extras().spare_steps;
  if (spare.empty()) {
    steps_ = std::make_unique<ScheduleSteps>();
  } else {
    steps_ = std::move(spare.back());
    spare.pop_back();
  }
}

Schedule::~Schedule() {
  std::vector<std::unique_ptr<ScheduleSteps>>& spare = process_.extras().spare_steps;
  std::uint64_t bytes = steps_->acts.size() * sizeof(Act);
  for (const Piece& each : steps_->memory) bytes += each.second;
  if (spare.size() >= kSchedulesKept || bytes > kScheduleBytesMax) return;
  steps_->clear();
  spare.push_back(std::move(steps_));
}

Envelope Schedule::envelope(int member) const { return {context_, comm_.job_rank(member), tag_}; }

void Schedule::begin() {
  if (request().kind != RequestKind::persistent) process_.engine().drive(*this);
}

int Schedule::start(const Call& call) {
  restart();
  if (!request().done()) call.process().let_go_on(*this);
  return MPI_SUCCESS;
}

void Schedule::restart() {
  next_ = 0;
  request().state = State::under_way;
  process_.engine().drive(*this);
}

int Schedule::cancel(const Call& call) {
  return call.fail(&comm_, MPI_ERR_REQUEST, "a collective cannot be cancelled");
}

Driven::Step Schedule::advance() {
  const std::size_t before = next_;
  const std::vector<Act>& acts = steps_->acts;
  while (next_ < acts.size() && act(acts[next_])) ++next_;
  if (next_ < acts.size()) return next_ == before ? Step::none : Step::moved;
  request().state = State::done;
  return Step::over;
}

Request* Schedule::awaited() const {
  if (next_ == steps_->acts.size() || steps_->acts[next_].what != What::end) return nullptr;
  const Message& message = *steps_->acts[next_].message;
  return message.is_send ? nullptr : message.request;
}

// False: it has to wait, and nothing has happened.
bool Schedule::act(const Act& act) {
  switch (act.what) {
    case What::send:
      send(act);
      break;
    case What::receive: {
      const Envelope from = envelope(act.member);
      act.message->size = act.size;
      act.message->is_send = false;
      act.message->request =
          process_.engine().irecv(act.to, act.size, from.context, from.peer, from.tag);
      break;
    }
    case What::end:
      return finish(*act.message);
    case What::copy:
      std::memmove(act.to, act.from, act.size);
      break;
    case What::call:
      steps_->calls[static_cast<std::size_t>(act.member)]();
      break;
    case What::combine:
      operand_.combine(act.from, act.higher, act.to, act.size);
      process_.engine().port().charge({.ops = act.size,
                                       .bytes = 3 * act.size * operand_.element,
                                       .working_set_bytes = 3 * act.size * operand_.element});
      break;
  }
  return true;
}

void Schedule::send(const Act& act) {
  Engine& engine = process_.engine();
  const Envelope to = envelope(act.member);
  const bool sent = engine.send_shortly(act.from, act.size, to) ||
                    engine.send_small(act.from, act.size, to, lci::kNoBlock);
  act.message->is_send = true;
  act.message->request = sent ? nullptr : engine.isend(act.from, act.size, to, false);
}

bool Schedule::finish(Message& message) {
  if (message.request == nullptr) return true;
  if (!message.request->done()) return false;
  const Request& done = *message.request;
  if (!message.is_send && done.size != message.size) {
    disagree_on_size(process_, comm_, call_, comm_.rank_of(done.envelope.peer), done.size,
                     message.size);
  }
  process_.engine().finish(message.request);
  message.request = nullptr;
  return true;
}

// What an earlier schedule left is at hand.
Recorder::Recorder(Schedule& schedule)
    : schedule_(schedule), steps_(*schedule.steps_), size_(schedule.comm_.size) {
  for (Schedule::Message& each : steps_.messages) steps_.ended.push_back(&each);
  for (const Schedule::Piece& each : steps_.memory) {
    steps_.spare.emplace_back(each.first.get(), each.second);
  }
}

const CommNodes* Recorder::nodes() {
  return size_ == schedule_.comm_.size ? nodes_of(process(), schedule_.comm_) : nullptr;
}

void Recorder::exchange(int to, const void* out, std::uint64_t out_size, int from, void* in,
                        std::uint64_t in_size) {
  const Pending receive = begin_receive(from, in, in_size);
  send(to, out, out_size);
  end(receive, in_size);
}

Recorder::Pending Recorder::begin_receive(int from, void* to, std::uint64_t size) {
  const Pending message = make();
  steps_.acts.push_back(
      {Schedule::What::receive, first_ + from, message, nullptr, nullptr, to, size});
  return message;
}

Recorder::Pending Recorder::begin_send(int to, const void* from, std::uint64_t size) {
  const Pending message = make();
  steps_.acts.push_back({Schedule::What::send, first_ + to, message, from, nullptr, nullptr, size});
  return message;
}

Recorder::Pending Recorder::make() {
  if (steps_.ended.empty()) return &steps_.messages.emplace_back();
  const Pending found = steps_.ended.back();
  steps_.ended.pop_back();
  return found;
}

void Recorder::end(Pending message, std::uint64_t) {
  steps_.acts.push_back({Schedule::What::end, 0, message, nullptr, nullptr, nullptr, 0});
  steps_.ended.push_back(message);
}

void Recorder::copy(void* to, const void* from, std::uint64_t size) {
  if (size == 0 || to == from) return;
  steps_.acts.push_back({Schedule::What::copy, 0, nullptr, from, nullptr, to, size});
}

void Recorder::combine(const Operand& operand, const void* lower, const void* higher, void* out,
                       std::uint64_t count) {
  schedule_.operand_ = operand;
  if (operand.user != nullptr) {
    schedule_.user_ = *operand.user;
    schedule_.alone = false;
    schedule_.operand_.user = &schedule_.user_;
  }
  steps_.acts.push_back({Schedule::What::combine, 0, nullptr, lower, higher, out, count});
}

void Recorder::call(std::function<void()> what) {
  const auto number = static_cast<int>(steps_.calls.size());
  steps_.calls.push_back(std::move(what));
  steps_.acts.push_back({Schedule::What::call, number, nullptr, nullptr, nullptr, nullptr, 0});
}

Recorder::Memory::Memory(Recorder& recorder, std::uint64_t size) : recorder_(recorder) {
  for (Piece& each : recorder.steps_.spare) {
    if (each.second < size) continue;
    piece_ = each;
    each = recorder.steps_.spare.back();
    recorder.steps_.spare.pop_back();
    return;
  }
  auto made = std::make_unique_for_overwrite<std::byte[]>(size);
  piece_ = {made.get(), size};
  recorder.steps_.memory.emplace_back(std::move(made), size);
}

}  // namespace fairlead::mpi
