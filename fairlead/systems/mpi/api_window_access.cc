// One-sided access: put, get and the calls that combine at the target, with their request forms.
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/windows/access.h"
#include "fairlead/systems/mpi/windows/arguments.h"
#include "fairlead/systems/mpi/windows/short_access.h"

namespace fairlead::mpi::api {
namespace {

int do_put(const Call& call, const void* origin, MPI_Count count, MPI_Datatype type,
           const Target& target, MPI_Win win) {
  return on_window(call, win, [&](Window& window) -> int {
    const OwnBuffer own{origin, count, type, "origin_"};
    const Place place = check_access(call, window, target, &own, nullptr);
    if (place.nothing) return place.error;
    window_put(call.process(), window, place.data, data_of(own), call.name());
    return MPI_SUCCESS;
  });
}

int do_get(const Call& call, void* origin, MPI_Count count, MPI_Datatype type, const Target& target,
           MPI_Win win) {
  return on_window(call, win, [&](Window& window) -> int {
    const OwnBuffer result{origin, count, type, "origin_"};
    const Place place = check_access(call, window, target, nullptr, &result);
    if (place.nothing) return place.error;
    window_get(call.process(), window, place.data, data_of(result), call.name());
    return MPI_SUCCESS;
  });
}

// The predefined type whose elements an accumulate call works on; MPI_DATATYPE_NULL: an error was
// raised, or there is none. What is no datatype at all is found later.
int find_basic(const Call& call, Window& window, MPI_Datatype type, const char* which,
               MPI_Datatype* basic) {
  *basic = type;
  if (spacing_of_type(type) != 0) [[likely]]
    return MPI_SUCCESS;
  const TypeBody* const body = find_body(type);
  if (body == nullptr || body->size() == 0) return MPI_SUCCESS;
  *basic = only_basic(*body);
  if (*basic != MPI_DATATYPE_NULL) return MPI_SUCCESS;
  return fail_on(call, window, MPI_ERR_TYPE,
                 fmt::format("{}datatype is made of several predefined types", which));
}

// The element type of all buffers of an accumulate call, which is one and the same.
int agree_on_basic(const Call& call, Window& window, const Target& target, const OwnBuffer* origin,
                   const OwnBuffer* result, MPI_Datatype* basic) {
  if (const int error = find_basic(call, window, target.type, "target_", basic)) return error;
  for (const OwnBuffer* const buffer : {origin, result}) {
    if (buffer == nullptr || buffer->type == target.type || buffer->count <= 0) continue;
    MPI_Datatype own = MPI_DATATYPE_NULL;
    if (const int error = find_basic(call, window, buffer->type, buffer->which, &own)) {
      return error;
    }
    // What is no datatype is told of as such; elements without bytes are of any type.
    const auto counts = [](MPI_Datatype type) {
      const TypeBody* const body = find_body(type);
      return body != nullptr && body->size() != 0;
    };
    if (own == *basic || !counts(own) || !counts(*basic)) continue;
    return fail_on(call, window, MPI_ERR_TYPE,
                   fmt::format("{}datatype and target_datatype are of different predefined types",
                               buffer->which));
  }
  return MPI_SUCCESS;
}

// The elements of a buffer. In a row with their gaps where no type but `basic` says how they lie.
ElementBuffer elements_of(const OwnBuffer& buffer, MPI_Datatype basic) {
  auto* const at = static_cast<std::byte*>(const_cast<void*>(buffer.address));
  if (buffer.type == basic) return {at, nullptr};
  if (size_of_type(basic) == 0) return {at, find_body(buffer.type)->layout};
  const Data data = data_of(buffer);
  return {static_cast<std::byte*>(const_cast<void*>(data.at)), data.layout};
}

// As above, at the target, of a type with gaps: `bytes` with them.
void gap_elements(FarData& far, MPI_Datatype type, MPI_Datatype basic, std::uint64_t bytes) {
  const Layout* const layout = find_body(type)->layout;
  const bool in_a_row = far.layout == nullptr;  // offset is the first byte's
  if (type == basic) {
    far.layout = nullptr;
    far.bytes = bytes;
    return;
  }
  far.layout = layout;
  if (in_a_row) far.offset -= static_cast<std::uint64_t>(layout->at());
}

// `result` nullptr: nobody wants what was there.
int do_accumulate(const Call& call, const OwnBuffer& origin, const OwnBuffer* result,
                  const Target& target, MPI_Op op, MPI_Win win) {
  return on_window(call, win, [&](Window& window) -> int {
    const bool reads =
        result != nullptr && op == MPI_NO_OP;  // the origin's buffer is not looked at
    const OwnBuffer* const own = reads ? nullptr : &origin;
    MPI_Datatype basic = target.type;
    if (const int error = agree_on_basic(call, window, target, own, result, &basic)) return error;
    if (const int error = check_operation(call, window, op, basic, target.count)) return error;
    const ElementForm form = ElementForm::of(basic);
    Place place = check_access(call, window, target, own, result, form.spacing - form.packed);
    if (place.nothing) return place.error;
    if (op == MPI_NO_OP && result == nullptr) return MPI_SUCCESS;
    const std::uint64_t count = place.data.bytes / form.packed;
    if (form.gapped != nullptr) gap_elements(place.data, target.type, basic, count * form.spacing);
    Operands operands;
    if (own != nullptr) operands.own = elements_of(*own, basic);
    if (result != nullptr) operands.former = elements_of(*result, basic);
    window_combine(call.process(), window, place.data, count, Combining::of(op, basic), operands,
                   call.name());
    return MPI_SUCCESS;
  });
}

// Calls on one element take predefined types only.
int check_predefined(const Call& call, MPI_Win win, MPI_Datatype type) {
  return on_window(call, win, [&](Window& window) -> int {
    if (spacing_of_type(type) != 0) return MPI_SUCCESS;
    return fail_on(call, window, MPI_ERR_TYPE,
                   type == MPI_DATATYPE_NULL ? "datatype is MPI_DATATYPE_NULL"
                                             : "datatype is no predefined datatype");
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

// Out of line, so that the short ways keep nothing for them.
[[gnu::noinline]] int put_the_long_way(const void* origin, MPI_Count count, MPI_Datatype type,
                                       const Target& target, MPI_Win win) {
  return do_put(Call("MPI_Put"), origin, count, type, target, win);
}

[[gnu::noinline]] int get_the_long_way(void* origin, MPI_Count count, MPI_Datatype type,
                                       const Target& target, MPI_Win win) {
  return do_get(Call("MPI_Get"), origin, count, type, target, win);
}

[[gnu::noinline]] int accumulate_the_long_way(const OwnBuffer& origin, const Target& target,
                                              MPI_Op op, MPI_Win win) {
  return do_accumulate(Call("MPI_Accumulate"), origin, nullptr, target, op, win);
}

[[gnu::noinline]] int fetch_and_op_the_long_way(const OwnBuffer& origin, const OwnBuffer& result,
                                                const Target& target, MPI_Op op, MPI_Win win) {
  const Call call("MPI_Fetch_and_op");
  if (const int error = check_predefined(call, win, target.type)) return error;
  return do_accumulate(call, origin, &result, target, op, win);
}

}  // namespace

int put(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
        int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
        MPI_Win win) {
  const Target target{target_rank, target_disp, target_count, target_datatype};
  if (short_put(origin_addr, origin_count, origin_datatype, target, win)) return MPI_SUCCESS;
  return put_the_long_way(origin_addr, origin_count, origin_datatype, target, win);
}

int get(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  const Target target{target_rank, target_disp, target_count, target_datatype};
  if (short_get(origin_addr, origin_count, origin_datatype, target, win)) return MPI_SUCCESS;
  return get_the_long_way(origin_addr, origin_count, origin_datatype, target, win);
}

int accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  if (origin_count == 1 && target_count == 1 && origin_datatype == target_datatype &&
      short_combine(origin_addr, false, nullptr, target_datatype, target_rank, target_disp, op,
                    win)) {
    return MPI_SUCCESS;
  }
  return accumulate_the_long_way({origin_addr, origin_count, origin_datatype, "origin_"},
                                 {target_rank, target_disp, target_count, target_datatype}, op,
                                 win);
}

int get_accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                   void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  const OwnBuffer result{result_addr, result_count, result_datatype, "result_"};
  return do_accumulate(Call("MPI_Get_accumulate"),
                       {origin_addr, origin_count, origin_datatype, "origin_"}, &result,
                       {target_rank, target_disp, target_count, target_datatype}, op, win);
}

int fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                 MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  if (short_combine(origin_addr, true, result_addr, datatype, target_rank, target_disp, op, win)) {
    return MPI_SUCCESS;
  }
  return fetch_and_op_the_long_way({origin_addr, 1, datatype, "origin_"},
                                   {result_addr, 1, datatype, "result_"},
                                   {target_rank, target_disp, 1, datatype}, op, win);
}

namespace {

// MPI_ERR_TYPE where elements are numbers with a fraction, or several: these are not compared.
int check_comparable(const Call& call, Window& window, MPI_Datatype datatype) {
  const TypeGroup group = find_type(datatype)->group;
  if (group != TypeGroup::floating && group != TypeGroup::complex && group != TypeGroup::pair) {
    return MPI_SUCCESS;
  }
  return fail_on(call, window, MPI_ERR_TYPE,
                 fmt::format("datatype is {}; integers, logicals and bytes are compared",
                             find_type(datatype)->name));
}

[[gnu::noinline]] int compare_and_swap_the_long_way(const OwnBuffer& own, const OwnBuffer& compare,
                                                    const OwnBuffer& result, const Target& target,
                                                    MPI_Win win) {
  const Call call("MPI_Compare_and_swap");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_predefined(call, win, own.type)) return error;
    if (const int error = check_comparable(call, window, own.type)) return error;
    if (const int error = check_buffer(call, window, compare)) return error;
    const Place place = check_access(call, window, target, &own, &result);
    if (place.nothing) return place.error;
    Operands operands;
    operands.own.at = static_cast<std::byte*>(const_cast<void*>(own.address));
    operands.compare = static_cast<const std::byte*>(compare.address);
    operands.former.at = static_cast<std::byte*>(const_cast<void*>(result.address));
    window_combine(call.process(), window, place.data, 1, Combining::comparing(own.type), operands,
                   call.name());
    return MPI_SUCCESS;
  });
}

}  // namespace

int compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                     MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win) {
  if (short_compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                             target_disp, win)) {
    return MPI_SUCCESS;
  }
  return compare_and_swap_the_long_way(
      {origin_addr, 1, datatype, "origin_"}, {compare_addr, 1, datatype, "compare_"},
      {result_addr, 1, datatype, "result_"}, {target_rank, target_disp, 1, datatype}, win);
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
  const OwnBuffer result{result_addr, result_count, result_datatype, "result_"};
  return with_request(call, win, request, [&]() -> int {
    return do_accumulate(call, {origin_addr, origin_count, origin_datatype, "origin_"}, &result,
                         {target_rank, target_disp, target_count, target_datatype}, op, win);
  });
}

}  // namespace fairlead::mpi::api
