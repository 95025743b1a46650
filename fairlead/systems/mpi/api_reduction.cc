// Scans, reductions whose result is scattered, and operations that programs make.
#include <vector>

#include "fairlead/systems/mpi/apart.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collective_arguments.h"
#include "fairlead/systems/mpi/collective_forms.h"
#include "fairlead/systems/mpi/comm_making.h"
#include "fairlead/systems/mpi/intercomm_collectives.h"
#include "fairlead/systems/mpi/operation.h"

namespace fairlead::mpi::api {
namespace {

int scan_by(const Call& call, const Form& form, const void* sendbuf, void* recvbuf, MPI_Count count,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, bool exclusive) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = check_no_intercomm(call, *found)) return error;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const void* const own = in_place ? recvbuf : sendbuf;
  const Reduction how =
      reduction_of(call, found, own, count, datatype, op, in_place ? "recv" : "send");
  if (how.error != MPI_SUCCESS) return how.error;
  // The first member of an exclusive scan has no result, and its recvbuf may be anything.
  const bool has_result = !exclusive || found->rank != 0;
  if (!in_place && has_result) {
    const Buffer out = buffer_of(call, found, recvbuf, count, datatype, "recv");
    if (out.error != MPI_SUCCESS) return out.error;
    if (const int error = check_apart(call, found, sendbuf, recvbuf, out.bytes)) return error;
  }
  const std::uint64_t result_count = has_result ? how.operand.count : 0;
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      Image& in = group.keep<Image>(how, own, how.operand.count);
      Image& out = group.keep<Image>(how, recvbuf, result_count);
      group.load(in);
      record_scan(group, in.at(), out.at(), how.operand, exclusive);
      group.store(out);
    });
  }
  Image in(how, own, how.operand.count);
  Image out(how, recvbuf, result_count);
  in.load();
  mpi::scan(call.process(), *found, call.name(), in.at(), out.at(), how.operand, exclusive);
  out.store();
  return MPI_SUCCESS;
}

int scatter_reduced(const Call& call, const Form& form, Comm& comm, CollectiveKind kind,
                    const void* sendbuf, void* recvbuf, const Counts& counts, MPI_Datatype datatype,
                    MPI_Op op) {
  if (comm.both != nullptr) [[unlikely]] {
    return reduce_scatter_between(call, form, comm, sendbuf, recvbuf, counts, datatype, op);
  }
  MPI_Count total = 0;
  for (int i = 0; i < comm.size; ++i) {
    if (counts[i] < 0) return call.check_data(&comm, recvbuf, counts[i], datatype, "recv");
    total += counts[i];
  }
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const Reduction how = reduction_of(call, &comm, in_place ? recvbuf : sendbuf, total, datatype, op,
                                     in_place ? "recv" : "send");
  if (how.error != MPI_SUCCESS) return how.error;
  if (!in_place) {
    const Buffer in = buffer_of(call, &comm, recvbuf, counts[comm.rank], datatype, "recv");
    if (in.error != MPI_SUCCESS) return in.error;
    if (const int error = check_apart(call, &comm, sendbuf, recvbuf, in.bytes)) return error;
  }
  const void* const from = in_place ? recvbuf : sendbuf;
  const auto own_count = static_cast<std::uint64_t>(counts[comm.rank]);
  if (!form.at_once()) {
    return make_schedule(call, comm, form, [&](Recorder& group) {
      Image& own = group.keep<Image>(how, from, how.operand.count);
      Image& result = group.keep<Image>(how, recvbuf, own_count);
      group.load(own);
      record_reduce_scatter(group, own.at(), result.at(), how.operand, counts);
      group.store(result);
    });
  }
  Image own(how, from, how.operand.count);
  Image result(how, recvbuf, own_count);
  own.load();
  mpi::reduce_scatter(call.process(), comm, kind, call.name(), own.at(), result.at(), how.operand,
                      counts);
  result.store();
  return MPI_SUCCESS;
}

}  // namespace

int scan_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf, MPI_Count count,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return scan_by(call, form, sendbuf, recvbuf, count, datatype, op, comm, false);
}

int scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
         MPI_Comm comm) {
  return scan_as(Call("MPI_Scan"), Form(), sendbuf, recvbuf, count, datatype, op, comm);
}

int exscan_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
              MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return scan_by(call, form, sendbuf, recvbuf, count, datatype, op, comm, true);
}

int exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
           MPI_Comm comm) {
  return exscan_as(Call("MPI_Exscan"), Form(), sendbuf, recvbuf, count, datatype, op, comm);
}

int reduce_scatter_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
                      Counts recvcounts, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (recvcounts.is_null()) {
    return call.fail(found, MPI_ERR_ARG, "recvcounts is a null pointer");
  }
  return scatter_reduced(call, form, *found, CollectiveKind::reduce_scatter, sendbuf, recvbuf,
                         recvcounts, datatype, op);
}

int reduce_scatter(const void* sendbuf, void* recvbuf, Counts recvcounts, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm) {
  return reduce_scatter_as(Call("MPI_Reduce_scatter"), Form(), sendbuf, recvbuf, recvcounts,
                           datatype, op, comm);
}

int reduce_scatter_block_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
                            MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const std::vector<MPI_Count> counts(static_cast<std::size_t>(found->local_size()), recvcount);
  return scatter_reduced(call, form, *found, CollectiveKind::reduce_scatter_block, sendbuf, recvbuf,
                         Counts(counts.data()), datatype, op);
}

int reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return reduce_scatter_block_as(Call("MPI_Reduce_scatter_block"), Form(), sendbuf, recvbuf,
                                 recvcount, datatype, op, comm);
}

int reduce_local(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op) {
  const Call call("MPI_Reduce_local");
  const Reduction how = reduction_of(call, nullptr, inbuf, count, datatype, op, "in");
  if (how.error != MPI_SUCCESS) return how.error;
  const Buffer out = buffer_of(call, nullptr, inoutbuf, count, datatype, "inout");
  if (out.error != MPI_SUCCESS) return out.error;
  if (const int error = check_apart(call, nullptr, inbuf, inoutbuf, out.bytes)) return error;
  Image left(how, inbuf, how.operand.count);
  Image both(how, inoutbuf, how.operand.count);
  left.load();
  both.load();
  how.operand.combine(left.at(), both.at(), both.at(), how.operand.count);
  both.store();
  return MPI_SUCCESS;
}

int op_create(UserFunction user_fn, int commute, MPI_Op* op) {
  const Call call("MPI_Op_create");
  if (user_fn.narrow == nullptr && user_fn.wide == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG, "user_fn is a null pointer");
  }
  if (const int error = call.check_output(nullptr, op, "op")) return error;
  UserOperation* const made = call.process().operations.make();
  made->function = user_fn;
  made->commutes = commute != 0;
  *op = reinterpret_cast<MPI_Op>(made);
  return MPI_SUCCESS;
}

int op_free(MPI_Op* op) {
  const Call call("MPI_Op_free");
  if (const int error = call.check_output(nullptr, op, "op")) return error;
  UserOperation* const made = Objects<UserOperation>::find(*op);
  if (made == nullptr) {
    return call.fail(nullptr, MPI_ERR_OP,
                     operation_name(*op) != nullptr ? "op is predefined and cannot be freed"
                                                    : "op is no operation, or was freed");
  }
  call.process().operations.free(made);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int op_commutative(MPI_Op op, int* commute) {
  const Call call("MPI_Op_commutative");
  const UserOperation* const made = Objects<UserOperation>::find(op);
  if (made == nullptr && operation_name(op) == nullptr && op != MPI_REPLACE && op != MPI_NO_OP) {
    return call.fail(nullptr, MPI_ERR_OP, "op is no operation, or was freed");
  }
  if (const int error = call.check_output(nullptr, commute, "commute")) return error;
  *commute = made != nullptr ? made->commutes : op != MPI_REPLACE && op != MPI_NO_OP;
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
