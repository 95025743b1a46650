#include "fairlead/systems/mpi/buffered.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/systems/mpi/datatypes/derived_type.h"
#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {
namespace {

// Messages begin at cache lines of the buffer. MPI_BSEND_OVERHEAD covers what that costs.
constexpr std::uint64_t kAlignment = 64;
static_assert(kAlignment <= MPI_BSEND_OVERHEAD);

std::uint64_t room_for(std::uint64_t size) {
  return (std::max<std::uint64_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

// The first gap that is long enough. The last piece may end with the buffer, not with a line.
bool SendBuffer::send(Engine& engine, const Data& from, const Envelope& to) {
  let_go(engine);
  const std::uint64_t size = from.size;
  const std::uint64_t room = room_for(size);
  std::uint64_t begin = 0;
  auto place = messages_.begin();
  if (!automatic_) {
    while (place != messages_.end() && place->offset - begin < room) {
      begin = place->offset + place->room;
      ++place;
    }
    if (place == messages_.end() && (begin > size_ || size_ - begin < size)) return false;
  }
  if (from.layout == nullptr && engine.send_small(from.at, size, to, lci::kNoBlock)) return true;
  std::unique_ptr<std::byte[]> own;
  if (automatic_) own = std::make_unique_for_overwrite<std::byte[]>(size);
  std::byte* const copy = automatic_ ? own.get() : base_ + begin;
  if (size != 0) pack(from, copy);
  engine.charge_copy(0, size, size);
  Request* const request = engine.isend(copy, size, to, false);
  if (request == nullptr) return true;
  messages_.insert(place, {count_++, begin, room, request, std::move(own)});
  return true;
}

void SendBuffer::let_go(Engine& engine) {
  messages_.remove_if([&](const Message& each) {
    if (!each.request->done()) return false;
    engine.finish(each.request);
    return true;
  });
}

bool SendBuffer::sent(Engine& engine, std::uint64_t end) {
  let_go(engine);
  for (const Message& each : messages_) {
    if (each.number < end) return false;
  }
  return true;
}

void SendBuffer::flush(Engine& engine, const char* call) {
  for (const Message& each : messages_) engine.wait(*each.request, call);
  let_go(engine);
}

}  // namespace fairlead::mpi
