// The collective calls: arguments checked, then the algorithms of collectives/.
#include "fairlead/systems/mpi/apart.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collective_arguments.h"
#include "fairlead/systems/mpi/collective_forms.h"
#include "fairlead/systems/mpi/intercomm_collectives.h"
#include "fairlead/systems/mpi/same_blocks.h"

namespace fairlead::mpi::api {
int barrier_as(const Call& call, const Form& form, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  found = &found->everyone();
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [](Recorder& group) { record_barrier(group); });
  }
  mpi::barrier(call.process(), *found, CollectiveKind::barrier, call.name());
  return MPI_SUCCESS;
}

int barrier(MPI_Comm comm) { return barrier_as(Call("MPI_Barrier"), Form(), comm); }

namespace {

// What is not the blocking call on elements in a row, off the short messages' path: schedules, and
// types whose bytes go through a copy.
[[gnu::cold, gnu::noinline]] int bcast_otherwise(const Call& call, const Form& form, Comm& comm,
                                                 const Buffer& data, int root) {
  const bool at_root = comm.rank == root;
  if (!form.at_once()) {
    return make_schedule(call, comm, form, [&](Recorder& group) {
      Row& row = group.keep<Row>(call, data.data());
      if (at_root) group.load(row);
      record_bcast(group, row.at(), data.bytes, root);
      if (!at_root) group.store(row);
    });
  }
  Row row(call, data.data());
  if (at_root) row.load();
  mpi::bcast(call.process(), comm, call.name(), row.at(), data.bytes, root);
  if (!at_root) row.store();
  return MPI_SUCCESS;
}

[[gnu::cold, gnu::noinline]] int reduce_otherwise(const Call& call, const Form& form, Comm& comm,
                                                  const Reduction& how, const void* own,
                                                  void* result, int root) {
  const bool at_root = comm.rank == root;
  const std::uint64_t result_count = at_root ? how.operand.count : 0;
  if (!form.at_once()) {
    return make_schedule(call, comm, form, [&](Recorder& group) {
      Image& in = group.keep<Image>(how, own, how.operand.count);
      Image& out = group.keep<Image>(how, result, result_count);
      group.load(in);
      record_reduce(group, in.at(), out.at(), how.operand, root);
      if (at_root) group.store(out);
    });
  }
  Image in(how, own, how.operand.count);
  Image out(how, result, result_count);
  in.load();
  mpi::reduce(call.process(), comm, call.name(), in.at(), out.at(), how.operand, root);
  if (at_root) out.store();
  return MPI_SUCCESS;
}

[[gnu::cold, gnu::noinline]] int allreduce_otherwise(const Call& call, const Form& form, Comm& comm,
                                                     const Reduction& how, const void* own,
                                                     void* result) {
  if (!form.at_once()) {
    return make_schedule(call, comm, form, [&](Recorder& group) {
      Image& in = group.keep<Image>(how, own, how.operand.count);
      Image& out = group.keep<Image>(how, result, how.operand.count);
      group.load(in);
      record_allreduce(group, in.at(), out.at(), how.operand);
      group.store(out);
    });
  }
  Image in(how, own, how.operand.count);
  Image out(how, result, how.operand.count);
  in.load();
  mpi::allreduce(call.process(), comm, call.name(), in.at(), out.at(), how.operand);
  out.store();
  return MPI_SUCCESS;
}

}  // namespace

int bcast_as(const Call& call, const Form& form, void* buffer, MPI_Count count,
             MPI_Datatype datatype, int root, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    return bcast_between(call, form, *found, buffer, count, datatype, root);
  }
  const Buffer data = buffer_of(call, found, buffer, count, datatype, "");
  if (data.error != MPI_SUCCESS) return data.error;
  if (const int error = call.check_root(found, root)) return error;
  if (!form.at_once() || data.type != nullptr) [[unlikely]] {
    return bcast_otherwise(call, form, *found, data, root);
  }
  mpi::bcast(call.process(), *found, call.name(), buffer, data.bytes, root);
  return MPI_SUCCESS;
}

int bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return bcast_as(Call("MPI_Bcast"), Form(), buffer, count, datatype, root, comm);
}

int reduce_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
              MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    return reduce_between(call, form, *found, sendbuf, recvbuf, count, datatype, op, root);
  }
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && sendbuf == MPI_IN_PLACE;
  const void* own = in_place ? recvbuf : sendbuf;
  const Reduction how =
      reduction_of(call, found, own, count, datatype, op, in_place ? "recv" : "send");
  if (how.error != MPI_SUCCESS) return how.error;
  if (at_root) {
    const Buffer result = buffer_of(call, found, recvbuf, count, datatype, "recv");
    if (result.error != MPI_SUCCESS) return result.error;
    if (!in_place) {
      if (const int error = check_apart(call, found, own, recvbuf, how.operand.count)) return error;
    }
  }
  if (!form.at_once() || how.type != nullptr) [[unlikely]] {
    return reduce_otherwise(call, form, *found, how, own, recvbuf, root);
  }
  mpi::reduce(call.process(), *found, call.name(), own, recvbuf, how.operand, root);
  return MPI_SUCCESS;
}

int reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
           int root, MPI_Comm comm) {
  return reduce_as(Call("MPI_Reduce"), Form(), sendbuf, recvbuf, count, datatype, op, root, comm);
}

int allreduce_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
                 MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    return allreduce_between(call, form, *found, sendbuf, recvbuf, count, datatype, op);
  }
  const Reduction how = reduction_of(call, found, recvbuf, count, datatype, op, "recv");
  if (how.error != MPI_SUCCESS) return how.error;
  if (sendbuf != MPI_IN_PLACE) {
    const Buffer own = buffer_of(call, found, sendbuf, count, datatype, "send");
    if (own.error != MPI_SUCCESS) return own.error;
    if (const int error = check_apart(call, found, sendbuf, recvbuf, own.bytes)) return error;
  }
  const void* const own = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  if (!form.at_once() || how.type != nullptr) [[unlikely]] {
    return allreduce_otherwise(call, form, *found, how, own, recvbuf);
  }
  mpi::allreduce(call.process(), *found, call.name(), own, recvbuf, how.operand);
  return MPI_SUCCESS;
}

int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  return allreduce_as(Call("MPI_Allreduce"), Form(), sendbuf, recvbuf, count, datatype, op, comm);
}

int gather_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
              MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
              int root, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    const SameBlocks all(recvbuf, recvcount, recvtype, "recv", found->size);
    return gather_between(call, form, *found, {sendbuf, sendcount, sendtype, "send"}, all.arrays(),
                          root);
  }
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && sendbuf == MPI_IN_PLACE;
  Buffer in;
  Buffer out;
  if (!in_place) in = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
  if (in.error != MPI_SUCCESS) return in.error;
  if (at_root) out = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  if (at_root && !in_place) {
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
    if (const int error = check_apart(call, found, in, block_of(out, root))) return error;
  }
  const std::uint64_t block = at_root ? out.bytes : in.bytes;
  const Data result = at_root ? out.data(found->size) : Data{};
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      Row& own = group.keep<Row>(call, in.data());
      Row& all = group.keep<Row>(call, result);
      group.load(own);
      if (in_place) group.load(all);
      record_gather(group, in_place ? nullptr : own.at(), all.at(), block, root);
      group.store(all);
    });
  }
  Row own(call, in.data());
  Row all(call, result);
  own.load();
  if (in_place) all.load();
  mpi::gather(call.process(), *found, call.name(), in_place ? nullptr : own.at(), all.at(), block,
              root);
  all.store();
  return MPI_SUCCESS;
}

int gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather_as(Call("MPI_Gather"), Form(), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                   recvtype, root, comm);
}

int scatter_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
               MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
               int root, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    const SameBlocks all(sendbuf, sendcount, sendtype, "send", found->size);
    return scatter_between(call, form, *found, all.arrays(), {recvbuf, recvcount, recvtype, "recv"},
                           root);
  }
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && recvbuf == MPI_IN_PLACE;
  Buffer in;
  Buffer out;
  if (at_root) in = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
  if (in.error != MPI_SUCCESS) return in.error;
  if (!in_place) out = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  if (at_root && !in_place) {
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
    if (const int error = check_apart(call, found, block_of(in, root), out)) return error;
  }
  const std::uint64_t block = at_root ? in.bytes : out.bytes;
  const Data whole = at_root ? in.data(found->size) : Data{};
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      Row& all = group.keep<Row>(call, whole);
      Row& own = group.keep<Row>(call, out.data());
      group.load(all);
      record_scatter(group, all.at(), in_place ? nullptr : own.at(), block, root);
      group.store(own);
    });
  }
  Row all(call, whole);
  Row own(call, out.data());
  all.load();
  mpi::scatter(call.process(), *found, call.name(), all.at(), in_place ? nullptr : own.at(), block,
               root);
  own.store();
  return MPI_SUCCESS;
}

int scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter_as(Call("MPI_Scatter"), Form(), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                    recvtype, root, comm);
}

int allgather_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
                 MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                 MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    const SameBlocks all(recvbuf, recvcount, recvtype, "recv", found->size);
    return allgather_between(call, form, *found, {sendbuf, sendcount, sendtype, "send"},
                             all.arrays());
  }
  const Buffer out = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  Buffer in;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (!in_place) {
    in = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
    if (in.error != MPI_SUCCESS) return in.error;
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
    if (const int error = check_apart(call, found, in, block_of(out, found->rank))) return error;
  }
  // Where this rank's block lies among all.
  const auto place_in = [&](const Row& all) {
    return static_cast<std::byte*>(all.at()) + static_cast<std::uint64_t>(found->rank) * out.bytes;
  };
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      Row& all = group.keep<Row>(call, out.data(found->size));
      Row& own = group.keep<Row>(call, in.data());
      if (in_place) {
        group.load(all);
      } else {
        group.load(own);
        group.copy(place_in(all), own.at(), out.bytes);
      }
      record_allgather(group, all.at(), out.bytes);
      group.store(all);
    });
  }
  Row all(call, out.data(found->size));
  if (in_place) {
    all.load();
  } else if (out.bytes != 0) {
    pack(in.data(), place_in(all));
  }
  const bool in_a_row = !in_place && in.data().layout == nullptr;
  mpi::allgather(call.process(), *found, CollectiveKind::allgather, call.name(),
                 in_a_row ? in.data().at : nullptr, all.at(), out.bytes);
  all.store();
  return MPI_SUCCESS;
}

int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather_as(Call("MPI_Allgather"), Form(), sendbuf, sendcount, sendtype, recvbuf,
                      recvcount, recvtype, comm);
}

int alltoall_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
                MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    const SameBlocks out(sendbuf, sendcount, sendtype, "send", found->size);
    const SameBlocks in(recvbuf, recvcount, recvtype, "recv", found->size);
    return alltoall_between(call, form, *found, out.arrays(), in.arrays());
  }
  const Buffer out = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  Buffer in;
  if (!in_place) {
    in = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
    if (in.error != MPI_SUCCESS) return in.error;
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
    if (const int error = check_apart(call, found, in, out)) return error;
  }
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      Row& from = group.keep<Row>(call, in.data(found->size));
      Row& to = group.keep<Row>(call, out.data(found->size));
      group.load(from);
      if (in_place) group.load(to);
      record_alltoall(group, in_place ? nullptr : from.at(), to.at(), out.bytes);
      group.store(to);
    });
  }
  Row from(call, in.data(found->size));
  Row to(call, out.data(found->size));
  from.load();
  if (in_place) to.load();
  mpi::alltoall(call.process(), *found, call.name(), in_place ? nullptr : from.at(), to.at(),
                out.bytes);
  to.store();
  return MPI_SUCCESS;
}

int alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall_as(Call("MPI_Alltoall"), Form(), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                     recvtype, comm);
}

}  // namespace fairlead::mpi::api
