#include "fairlead/systems/mpi/windows/arguments.h"

#include <algorithm>

namespace fairlead::mpi {
namespace {

// Whether an epoch of this rank is open to `target`; fences count as used from now on.
bool permits(Window& window, int target) {
  if (window.started) {
    const auto& all = window.targets;
    if (std::find(all.begin(), all.end(), target) != all.end()) return true;
  }
  if (window.all_locked) return true;
  if (window.has_locked(target)) return true;
  if (window.fenced) window.fence_is_used = true;
  return window.fenced;
}

constexpr std::uint64_t kBytesMax = ~std::uint64_t{0} >> 1;

[[gnu::cold, gnu::noinline]] int bad_type(const Call& call, Window& window, MPI_Datatype type,
                                          const char* which) {
  const char* const what = find_body(type) != nullptr  ? "not committed"
                           : type == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL"
                                                       : "no datatype, or one that was freed";
  return fail_on(call, window, MPI_ERR_TYPE, fmt::format("{}datatype is {}", which, what));
}

// `packed` becomes the bytes of the elements, without gaps.
int check_elements(const Call& call, Window& window, MPI_Count count, MPI_Datatype type,
                   const char* which, std::uint64_t* packed) {
  if (count < 0) {
    return fail_on(call, window, MPI_ERR_COUNT,
                   fmt::format("{}count is {}, which is negative", which, count));
  }
  std::uint64_t element = size_of_type(type);
  if (element == 0) [[unlikely]] {
    const TypeBody* const body = find_body(type);
    if (body == nullptr || !is_committed(type)) return bad_type(call, window, type, which);
    element = body->size();
  }
  const auto all = static_cast<std::uint64_t>(count);
  if (element != 0 && all > kBytesMax / element) [[unlikely]] {
    return fail_on(call, window, MPI_ERR_COUNT,
                   fmt::format("{}count is {}, of elements of {} bytes: no memory holds them",
                               which, count, element));
  }
  *packed = all * element;
  return MPI_SUCCESS;
}

int check_packed(const Call& call, Window& window, const OwnBuffer& buffer, std::uint64_t* packed) {
  if (const int error =
          check_elements(call, window, buffer.count, buffer.type, buffer.which, packed)) {
    return error;
  }
  // A type that a program made may have displacements that are addresses.
  if (buffer.address == nullptr && buffer.count > 0 && spacing_of_type(buffer.type) != 0) {
    return fail_on(call, window, MPI_ERR_BUFFER,
                   fmt::format("{}addr is a null pointer, but {}count is {}", buffer.which,
                               buffer.which, buffer.count));
  }
  return MPI_SUCCESS;
}

// From where to where the bytes of some elements lie, from the first one's address on.
struct Reach {
  std::int64_t first = 0;
  std::int64_t end = 0;
  bool fits = true;  // 63 bits hold them
};
Reach reach_of(const TypeBody& body, MPI_Count count, std::uint64_t behind) {
  Reach reach;
  std::int64_t last = 0;
  reach.fits =
      !__builtin_mul_overflow(count - 1, body.extent(), &last) &&
      !__builtin_add_overflow(std::min<std::int64_t>(last, 0), body.true_span.lb, &reach.first) &&
      !__builtin_add_overflow(std::max<std::int64_t>(last, 0), body.true_span.ub, &reach.end) &&
      !__builtin_add_overflow(reach.end, static_cast<std::int64_t>(behind), &reach.end);
  return reach;
}

// Where the target's elements are in its memory; refused is what lies outside.
Place find_place(const Call& call, Window& window, const Target& target, const WindowPeer& peer,
                 std::uint64_t packed, std::uint64_t behind) {
  Place place;
  place.data.target = target.rank;
  place.data.bytes = packed;
  Reach reach{0, static_cast<std::int64_t>(packed + behind)};
  if (size_of_type(target.type) == 0) [[unlikely]] {
    const TypeBody& body = *find_body(target.type);
    reach = reach_of(body, target.count, behind);
    const auto count = static_cast<std::uint64_t>(target.count);
    if (body.layout->is_contiguous(count)) {
      place.data.offset = static_cast<std::uint64_t>(body.layout->at());
    } else {
      place.data.layout = body.layout;
    }
  }
  if (window.is_dynamic()) {
    place.data.offset += static_cast<std::uint64_t>(target.disp);
    return place;
  }
  // What must lie in the window are the bytes: a type's may lie before the place it is given.
  std::int64_t start = 0;
  std::int64_t first = 0;
  std::int64_t end = 0;
  const bool inside = !__builtin_mul_overflow(target.disp, peer.unit, &start) && reach.fits &&
                      !__builtin_add_overflow(start, reach.first, &first) &&
                      !__builtin_add_overflow(start, reach.end, &end) && first >= 0 &&
                      static_cast<std::uint64_t>(end) <= peer.size;
  if (!inside) [[unlikely]] {
    place.nothing = true;
    place.error = fail_on(
        call, window, MPI_ERR_RMA_RANGE,
        fmt::format("{} bytes from displacement {} of {} bytes on are not in the {} bytes of "
                    "rank {}",
                    packed, target.disp, peer.unit, peer.size, target.rank));
    return place;
  }
  place.data.offset += static_cast<std::uint64_t>(start);
  return place;
}

}  // namespace

int check_window(const Call& call, MPI_Win handle) {
  return call.fail(nullptr, MPI_ERR_WIN,
                   handle == MPI_WIN_NULL ? "win is MPI_WIN_NULL"
                                          : "win is no window of this library, or was freed");
}

int check_buffer(const Call& call, Window& window, const OwnBuffer& buffer) {
  std::uint64_t packed = 0;
  return check_packed(call, window, buffer, &packed);
}

Data data_of(const OwnBuffer& buffer) {
  const auto count = static_cast<std::uint64_t>(buffer.count);
  if (const std::uint64_t element = size_of_type(buffer.type); element != 0) [[likely]]
    return {buffer.address, count * element, nullptr};
  return data_of(*find_body(buffer.type), buffer.address, count);
}

int check_target(const Call& call, Window& window, int rank) {
  if (rank == MPI_PROC_NULL || (rank >= 0 && rank < window.comm->size)) [[likely]]
    return MPI_SUCCESS;
  return fail_on(
      call, window, MPI_ERR_RANK,
      fmt::format("target rank is {}, but the ranks are 0 to {}", rank, window.comm->size - 1));
}

Place check_access(const Call& call, Window& window, const Target& target, const OwnBuffer* own,
                   const OwnBuffer* result, std::uint64_t behind) {
  const auto wrong = [](int error) { return Place{{}, true, error}; };
  const OwnBuffer* const buffers[2] = {own, result};
  std::uint64_t given[2] = {};
  for (int i = 0; i < 2; ++i) {
    if (buffers[i] == nullptr) continue;
    if (const int error = check_packed(call, window, *buffers[i], &given[i])) return wrong(error);
  }
  if (const int error = check_target(call, window, target.rank)) return wrong(error);
  if (target.rank == MPI_PROC_NULL) return wrong(MPI_SUCCESS);
  std::uint64_t packed = 0;
  if (const int error =
          check_elements(call, window, target.count, target.type, "target_", &packed)) {
    return wrong(error);
  }
  for (int i = 0; i < 2; ++i) {
    if (buffers[i] == nullptr || given[i] == packed) continue;
    return wrong(fail_on(call, window, MPI_ERR_ARG,
                         fmt::format("{}count and {}datatype are {} bytes, those of the target {}",
                                     buffers[i]->which, buffers[i]->which, given[i], packed)));
  }
  if (target.disp < 0 && !window.is_dynamic()) {
    return wrong(fail_on(call, window, MPI_ERR_DISP,
                         fmt::format("target_disp is {}, which is negative", target.disp)));
  }
  if (!permits(window, target.rank)) [[unlikely]] {
    return wrong(fail_on(call, window, MPI_ERR_RMA_SYNC,
                         fmt::format("no epoch is open to rank {}: neither fence, start, lock nor "
                                     "lock_all came before",
                                     target.rank)));
  }
  if (packed == 0) return wrong(MPI_SUCCESS);
  const WindowPeer& peer = window_peer(call.process(), window, target.rank, call.name());
  if (window.all_locked && peer.lock == WindowLock::none) [[unlikely]]
    lock_target(call.process(), window, target.rank, window.all_lock, call.name());
  return find_place(call, window, target, peer, packed, behind);
}

int check_operation(const Call& call, Window& window, MPI_Op op, MPI_Datatype type,
                    MPI_Count count) {
  if (op == MPI_REPLACE || op == MPI_NO_OP) return MPI_SUCCESS;
  const char* const name = operation_name(op);
  if (name == nullptr) {
    return fail_on(
        call, window, MPI_ERR_OP,
        op == MPI_OP_NULL ? "op is MPI_OP_NULL" : "op is no predefined operation, as windows need");
  }
  if (count == 0 || find_type(type) == nullptr || find_combine(op, type) != nullptr)
    return MPI_SUCCESS;
  return fail_on(call, window, MPI_ERR_OP,
                 fmt::format("{} is not defined on {}", name, find_type(type)->name));
}

}  // namespace fairlead::mpi
