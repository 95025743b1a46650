#include "fairlead/systems/mpi/windows/access.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/systems/mpi/datatypes/cursor.h"
#include "fairlead/systems/mpi/windows/windows.h"

namespace fairlead::mpi {
namespace {

// Gets of shorter runs cost the network more than a message that the target's processor serves.
constexpr std::uint64_t kLongRun = 512;
// Pieces of one put.
constexpr std::size_t kPutPieces = 64;
// Elements that are combined at a time where they do not lie in a row, and their pieces.
constexpr std::size_t kStepBytes = 2048;
constexpr std::size_t kStepPieces = 128;
// Accesses of so few bytes may be messages to a target on this node although the kernel copies
// straight to its memory: 8 bytes and their flush 0.36 us where the target waits in a call, the
// kernel's copy 2.1 us on a virtual machine.
constexpr std::uint64_t kFewBytes = 1024;
// So many of those messages may be without answers at a time.
constexpr std::uint64_t kFewAtOnce = 8;

// Calls `begin` until there was room for what it begins.
template <class Begin>
void begin_moving(Process& process, Window& window, int target, const char* call, Begin&& begin) {
  Post answer;
  while ((answer = begin()) == Post::again_credit || answer == Post::again_buffer) {
    process.engine().wait_beside_device({}, call);
  }
  process.engine().wait_is_over();
  if (answer != Post::done && answer != Post::pending) {
    process.engine().failed(fmt::format("{}: the memory of rank {} of {} cannot be reached", call,
                                        target, window.comm->name));
  }
  ++window.begun;
  window.busy = true;
}

// Where loads and stores do it; nullptr: nowhere.
std::byte* reach(const Window& window, const WindowPeer& peer, const FarData& far) {
  if (peer.memory != nullptr) return peer.memory + far.offset;
  return window.is_dynamic() && far.target == window.comm->rank ? window.at(far.offset) : nullptr;
}

const Combining& bytes_put() {
  static const Combining made = Combining::of(MPI_REPLACE, MPI_BYTE);
  return made;
}
const Combining& bytes_got() {
  static const Combining made = Combining::of(MPI_NO_OP, MPI_BYTE);
  return made;
}

ElementBuffer buffer_of(const Data& data) {
  return {static_cast<std::byte*>(const_cast<void*>(data.at)), data.layout};
}

// Whether a dynamic window's own memory lacks some of the bytes, as a peer would find.
bool refused(Window& window, const FarData& far) {
  if (!window.is_dynamic() || far.target != window.comm->rank) return false;
  bool all = true;
  if (far.layout == nullptr) {
    all = window.has(far.offset, far.bytes);
  } else {
    Cursor(*far.layout, window.at(far.offset))
        .each_run(far.bytes, [&](const std::byte* at, std::uint64_t bytes) {
          all = all && window.has(reinterpret_cast<std::uintptr_t>(at), bytes);
        });
  }
  if (!all) window.refused = window.busy = true;
  return !all;
}

// Whether the target's processor is asked for that few bytes.
bool asks_for(Process& process, Window& window, const WindowPeer& peer, std::uint64_t bytes) {
  if (bytes > kFewBytes || peer.control == nullptr || !process.engine().free_work() ||
      peer.control->serves.load(std::memory_order_relaxed) == 0) {
    return false;
  }
  if (window.copies_left != 0) {
    --window.copies_left;
    return false;
  }
  if (window.asked >= kFewAtOnce) process.engine().poll();
  if (window.asked >= kFewAtOnce) return false;
  window.asked_few = true;
  return true;
}

// Only after the put: while this thread waited for room another may have flushed.
void mark_dirty(Window& window, WindowPeer& peer, int target) {
  if (peer.dirty) return;
  peer.dirty = true;
  window.dirty.push_back(target);
}

// Calls take(offset, address, bytes) for each run that lies in a row at both ends.
template <class Take>
void each_common_run(const FarData& far, const Data& near, Take&& take) {
  const auto within = [&](std::uint64_t offset, std::uint64_t bytes, std::uint64_t done) {
    auto* const row = static_cast<std::byte*>(const_cast<void*>(near.at)) + done;
    if (near.layout == nullptr) return take(offset, row, bytes);
    Cursor(*near.layout, near.at, done).each_run(bytes, [&](std::byte* at, std::uint64_t part) {
      take(offset, at, part);
      offset += part;
    });
  };
  if (far.layout == nullptr) return within(far.offset, far.bytes, 0);
  std::uint64_t done = 0;
  Cursor(*far.layout, reinterpret_cast<const void*>(far.offset))
      .each_run(far.bytes, [&](const std::byte* at, std::uint64_t bytes) {
        within(reinterpret_cast<std::uintptr_t>(at), bytes, done);
        done += bytes;
      });
}

// A put of runs, many at a time.
void put_runs(Process& process, Window& window, const FarData& to, const Data& from,
              const char* call) {
  std::vector<lci::PutPiece> pieces;
  pieces.reserve(kPutPieces);
  const auto flush_pieces = [&] {
    begin_moving(process, window, to.target, call, [&] {
      return process.engine().port().put({window.comm->job_rank(to.target)},
                                         window.memory_segment(), pieces, window.moved.get(),
                                         lci::kNoCounter, lci::kNoFlags);
    });
    pieces.clear();
  };
  each_common_run(to, from, [&](std::uint64_t offset, const std::byte* at, std::uint64_t bytes) {
    pieces.push_back({offset, at, bytes});
    if (pieces.size() == kPutPieces) flush_pieces();
  });
  if (!pieces.empty()) flush_pieces();
}

// The shorter runs of the two ends.
std::uint64_t shorter_run(const FarData& far, const Data& near) {
  std::uint64_t run = far.bytes;
  if (far.layout != nullptr) run = std::min(run, run_length(*far.layout));
  if (near.layout != nullptr) run = std::min(run, run_length(*near.layout));
  return run;
}

// Elements of memory that this rank reaches, which do not lie in a row at one end or the other.
// `base` is the address of the target's offset 0.
void combine_in_steps(std::atomic<std::uint64_t>& guard, std::uintptr_t base,
                      const TargetElements& target, const Combining& what,
                      const Operands& operands) {
  const std::uint64_t spacing = what.form.spacing;
  const StepRoom room{std::max<std::uint64_t>(1, kStepBytes / spacing), kStepPieces,
                      kStepBytes + spacing, 0, spacing};
  std::vector<WindowPiece> pieces;
  std::vector<std::byte> row(operands.own.exists() ? kStepBytes + spacing : 0);
  std::vector<std::byte> former(operands.former.exists() ? kStepBytes + spacing : 0);
  for (std::uint64_t first = 0; first < target.count;) {
    const std::uint64_t count = next_pieces(target, what.form, first, room, &pieces);
    if (!row.empty()) operands.own.load(what.form, first, count, row.data());
    std::uint64_t done = 0;
    for (const WindowPiece& piece : pieces) {
      what.run(guard, reinterpret_cast<std::byte*>(base + piece.offset),
               row.data() + (row.empty() ? 0 : done * spacing), operands.compare,
               former.empty() ? nullptr : former.data() + done * spacing, piece.count);
      done += piece.count;
    }
    if (!former.empty()) operands.former.store(what.form, first, count, former.data());
    first += count;
  }
}

}  // namespace

void window_put(Process& process, Window& window, const FarData& to, const Data& from,
                const char* call) {
  WindowPeer& peer = window_peer(process, window, to.target, call);
  if (refused(window, to)) return;
  if (std::byte* const at = reach(window, peer, to); at != nullptr) {
    copy_data({at, to.bytes, to.layout}, from);
    window.stored = true;
    process.engine().charge_copy(kSendOps, to.bytes, to.bytes);
    return;
  }
  const LayoutHold held_there(to.layout);
  const LayoutHold held_here(from.layout);
  const bool in_rows = to.layout == nullptr && from.layout == nullptr;
  if (window.is_dynamic() || (in_rows && asks_for(process, window, peer, to.bytes))) {
    return Windows::of(process).messages().ask(window, to.target, bytes_put(),
                                               {to.offset, to.bytes, to.layout},
                                               {.own = buffer_of(from)}, call);
  }
  if (in_rows) [[likely]] {
    const lci::PutPiece piece{to.offset, from.at, to.bytes};
    begin_moving(process, window, to.target, call, [&] {
      return process.engine().port().put({window.comm->job_rank(to.target)},
                                         window.memory_segment(), {&piece, 1}, window.moved.get(),
                                         lci::kNoCounter, lci::kNoFlags);
    });
  } else {
    put_runs(process, window, to, from, call);
  }
  mark_dirty(window, peer, to.target);
}

void window_get(Process& process, Window& window, const FarData& from, const Data& to,
                const char* call) {
  WindowPeer& peer = window_peer(process, window, from.target, call);
  if (refused(window, from)) return;
  if (const std::byte* const at = reach(window, peer, from); at != nullptr) {
    copy_data(to, {at, from.bytes, from.layout});
    process.engine().charge_copy(kSendOps, from.bytes, from.bytes);
    return;
  }
  const LayoutHold held_there(from.layout);
  const LayoutHold held_here(to.layout);
  const bool in_rows = from.layout == nullptr && to.layout == nullptr;
  const bool asks =
      in_rows ? asks_for(process, window, peer, from.bytes) : shorter_run(from, to) < kLongRun;
  if (window.is_dynamic() || asks) {
    return Windows::of(process).messages().ask(window, from.target, bytes_got(),
                                               {from.offset, from.bytes, from.layout},
                                               {.former = buffer_of(to)}, call);
  }
  each_common_run(from, to, [&](std::uint64_t offset, std::byte* at, std::uint64_t bytes) {
    const lci::Remote place{window.comm->job_rank(from.target), window.memory_segment(), offset};
    begin_moving(process, window, from.target, call, [&] {
      return process.engine().port().get(place, at, bytes, window.moved.get(), lci::kNoFlags);
    });
  });
}

void window_combine(Process& process, Window& window, const FarData& far, std::uint64_t count,
                    const Combining& what, const Operands& operands, const char* call) {
  WindowPeer& peer = window_peer(process, window, far.target, call);
  if (refused(window, far)) return;
  std::byte* const at = reach(window, peer, far);
  const TargetElements target{far.offset, count, far.layout};
  if (at == nullptr || peer.control == nullptr) {
    const LayoutHold held_there(far.layout);
    const LayoutHold held_here(operands.own.layout);
    const LayoutHold held_result(operands.former.layout);
    return Windows::of(process).messages().ask(window, far.target, what, target, operands, call);
  }
  window.stored = true;
  const std::uint64_t bytes = count * what.form.spacing;
  if (far.layout == nullptr && operands.own.layout == nullptr && operands.former.layout == nullptr)
      [[likely]] {
    what.run(peer.control->guard, at, operands.own.at, operands.compare, operands.former.at, count);
  } else {
    combine_in_steps(peer.control->guard, reinterpret_cast<std::uintptr_t>(at) - far.offset, target,
                     what, operands);
  }
  process.engine().charge_copy(kSendOps + count, bytes, bytes);
}

}  // namespace fairlead::mpi
