// One-sided access: put, get and the calls that combine at the target, with their request forms.
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/windows/access.h"
#include "fairlead/systems/mpi/windows/arguments.h"

namespace fairlead::mpi::api {
namespace {

int do_put(const Call& call, const void* origin, MPI_Count count, MPI_Datatype type,
           const Target& target, MPI_Win win) {
  return on_window(call, win, [&](Window& window) -> int {
    const Buffer own{origin, count, type, "origin_"};
    const Place place = check_access(call, window, target, &own, nullptr);
    if (place.nothing) return place.error;
    window_put(call.process(), window, target.rank, place.offset, origin, place.bytes, call.name());
    return MPI_SUCCESS;
  });
}

int do_get(const Call& call, void* origin, MPI_Count count, MPI_Datatype type, const Target& target,
           MPI_Win win) {
  return on_window(call, win, [&](Window& window) -> int {
    const Buffer result{origin, count, type, "origin_"};
    const Place place = check_access(call, window, target, nullptr, &result);
    if (place.nothing) return place.error;
    window_get(call.process(), window, target.rank, place.offset, origin, place.bytes, call.name());
    return MPI_SUCCESS;
  });
}

// `result` nullptr: nobody wants what was there.
int do_accumulate(const Call& call, const Buffer& origin, const Buffer* result,
                  const Target& target, MPI_Op op, MPI_Win win) {
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_operation(call, window, op, target.type)) return error;
    const bool reads =
        result != nullptr && op == MPI_NO_OP;  // the origin's buffer is not looked at
    const Place place = check_access(call, window, target, reads ? nullptr : &origin, result);
    if (place.nothing) return place.error;
    if (op == MPI_NO_OP && result == nullptr) return MPI_SUCCESS;
    const Operands operands{origin.address, nullptr,
                            result == nullptr ? nullptr : const_cast<void*>(result->address),
                            static_cast<std::uint64_t>(target.count)};
    window_combine(call.process(), window, target.rank, place.offset,
                   Combining::of(op, target.type), operands, call.name());
    return MPI_SUCCESS;
  });
}

// The request of a call that is over here when it returns.
template <class Body>
int with_request(const Call& call, MPI_Win win, MPI_Request* request, Body&& body) {
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_given(call, window, request, "request")) return error;
    if (const int error = body()) return error;
    flush_here(call.process(), window, call.name());
    *request = reinterpret_cast<MPI_Request>(&call.process().done_send());
    return MPI_SUCCESS;
  });
}

}  // namespace

int put(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
        int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
        MPI_Win win) {
  return do_put(Call("MPI_Put"), origin_addr, origin_count, origin_datatype,
                {target_rank, target_disp, target_count, target_datatype}, win);
}

int get(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  return do_get(Call("MPI_Get"), origin_addr, origin_count, origin_datatype,
                {target_rank, target_disp, target_count, target_datatype}, win);
}

int accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return do_accumulate(Call("MPI_Accumulate"),
                       {origin_addr, origin_count, origin_datatype, "origin_"}, nullptr,
                       {target_rank, target_disp, target_count, target_datatype}, op, win);
}

int get_accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                   void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  const Buffer result{result_addr, result_count, result_datatype, "result_"};
  return do_accumulate(Call("MPI_Get_accumulate"),
                       {origin_addr, origin_count, origin_datatype, "origin_"}, &result,
                       {target_rank, target_disp, target_count, target_datatype}, op, win);
}

int fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                 MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  const Buffer result{result_addr, 1, datatype, "result_"};
  return do_accumulate(Call("MPI_Fetch_and_op"), {origin_addr, 1, datatype, "origin_"}, &result,
                       {target_rank, target_disp, 1, datatype}, op, win);
}

int compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                     MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win) {
  const Call call("MPI_Compare_and_swap");
  return on_window(call, win, [&](Window& window) -> int {
    const Buffer own{origin_addr, 1, datatype, "origin_"};
    const Buffer compare{compare_addr, 1, datatype, "compare_"};
    const Buffer result{result_addr, 1, datatype, "result_"};
    if (const int error = check_buffer(call, window, compare)) return error;
    const Place place =
        check_access(call, window, {target_rank, target_disp, 1, datatype}, &own, &result);
    if (place.nothing) return place.error;
    window_combine(call.process(), window, target_rank, place.offset,
                   Combining::comparing(datatype), {origin_addr, compare_addr, result_addr, 1},
                   call.name());
    return MPI_SUCCESS;
  });
}

int rput(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
         int target_rank, MPI_Aint target_disp, MPI_Count target_count,
         MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  const Call call("MPI_Rput");
  return with_request(call, win, request, [&]() -> int {
    return do_put(call, origin_addr, origin_count, origin_datatype,
                  {target_rank, target_disp, target_count, target_datatype}, win);
  });
}

int rget(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
         MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
         MPI_Request* request) {
  const Call call("MPI_Rget");
  return with_request(call, win, request, [&]() -> int {
    return do_get(call, origin_addr, origin_count, origin_datatype,
                  {target_rank, target_disp, target_count, target_datatype}, win);
  });
}

int raccumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  const Call call("MPI_Raccumulate");
  return with_request(call, win, request, [&]() -> int {
    return do_accumulate(call, {origin_addr, origin_count, origin_datatype, "origin_"}, nullptr,
                         {target_rank, target_disp, target_count, target_datatype}, op, win);
  });
}

int rget_accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                    void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                    int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  const Call call("MPI_Rget_accumulate");
  const Buffer result{result_addr, result_count, result_datatype, "result_"};
  return with_request(call, win, request, [&]() -> int {
    return do_accumulate(call, {origin_addr, origin_count, origin_datatype, "origin_"}, &result,
                         {target_rank, target_disp, target_count, target_datatype}, op, win);
  });
}

}  // namespace fairlead::mpi::api
