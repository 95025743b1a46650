// What comes from the other side of a connection.
#include <algorithm>
#include <cstring>

#include "fairlead/systems/via/core.h"

namespace fairlead::via {

Keep Core::data_came(void* self, lci::Packet*, const lci::Arrival& arrival) {
  Core& core = *static_cast<Core*>(self);
  DataHead head;
  if (!decode(arrival.words, head)) return Keep::no;
  Vi* const vi = core.vis.at(head.to.vi);
  // What was under way when a connection ended, or is nobody's.
  if (vi == nullptr || vi->state != VIP_STATE_CONNECTED || vi->peer != arrival.source ||
      vi->connection != head.to.connection) {
    const bool is_coming = vi != nullptr && vi->state == VIP_STATE_CONNECT_PENDING &&
                           vi->connection == head.to.connection;
    if (core.may_lose(arrival.source) && !is_coming) core.tell_gone(arrival.source, head.to);
    return Keep::no;
  }
  const bool is_answer = head.kind >= DataKind::read_data;
  if (is_answer != (arrival.lane == lci::Lane::reply)) return Keep::no;
  switch (head.kind) {
    case DataKind::send:
    case DataKind::write:
      core.message_came(*vi, head, arrival.data);
      break;
    case DataKind::read:
      core.read_came(*vi, head, arrival.data);
      break;
    case DataKind::read_data:
      core.read_data_came(*vi, head, arrival.data);
      break;
    case DataKind::done:
      core.done_came(*vi);
      break;
    case DataKind::broken:
      core.break_off(*vi, VIP_ERROR_CONN_LOST,
                     head.offset != 0 ? head.offset : VIP_STATUS_TRANSPORT_ERROR, std::nullopt);
      break;
  }
  return Keep::no;
}

// Breaks a reliable connection for what the other side did; `status`: of its message.
void Core::refuse(Vi& vi, std::optional<VIP_ERROR_CODE> code, std::uint32_t status) {
  break_off(vi, code, VIP_STATUS_TRANSPORT_ERROR, status);
}

// Whether the piece belongs to a message that has to be taken now. On level 1 what is twice, and
// what has a gap before it, is dropped; on the others nothing of that can be.
bool Core::is_new(Vi& vi, const DataHead& head) {
  Incoming& now = vi.incoming;
  if (vi.reliable()) {
    const bool fits = head.sequence == vi.expected && head.offset == (now.active ? now.got : 0);
    if (!fits) refuse(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR);
    return fits;
  }
  if (now.active && head.sequence == now.sequence) return head.offset == now.got;
  if (head.offset != 0) return false;
  const auto ahead = static_cast<std::int16_t>(head.sequence - vi.newest);
  if (ahead > 0) {
    vi.came = ahead >= 32 ? 0 : vi.came << ahead;
    vi.newest = head.sequence;
  }
  const std::uint32_t back = ahead > 0 ? 0 : static_cast<std::uint32_t>(-ahead);
  if (back >= 32 || (vi.came >> back & 1) != 0) return false;
  vi.came |= 1u << back;
  // The rest of the message before it was lost.
  now.active = false;
  return true;
}

bool Core::open(Vi& vi, const DataHead& head) {
  Incoming& now = vi.incoming;
  now = {true, false, head.kind, head.sequence, 0};
  const bool takes = head.kind == DataKind::send || head.has_immediate;
  if (!takes) return true;
  WorkQueue& queue = vi.receive;
  if (queue.next >= queue.posted.size()) {
    if (vi.reliable()) {
      refuse(vi, VIP_ERROR_RECVQ_EMPTY, VIP_STATUS_REMOTE_DESC_ERROR);
      return false;
    }
    now.dropped = true;
    return true;
  }
  Posted& first = queue.posted[queue.next];
  std::uint32_t status = first.status;
  if (status == 0 && head.kind == DataKind::send && head.bytes > first.shape.bytes) {
    status = VIP_STATUS_LENGTH_ERROR;
  }
  first.state = Posted::State::moves;
  first.moved = 0;
  if (status == 0) return true;
  first.status |= status;
  first.state = Posted::State::done;
  if (vi.reliable()) {
    refuse(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_REMOTE_DESC_ERROR);
    return false;
  }
  now.dropped = true;
  ++queue.next;
  settle(vi, true);
  return vi.state == VIP_STATE_CONNECTED;
}

bool Core::store(Vi& vi, const DataHead& head, const RemotePlace& place,
                 std::span<const std::byte> data) {
  if (head.kind == DataKind::write) {
    const bool permitted =
        vi.attributes.EnableRdmaWrite != VIP_FALSE &&
        memory_.permits_write(place.memory, place.address, head.bytes, vi.attributes.Ptag);
    if (permitted) {
      std::copy_n(data.data(), data.size(),
                  reinterpret_cast<std::byte*>(place.address) + head.offset);
      return true;
    }
    tell(vi.nic, VIP_ERROR_RDMAW_PROT, VIP_RESOURCE_VI, &vi, nullptr, nullptr,
         VIP_STATUS_OP_REMOTE_RDMA_WRITE);
    if (vi.reliable()) {
      refuse(vi, std::nullopt, VIP_STATUS_RDMA_PROT_ERROR);
      return false;
    }
    vi.incoming.dropped = true;
    return true;
  }
  Posted& first = vi.receive.posted[vi.receive.next];
  std::size_t at = 0;
  const std::uint32_t status =
      for_bytes(memory_, vi.attributes.Ptag, first.descriptor, first.shape, head.offset,
                data.size(), [&](std::byte* to, std::size_t size) {
                  std::copy_n(data.data() + at, size, to);
                  at += size;
                  return true;
                });
  if (status == 0) {
    first.moved += static_cast<std::uint32_t>(data.size());
    return true;
  }
  first.status |= status;
  first.state = Posted::State::done;
  if (vi.reliable()) {
    refuse(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_REMOTE_DESC_ERROR);
    return false;
  }
  vi.incoming.dropped = true;
  ++vi.receive.next;
  settle(vi, true);
  return vi.state == VIP_STATE_CONNECTED;
}

void Core::message_came(Vi& vi, const DataHead& head, std::span<const std::byte> body) {
  RemotePlace place{};
  if (head.kind == DataKind::write) {
    if (body.size() < sizeof place) return;
    std::memcpy(&place, body.data(), sizeof place);
    body = body.subspan(sizeof place);
  }
  if (head.offset > head.bytes || body.size() > head.bytes - head.offset ||
      head.bytes > vi.attributes.MaxTransferSize) {
    if (vi.reliable()) refuse(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR);
    return;
  }
  if (!is_new(vi, head)) return;
  Incoming& now = vi.incoming;
  if (!now.active && !open(vi, head)) return;
  if (now.kind != head.kind) return;
  if (!now.dropped && !body.empty() && !store(vi, head, place, body)) return;
  now.got += static_cast<std::uint32_t>(body.size());
  if (!work_.is_free() && !body.empty()) {
    port_.charge({.working_set_bytes = head.bytes, .copied_bytes = body.size()});
  }
  if (now.got == head.bytes) close(vi, head);
}

void Core::close(Vi& vi, const DataHead& head) {
  const Incoming whole = vi.incoming;
  vi.incoming.active = false;
  ++vi.expected;
  const bool takes = head.kind == DataKind::send || head.has_immediate;
  if (takes && !whole.dropped) {
    Posted& first = vi.receive.posted[vi.receive.next];
    first.state = Posted::State::done;
    first.moved = head.bytes;
    if (head.has_immediate) {
      first.status |= VIP_STATUS_IMMEDIATE;
      first.shape.immediate = head.immediate;
    }
    first.status |=
        head.kind == DataKind::write ? VIP_STATUS_OP_REMOTE_RDMA_WRITE : VIP_STATUS_OP_RECEIVE;
    ++vi.receive.next;
  }
  // Before the receive is told: who looks at it may answer, and that may not overtake this.
  if (vi.tells()) answer_data(vi, DataKind::done, 0, 0);
  settle(vi, true);
}

void Core::read_came(Vi& vi, const DataHead& head, std::span<const std::byte> body) {
  RemotePlace place{};
  const bool good = vi.reliable() && body.size() == sizeof place && head.sequence == vi.expected &&
                    !vi.incoming.active && vi.served < kReadsMax;
  if (!good) return refuse(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR);
  ++vi.expected;
  std::memcpy(&place, body.data(), sizeof place);
  const bool permitted =
      vi.attributes.EnableRdmaRead != VIP_FALSE &&
      memory_.permits_read(place.memory, place.address, head.bytes, vi.attributes.Ptag);
  if (!permitted) {
    tell(vi.nic, VIP_ERROR_RDMAR_PROT, VIP_RESOURCE_VI, &vi, nullptr, nullptr,
         VIP_STATUS_OP_RDMA_READ);
    return refuse(vi, std::nullopt, VIP_STATUS_RDMA_PROT_ERROR);
  }
  ++vi.served;
  served_.push_back(
      {vi.index, vi.connection, place.memory, place.address, head.bytes, head.immediate, 0});
  port_.defer({[](void* core) { static_cast<Core*>(core)->pump(); }, this});
}

// The first send that waits for an answer of that kind.
Posted* Core::awaiting(Vi& vi, bool is_read) {
  for (std::size_t i = vi.send.told; i < vi.send.next; ++i) {
    Posted& each = vi.send.posted[i];
    if (each.state == Posted::State::left && each.shape.is_read() == is_read && !each.handed) {
      return &each;
    }
  }
  return nullptr;
}

void Core::read_data_came(Vi& vi, const DataHead& head, std::span<const std::byte> data) {
  Posted* const posted = awaiting(vi, true);
  if (posted == nullptr || posted->sequence != head.immediate || posted->moved != head.offset ||
      posted->shape.bytes != head.bytes || data.size() > head.bytes - head.offset) {
    return refuse(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR);
  }
  std::size_t at = 0;
  const std::uint32_t status =
      for_bytes(memory_, vi.attributes.Ptag, posted->descriptor, posted->shape, posted->moved,
                data.size(), [&](std::byte* to, std::size_t size) {
                  std::copy_n(data.data() + at, size, to);
                  at += size;
                  return true;
                });
  if (status != 0) {
    --vi.reads;
    return fail(vi, *posted, status);
  }
  posted->moved += static_cast<std::uint32_t>(data.size());
  if (!work_.is_free()) {
    port_.charge({.working_set_bytes = head.bytes, .copied_bytes = data.size()});
  }
  if (posted->moved < posted->shape.bytes) return;
  posted->state = Posted::State::done;
  read_done(vi);
}

void Core::read_done(Vi& vi) {
  --vi.reads;
  settle(vi, false);
  // What waited for it goes on outside of this upcall.
  if (vi.state == VIP_STATE_CONNECTED && vi.send.next < vi.send.posted.size() && !vi.stalled) {
    vi.stalled = true;
    stalled_.push_back(vi.index);
    port_.defer({[](void* core) { static_cast<Core*>(core)->pump(); }, this});
  }
}

void Core::done_came(Vi& vi) {
  Posted* const posted = awaiting(vi, false);
  if (posted == nullptr) return refuse(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR);
  posted->state = Posted::State::done;
  settle(vi, false);
}

void Core::acknowledge(Vi& vi, std::uint16_t count) {
  for (std::size_t i = vi.send.told; i < vi.send.next; ++i) {
    Posted& each = vi.send.posted[i];
    const bool there = static_cast<std::int16_t>(each.sequence - count) < 0;
    if (each.state == Posted::State::left && !each.shape.is_read() && !each.handed && there) {
      each.state = Posted::State::done;
    }
  }
  settle(vi, false);
}

}  // namespace fairlead::via
