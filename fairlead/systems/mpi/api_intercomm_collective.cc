// The collective calls on intercommunicators: arguments checked, then a schedule over both groups.
#include <vector>

#include "fairlead/systems/mpi/collective_arguments.h"
#include "fairlead/systems/mpi/collectives/exchange.h"
#include "fairlead/systems/mpi/intercomm_collectives.h"

namespace fairlead::mpi {
namespace {

TwoGroups groups_of(const Comm& comm) {
  const int locals = comm.local_size();
  return {comm.rank, comm.local_first, locals, comm.local_first == 0 ? locals : 0, comm.size};
}

int check_remote_root(const Call& call, const Comm& comm, int root) {
  if (root == MPI_ROOT || root == MPI_PROC_NULL || (root >= 0 && root < comm.size)) {
    return MPI_SUCCESS;
  }
  return call.fail(&comm, MPI_ERR_ROOT,
                   fmt::format("root is {}; it is MPI_ROOT, MPI_PROC_NULL or a rank of the remote "
                               "group, 0 to {}",
                               root, comm.size - 1));
}

// Nothing to do for this member, but others' schedules have the same number.
int take_part(const Call& call, const Form& form, Comm& comm) {
  return make_schedule(call, *comm.both, form, [](Recorder&) {});
}

Buffer checked(const Call& call, const Comm& comm, const OneBlock& of) {
  return buffer_of(call, &comm, of.buffer, of.count, of.type, of.which);
}

std::vector<Leg> legs_of(const TwoGroups& of, const Blocks& blocks) {
  std::vector<Leg> legs;
  for (int i = 0; i < of.remotes; ++i) {
    legs.push_back({of.remote_member(i), blocks.at(i), blocks.bytes(i)});
  }
  return legs;
}

// The other group's blocks come to this member, or this member's go there.
int collect(const Call& call, const Form& form, Comm& comm, const Arrays& all) {
  if (const int error = check_arrays(call, &comm, all)) return error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    RowBlocks& whole = group.keep<RowBlocks>(call, all, comm.size);
    record_exchange(group, legs_of(groups_of(comm), whole.blocks()), {});
    group.store(whole);
  });
}

int hand_out(const Call& call, const Form& form, Comm& comm, const Arrays& all) {
  if (const int error = check_arrays(call, &comm, all)) return error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    RowBlocks& whole = group.keep<RowBlocks>(call, all, comm.size);
    group.load(whole);
    record_exchange(group, {}, legs_of(groups_of(comm), whole.blocks()));
  });
}

}  // namespace

int bcast_between(const Call& call, const Form& form, Comm& comm, void* buffer, MPI_Count count,
                  MPI_Datatype datatype, int root) {
  if (const int error = check_remote_root(call, comm, root)) return error;
  if (root == MPI_PROC_NULL) return take_part(call, form, comm);
  const Buffer data = buffer_of(call, &comm, buffer, count, datatype, "");
  if (data.error != MPI_SUCCESS) return data.error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    Row& row = group.keep<Row>(call, data.data());
    if (root == MPI_ROOT) group.load(row);
    record_bcast_between(group, groups_of(comm), row.at(), data.bytes, root);
    if (root != MPI_ROOT) group.store(row);
  });
}

int reduce_between(const Call& call, const Form& form, Comm& comm, const void* sendbuf,
                   void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root) {
  if (const int error = check_remote_root(call, comm, root)) return error;
  if (root == MPI_PROC_NULL) return take_part(call, form, comm);
  const bool at_root = root == MPI_ROOT;
  const void* const buffer = at_root ? recvbuf : sendbuf;
  const Reduction how =
      reduction_of(call, &comm, buffer, count, datatype, op, at_root ? "recv" : "send");
  if (how.error != MPI_SUCCESS) return how.error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    Image& image = group.keep<Image>(how, buffer, how.operand.count);
    // What lies in the gaps of the result stays as it is.
    if (!at_root) group.load(image);
    record_reduce_between(group, groups_of(comm), image.at(), image.at(), how.operand, root);
    if (at_root) group.store(image);
  });
}

int allreduce_between(const Call& call, const Form& form, Comm& comm, const void* sendbuf,
                      void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  const Reduction how = reduction_of(call, &comm, recvbuf, count, datatype, op, "recv");
  if (how.error != MPI_SUCCESS) return how.error;
  const Buffer own = buffer_of(call, &comm, sendbuf, count, datatype, "send");
  if (own.error != MPI_SUCCESS) return own.error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    Image& in = group.keep<Image>(how, sendbuf, how.operand.count);
    Image& out = group.keep<Image>(how, recvbuf, how.operand.count);
    group.load(in);
    record_allreduce_between(group, groups_of(comm), in.at(), out.at(), how.operand);
    group.store(out);
  });
}

int reduce_scatter_between(const Call& call, const Form& form, Comm& comm, const void* sendbuf,
                           void* recvbuf, const Counts& counts, MPI_Datatype datatype, MPI_Op op) {
  MPI_Count total = 0;
  for (int i = 0; i < comm.local_size(); ++i) {
    if (counts[i] < 0) return call.check_data(&comm, recvbuf, counts[i], datatype, "recv");
    total += counts[i];
  }
  const Reduction how = reduction_of(call, &comm, sendbuf, total, datatype, op, "send");
  if (how.error != MPI_SUCCESS) return how.error;
  const MPI_Count own_count = counts[comm.rank];
  const Buffer result = buffer_of(call, &comm, recvbuf, own_count, datatype, "recv");
  if (result.error != MPI_SUCCESS) return result.error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    Image& in = group.keep<Image>(how, sendbuf, how.operand.count);
    Image& out = group.keep<Image>(how, recvbuf, static_cast<std::uint64_t>(own_count));
    group.load(in);
    record_reduce_scatter_between(group, groups_of(comm), in.at(), out.at(), how.operand, counts);
    group.store(out);
  });
}

int gather_between(const Call& call, const Form& form, Comm& comm, const OneBlock& one,
                   const Arrays& all, int root) {
  if (const int error = check_remote_root(call, comm, root)) return error;
  if (root == MPI_PROC_NULL) return take_part(call, form, comm);
  if (root == MPI_ROOT) return collect(call, form, comm, all);
  const Buffer own = checked(call, comm, one);
  if (own.error != MPI_SUCCESS) return own.error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    Row& row = group.keep<Row>(call, own.data());
    group.load(row);
    group.send(groups_of(comm).remote_member(root), row.at(), own.bytes);
  });
}

int scatter_between(const Call& call, const Form& form, Comm& comm, const Arrays& all,
                    const OneBlock& one, int root) {
  if (const int error = check_remote_root(call, comm, root)) return error;
  if (root == MPI_PROC_NULL) return take_part(call, form, comm);
  if (root == MPI_ROOT) return hand_out(call, form, comm, all);
  const Buffer own = checked(call, comm, one);
  if (own.error != MPI_SUCCESS) return own.error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    Row& row = group.keep<Row>(call, own.data());
    group.receive(groups_of(comm).remote_member(root), row.at(), own.bytes);
    group.store(row);
  });
}

int allgather_between(const Call& call, const Form& form, Comm& comm, const OneBlock& own,
                      const Arrays& all) {
  const Buffer out = checked(call, comm, own);
  if (out.error != MPI_SUCCESS) return out.error;
  if (const int error = check_arrays(call, &comm, all)) return error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    const TwoGroups of = groups_of(comm);
    Row& row = group.keep<Row>(call, out.data());
    RowBlocks& whole = group.keep<RowBlocks>(call, all, comm.size);
    group.load(row);
    std::vector<Leg> sends;
    for (int i = 0; i < comm.size; ++i) {
      sends.push_back({of.remote_member(i), row.at(), out.bytes});
    }
    record_exchange(group, legs_of(of, whole.blocks()), sends);
    group.store(whole);
  });
}

int alltoall_between(const Call& call, const Form& form, Comm& comm, const Arrays& out,
                     const Arrays& in) {
  if (const int error = check_arrays(call, &comm, in)) return error;
  if (const int error = check_arrays(call, &comm, out)) return error;
  return make_schedule(call, *comm.both, form, [&](Recorder& group) {
    RowBlocks& from = group.keep<RowBlocks>(call, out, comm.size);
    RowBlocks& to = group.keep<RowBlocks>(call, in, comm.size);
    group.load(from);
    record_exchange(group, legs_of(groups_of(comm), to.blocks()),
                    legs_of(groups_of(comm), from.blocks()));
    group.store(to);
  });
}

}  // namespace fairlead::mpi
