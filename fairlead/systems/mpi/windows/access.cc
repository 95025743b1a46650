#include "fairlead/systems/mpi/windows/access.h"

#include <cstring>

#include "fairlead/base/check.h"

namespace fairlead::mpi {
namespace {

// Begins what `begin` answers for, as soon as there is room.
template <class Begin>
void begin_moving(Process& process, Window& window, int target, const char* call, Begin&& begin) {
  Post answer;
  while ((answer = begin()) == Post::again_credit || answer == Post::again_buffer) {
    process.engine().wait_beside_device({}, call);
  }
  if (answer != Post::done && answer != Post::pending) {
    process.engine().failed(fmt::format("{}: the memory of rank {} of {} cannot be reached", call,
                                        target, window.comm->name));
  }
  ++window.begun;
}

// Where loads and stores do it; nullptr: nowhere.
std::byte* reach(const Window& window, const WindowPeer& peer, int target, std::uint64_t offset) {
  if (peer.memory != nullptr) return peer.memory + offset;
  return window.is_dynamic() && target == window.comm->rank ? window.at(offset) : nullptr;
}

const Combining& bytes_put() {
  static const Combining made = Combining::of(MPI_REPLACE, MPI_BYTE);
  return made;
}
const Combining& bytes_got() {
  static const Combining made = Combining::of(MPI_NO_OP, MPI_BYTE);
  return made;
}

// Whether a dynamic window's own memory lacks the bytes, as a peer would find.
bool refused(Window& window, int target, std::uint64_t offset, std::uint64_t bytes) {
  if (!window.is_dynamic() || target != window.comm->rank || window.has(offset, bytes)) {
    return false;
  }
  window.refused = true;
  return true;
}

}  // namespace

void window_put(Process& process, Window& window, int target, std::uint64_t offset,
                const void* from, std::uint64_t bytes, const char* call) {
  WindowPeer& peer = window_peer(process, window, target, call);
  if (refused(window, target, offset, bytes)) return;
  if (std::byte* const to = reach(window, peer, target, offset); to != nullptr) {
    std::memmove(to, from, bytes);
    process.engine().charge_copy(kSendOps, bytes, bytes);
    return;
  }
  if (window.is_dynamic()) {
    return Windows::of(process).messages().ask(window, target, bytes_put(), offset,
                                               static_cast<const std::byte*>(from), nullptr,
                                               nullptr, bytes, call);
  }
  const lci::PutPiece piece{offset, from, bytes};
  begin_moving(process, window, target, call, [&] {
    return process.engine().port().put({window.comm->job_rank(target)}, window.memory_segment(),
                                       {&piece, 1}, window.moved.get(), lci::kNoCounter,
                                       lci::kNoFlags);
  });
  // Only now: while this thread waited for room another may have flushed.
  if (peer.dirty) return;
  peer.dirty = true;
  window.dirty.push_back(target);
}

void window_get(Process& process, Window& window, int target, std::uint64_t offset, void* to,
                std::uint64_t bytes, const char* call) {
  WindowPeer& peer = window_peer(process, window, target, call);
  if (refused(window, target, offset, bytes)) return;
  if (const std::byte* const from = reach(window, peer, target, offset); from != nullptr) {
    std::memmove(to, from, bytes);
    process.engine().charge_copy(kSendOps, bytes, bytes);
    return;
  }
  if (window.is_dynamic()) {
    return Windows::of(process).messages().ask(window, target, bytes_got(), offset, nullptr,
                                               nullptr, static_cast<std::byte*>(to), bytes, call);
  }
  const lci::Remote place{window.comm->job_rank(target), window.memory_segment(), offset};
  begin_moving(process, window, target, call, [&] {
    return process.engine().port().get(place, to, bytes, window.moved.get(), lci::kNoFlags);
  });
}

void window_combine(Process& process, Window& window, int target, std::uint64_t offset,
                    const Combining& what, const Operands& operands, const char* call) {
  WindowPeer& peer = window_peer(process, window, target, call);
  const std::uint64_t bytes = operands.count * what.element;
  if (refused(window, target, offset, bytes)) return;
  const auto* const own = static_cast<const std::byte*>(operands.own);
  const auto* const compare = static_cast<const std::byte*>(operands.compare);
  auto* const former = static_cast<std::byte*>(operands.former);
  std::byte* const at = reach(window, peer, target, offset);
  if (at != nullptr && peer.control != nullptr) {
    what.run(*peer.control, at, own, compare, former, operands.count);
    process.engine().charge_copy(kSendOps + operands.count, bytes, bytes);
    return;
  }
  Windows::of(process).messages().ask(window, target, what, offset, own, compare, former,
                                      operands.count, call);
}

}  // namespace fairlead::mpi
