// One collective call of one rank: messages to the other members, checked to belong to it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fairlead/systems/mpi/collectives/choose.h"
#include "fairlead/systems/mpi/collectives/collectives.h"
#include "fairlead/systems/mpi/collectives/nodes.h"
#include "fairlead/systems/mpi/collectives/wrong_call.h"

namespace fairlead::mpi {

class Scratch;

// Whether one message to all ranks of the job, which all are members, is how broadcasts go: the
// device's, as the user told, or the network's, where that forwards it (lci::kHwMulticast) to so
// many that it pays.
bool multicasts(Process& process, const Comm& comm);

// Algorithms are templates on what this class offers, so that they run at once, or are recorded
// (schedule.h): then they are executed in the same steps whenever there is progress.
class GroupCall {
 public:
  using Memory = Scratch;    // for the length of the call
  using Pending = Request*;  // a message under way; nullptr: none

  // Enters the communicator's next collective.
  GroupCall(Process& process, Comm& comm, CollectiveKind kind, const char* call)
      : process_(process), comm_(comm), call_(call), tag_(CallTag::of(++comm.collectives, kind)) {
    comm.before = comm.collective;
    comm.collective = static_cast<std::uint8_t>(kind);
  }

  Process& process() { return process_; }
  int rank() const { return comm_.rank; }
  int size() const { return comm_.size; }
  // nullptr: algorithms need not know nodes.
  const CommNodes* nodes() { return nodes_of(process_, comm_); }

  void send(int to, const void* from, std::uint64_t size) {
    Engine& engine = process_.engine();
    const Envelope envelope = this->envelope(to);
    if (engine.send_shortly(from, size, envelope)) return;
    if (engine.send_small(from, size, envelope, lci::kNoFlags)) return;
    engine.send(from, size, envelope, false, call_);
  }
  void receive(int from, void* to, std::uint64_t size) { end(begin_receive(from, to, size), size); }
  // Both at once, so that no order of the members can lock.
  void exchange(int to, const void* out, std::uint64_t out_size, int from, void* in,
                std::uint64_t in_size);

  Request* begin_receive(int from, void* to, std::uint64_t size) {
    // Messages of a pair come in order: another tag is a wrong call.
    return process_.engine().irecv(to, size, comm_.context + 1, comm_.job_rank(from), kAnyTag);
  }
  // By one message to all members.
  bool multicasts() const { return mpi::multicasts(process_, comm_); }
  // The largest such message.
  std::uint64_t broadcast_max() const;
  void broadcast(const void* from, std::uint64_t size);
  void receive_broadcast(int root, void* to, std::uint64_t size) {
    end(process_.engine().irecv(to, size, (comm_.context + 1) | kBroadcastContext,
                                comm_.job_rank(root), kAnyTag),
        size);
  }
  void end(Request* receive, std::uint64_t size) {
    if (!receive->done()) wait(*receive);
    if (receive->envelope.tag != tag_ || receive->size != size) [[unlikely]]
      mismatch(*receive, size);
    process_.engine().finish(receive);
  }
  // nullptr: done already.
  Request* begin_send(int to, const void* from, std::uint64_t size) {
    return process_.engine().isend(from, size, envelope(to), false);
  }
  void end_send(Request* send) {
    process_.engine().wait(*send, call_);
    process_.engine().finish(send);
  }
  // Declares the work of combining or moving `bytes` twice read and once written.
  void charge(std::uint64_t ops, std::uint64_t bytes) {
    process_.engine().port().charge({.ops = ops, .bytes = bytes, .working_set_bytes = bytes});
  }
  void copy(void* to, const void* from, std::uint64_t size) {
    if (size != 0 && to != from) std::memmove(to, from, size);
  }
  void combine(const Operand& operand, const void* lower, const void* higher, void* out,
               std::uint64_t count) {
    operand.combine(lower, higher, out, count);
    charge(count, 3 * count * operand.element);
  }

 private:
  void wait(Request& receive) const;
  bool has_two_orders() const { return multicasts(); }
  void look_at_other_order(const Request& receive) const;
  Envelope envelope(int member) const { return {comm_.context + 1, comm_.job_rank(member), tag_}; }
  // The member is in another call, or in the same with another count. Ends the job.
  [[noreturn, gnu::cold, gnu::noinline]] void mismatch(const Request& receive,
                                                       std::uint64_t size) const;

  Process& process_;
  Comm& comm_;
  const char* call_;
  std::int32_t tag_;
};

// Memory for the length of one call. Of ranks that are processes of their own some is kept for the
// next call; modelled ones are too many for that.
class Scratch {
 public:
  Scratch(Process& process, std::uint64_t size) : process_(process) {
    if (size > kSmall) piece_ = process.spares.take(size);
  }
  Scratch(GroupCall& group, std::uint64_t size) : Scratch(group.process(), size) {}
  ~Scratch() {
    if (piece_.size > 0 && process_.engine().free_work()) process_.spares.give(std::move(piece_));
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* data() { return piece_.size == 0 ? small_ : piece_.memory.get(); }

 private:
  static constexpr std::size_t kSmall = 256;  // fiber stacks are short

  Process& process_;
  SpareMemory::Piece piece_;
  alignas(16) std::byte small_[kSmall];
};

inline std::byte* at(void* base, std::uint64_t offset) {
  return static_cast<std::byte*>(base) + offset;
}
inline const std::byte* at(const void* base, std::uint64_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}

}  // namespace fairlead::mpi
