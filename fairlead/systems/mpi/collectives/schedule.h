// A collective as a list of steps, which the engine executes whenever there is progress: what
// nonblocking and persistent collectives are. A Recorder offers what GroupCall does and writes down
// what an algorithm asks of it; the steps keep the algorithm's order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/collectives/collectives.h"
#include "fairlead/systems/mpi/collectives/nodes.h"
#include "fairlead/systems/mpi/collectives/schedule_steps.h"
#include "fairlead/systems/mpi/driven.h"
#include "fairlead/systems/mpi/task.h"

namespace fairlead::mpi {

// Messages of schedules are matched in a context of their own by a tag of the schedule's, so that
// several may be under way beside each other and beside blocking collectives. The tag is the number
// of the schedule among those of its communicator: members make them in one order, and may start
// persistent ones in any.
class Schedule final : public Task, public Driven {
 public:
  // `kind` is task or persistent; `call` is the MPI call and outlives the schedule.
  Schedule(Process& process, Comm& comm, RequestKind kind, std::uint32_t context, std::int32_t tag,
           const char* call);
  // Over, or not begun.
  ~Schedule() override;

  // All steps are there. One that is not persistent begins.
  void begin();
  int start(const Call& call) override;
  // Begins again, where it is inactive or done.
  void restart();
  // MPI knows no cancelled collectives.
  int cancel(const Call& call) override;
  Step advance() override;
  Request* awaited() const override;

 private:
  friend class Recorder;

  using Act = ScheduleSteps::Act;
  using Message = ScheduleSteps::Message;
  using Piece = ScheduleSteps::Piece;
  using What = ScheduleSteps::What;

  bool act(const Act& act);
  void send(const Act& act);
  bool finish(Message& message);
  Envelope envelope(int member) const;

  Comm& comm_;
  const std::uint32_t context_;
  const std::int32_t tag_;
  const char* const call_;
  std::unique_ptr<ScheduleSteps> steps_;
  std::size_t next_ = 0;
  Operand operand_{};
  UserOperation user_;  // of the operand; the program may free its own
};

// The tag of the next schedule of a communicator.
inline std::int32_t schedule_tag(Comm& comm) {
  return static_cast<std::int32_t>(comm.schedules++ & 0x7fffffffu);
}

// What algorithms are given instead of a GroupCall.
class Recorder {
 public:
  using Pending = Schedule::Message*;
  class Memory;
  class Part;

  explicit Recorder(Schedule& schedule);

  Process& process() { return schedule_.process_; }
  int rank() const { return schedule_.comm_.rank - first_; }
  int size() const { return size_; }
  // nullptr: algorithms need not know nodes, as while they see some members only.
  const CommNodes* nodes();

  void send(int to, const void* from, std::uint64_t size) { end_send(begin_send(to, from, size)); }
  void receive(int from, void* to, std::uint64_t size) { end(begin_receive(from, to, size), size); }
  void exchange(int to, const void* out, std::uint64_t out_size, int from, void* in,
                std::uint64_t in_size);
  Pending begin_receive(int from, void* to, std::uint64_t size);
  void end(Pending receive, std::uint64_t size);
  Pending begin_send(int to, const void* from, std::uint64_t size);
  void end_send(Pending send) { end(send, 0); }
  void copy(void* to, const void* from, std::uint64_t size);
  // All combinations of a schedule have one operand.
  void combine(const Operand& operand, const void* lower, const void* higher, void* out,
               std::uint64_t count);
  // An object that lives as long as the schedule.
  template <class T, class... Arguments>
  T& keep(Arguments&&... arguments) {
    return steps_.kept.make<T>(std::forward<Arguments>(arguments)...);
  }
  // Something local; what it refers to is kept.
  void call(std::function<void()> what);
  // A Row, Image or RowBlocks takes what the program has, gives it what has come: steps where it is
  // a copy.
  template <class Copy, class... Which>
  void load(Copy& copy, Which... which) {
    if (copy.is_copy()) call([&copy, which...] { copy.load(which...); });
  }
  template <class Copy>
  void store(Copy& copy) {
    if (copy.is_copy()) call([&copy] { copy.store(); });
  }

 private:
  using Piece = std::pair<std::byte*, std::uint64_t>;

  Pending make();

  Schedule& schedule_;
  ScheduleSteps& steps_;
  int first_ = 0;
  int size_;
};

// While it lives, algorithms see consecutive members of the communicator only, of which this is
// one.
class Recorder::Part {
 public:
  Part(Recorder& recorder, int first, int size) : recorder_(recorder) {
    recorder.first_ = first;
    recorder.size_ = size;
  }
  ~Part() {
    recorder_.first_ = 0;
    recorder_.size_ = recorder_.schedule_.comm_.size;
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 private:
  Recorder& recorder_;
};

// For the steps that are recorded while it lives.
class Recorder::Memory {
 public:
  Memory(Recorder& recorder, std::uint64_t size);
  ~Memory() { recorder_.steps_.spare.push_back(piece_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() { return piece_.first; }

 private:
  Recorder& recorder_;
  Piece piece_;
};

// Collectives as steps. Arguments are those of the blocking ones (collectives.h).
void record_barrier(Recorder& group);
void record_bcast(Recorder& group, void* buffer, std::uint64_t size, int root);
void record_reduce(Recorder& group, const void* own, void* result, const Operand& operand,
                   int root);
void record_allreduce(Recorder& group, const void* own, void* result, const Operand& operand);
void record_gather(Recorder& group, const void* own, void* all, std::uint64_t block, int root);
void record_scatter(Recorder& group, const void* all, void* own, std::uint64_t block, int root);
void record_allgather(Recorder& group, void* all, std::uint64_t block);
void record_alltoall(Recorder& group, const void* from, void* to, std::uint64_t block);
void record_gatherv(Recorder& group, const void* own, std::uint64_t size, const Blocks& all,
                    int root);
void record_scatterv(Recorder& group, const Blocks& all, void* own, std::uint64_t size, int root);
void record_allgatherv(Recorder& group, const Blocks& all);
void record_alltoallv(Recorder& group, const Blocks* from, const Blocks& to);
void record_scan(Recorder& group, const void* own, void* result, const Operand& operand,
                 bool exclusive);
void record_reduce_scatter(Recorder& group, const void* own, void* result, const Operand& operand,
                           const Counts& counts);

}  // namespace fairlead::mpi
