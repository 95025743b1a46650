// Connections: how two VIs find each other by discriminators, and how they part. Packets of set-up
// that calls send are on Lane::request, in order with data; those of upcalls on Lane::reply.
#include <algorithm>
#include <utility>

#include "fairlead/systems/via/core.h"

namespace fairlead::via {
namespace {

VIP_VI_ATTRIBUTES attributes_of(const Control& control) {
  VIP_VI_ATTRIBUTES made{};
  made.ReliabilityLevel = control.level;
  made.MaxTransferSize = control.transfer_max;
  made.QoS = reinterpret_cast<VIP_QOS>(control.qos);
  made.EnableRdmaWrite = (control.rdma & 1) != 0 ? VIP_TRUE : VIP_FALSE;
  made.EnableRdmaRead = (control.rdma & 2) != 0 ? VIP_TRUE : VIP_FALSE;
  return made;
}

// Why they cannot be connected.
VIP_RETURN compare(const VIP_VI_ATTRIBUTES& a, const VIP_VI_ATTRIBUTES& b) {
  if (a.ReliabilityLevel != b.ReliabilityLevel) return VIP_INVALID_RELIABILITY_LEVEL;
  if (a.MaxTransferSize != b.MaxTransferSize) return VIP_INVALID_MTU;
  return a.QoS == b.QoS ? VIP_SUCCESS : VIP_INVALID_QOS;
}

ViName sender_of(const Control& control) { return {control.from_vi, control.from_connection}; }

bool same(const ViName& a, const ViName& b) { return a.vi == b.vi && a.connection == b.connection; }

}  // namespace

Control Core::control_of(const Vi& vi, ControlKind kind) const {
  Control made{};
  made.kind = static_cast<std::uint8_t>(kind);
  made.from_vi = vi.index;
  made.from_connection = vi.connection;
  made.to_vi = vi.peer_vi.vi;
  made.to_connection = vi.peer_vi.connection;
  made.rdma = static_cast<std::uint8_t>((vi.attributes.EnableRdmaWrite != VIP_FALSE ? 1 : 0) |
                                        (vi.attributes.EnableRdmaRead != VIP_FALSE ? 2 : 0));
  made.level = vi.attributes.ReliabilityLevel;
  if (kind == ControlKind::request || kind == ControlKind::peer || kind == ControlKind::accept) {
    made.value = static_cast<std::uint16_t>(vi.queue);
  }
  made.transfer_max = static_cast<std::uint32_t>(vi.attributes.MaxTransferSize);
  made.qos = reinterpret_cast<std::uintptr_t>(vi.attributes.QoS);
  made.from = vi.local;
  made.to = vi.remote;
  return made;
}

void Core::send_control(Rank to, const Control& control, lci::Lane lane, std::uint32_t queue) {
  const lci::Words words = {0, 0, 0, 0};
  const auto* const bytes = reinterpret_cast<const std::byte*>(&control);
  if (lane == lci::Lane::reply) return answer(to, kControlChan, words, {bytes, sizeof control});
  const Piece body{bytes, sizeof control};
  if (requests_out_.empty()) {
    const Post sent = post_bytes(to, kControlChan, lane, words, {&body, 1}, queue);
    if (sent != Post::again_credit && sent != Post::again_buffer) return;
  }
  requests_out_.push_back({to, {0, 0, 0, 0}, kControlChan, queue, {bytes, bytes + sizeof control}});
  come_back_later();
}

void Core::request_connection(Vi& vi, Rank peer, const Discriminator& local,
                              const Discriminator& remote, bool by_peers, Ps deadline) {
  vi.state = VIP_STATE_CONNECT_PENDING;
  vi.peer = peer;
  vi.peer_vi = {};
  vi.local = local;
  vi.remote = remote;
  vi.by_peers = by_peers;
  vi.answered = false;
  vi.deadline = deadline;
  open_to_interface(vi);
  send_control(peer, control_of(vi, by_peers ? ControlKind::peer : ControlKind::request),
               lci::Lane::request, vi.queue);
  if (may_lose(peer)) repeat_later();
  if (!by_peers) return;
  const auto found =
      std::find_if(waiting_peers_.begin(), waiting_peers_.end(), [&](const Request& each) {
        return each.source == peer && each.from == remote && each.to == local;
      });
  if (found == waiting_peers_.end()) return;
  const Request request = *found;
  waiting_peers_.erase(found);
  vi.answered = true;
  vi.answer = compare(vi.attributes, request.attributes);
  if (vi.answer == VIP_SUCCESS) connect(vi, request.vi, request.queue, request.attributes);
}

void Core::connect(Vi& vi, ViName peer, std::uint32_t peer_queue,
                   const VIP_VI_ATTRIBUTES& attributes) {
  vi.state = VIP_STATE_CONNECTED;
  vi.peer_vi = peer;
  vi.peer_queue = peer_queue;
  vi.peer_attributes = attributes;
  vi.next_sequence = 0;
  vi.expected = 0;
  vi.newest = 0;
  vi.came = 0;
  vi.incoming = {};
  vi.reads = 0;
  vi.served = 0;
  connect_interface(vi);
  changed();
}

void Core::cancel(Vi& vi) {
  send_control(vi.peer, control_of(vi, ControlKind::cancel), lci::Lane::request, vi.queue);
  refused(vi);
}

void Core::refused(Vi& vi) {
  vi.state = VIP_STATE_IDLE;
  close_to_interface(vi);
  ++vi.connection;
}

Connection* Core::next_request(Nic* nic, const Discriminator& local, bool& full) {
  full = false;
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Request& each) { return each.to == local; });
  if (found == waiting_.end()) return nullptr;
  auto made = std::make_unique<Connection>();
  made->nic = nic;
  made->request = *found;
  Connection* const added = connections.add(std::move(made));
  full = added == nullptr;
  if (!full) waiting_.erase(found);
  return added;
}

VIP_RETURN Core::accept(Connection& connection, Vi& vi) {
  const Request& request = connection.request;
  if (connection.cancelled) {
    connections.remove(&connection);
    return VIP_TIMEOUT;
  }
  const VIP_RETURN fits = compare(vi.attributes, request.attributes);
  if (fits != VIP_SUCCESS) return fits;
  vi.peer = request.source;
  vi.local = request.to;
  vi.remote = request.from;
  vi.by_peers = false;
  open_to_interface(vi);
  connect(vi, request.vi, request.queue, request.attributes);
  send_control(vi.peer, control_of(vi, ControlKind::accept), lci::Lane::request, vi.queue);
  connections.remove(&connection);
  return VIP_SUCCESS;
}

void Core::refuse_request(Rank source, const ViName& asks, VIP_RETURN code, lci::Lane lane) {
  Control control{};
  control.kind = static_cast<std::uint8_t>(ControlKind::refuse);
  control.to_vi = asks.vi;
  control.to_connection = asks.connection;
  control.value = static_cast<std::uint16_t>(code);
  send_control(source, control, lane);
}

void Core::reject(Connection& connection, VIP_RETURN code) {
  const Request& request = connection.request;
  if (!connection.cancelled) {
    refuse_request(request.source, request.vi, code, lci::Lane::request);
    if (may_lose(request.source)) {
      if (refused_.size() == kRefusedMax) refused_.pop_front();
      refused_.push_back({request.source, request.vi, code});
    }
  }
  connections.remove(&connection);
}

void Core::disconnect(Vi& vi) {
  if (vi.state == VIP_STATE_CONNECT_PENDING) {
    cancel(vi);
  } else if (vi.state == VIP_STATE_CONNECTED) {
    Control control = control_of(vi, ControlKind::disconnect);
    control.value = vi.expected;
    send_control(vi.peer, control, lci::Lane::request, vi.queue);
    close_to_interface(vi);
  }
  vi.state = VIP_STATE_IDLE;
  ++vi.connection;
  flush(vi, 0);
}

void Core::break_off(Vi& vi, std::optional<VIP_ERROR_CODE> code, std::uint32_t status,
                     std::optional<std::uint32_t> peer_status) {
  if (vi.state != VIP_STATE_CONNECTED) return;
  vi.state = VIP_STATE_ERROR;
  close_to_interface(vi);
  if (peer_status) answer_data(vi, DataKind::broken, *peer_status, 0);
  if (code) tell(vi.nic, *code, VIP_RESOURCE_VI, &vi, nullptr, nullptr, VIP_STATUS_OP_SEND);
  flush(vi, status);
  changed();
}

void Core::handle(Rank source, const Control& control) {
  const ViName to{control.to_vi, control.to_connection};
  Vi* const vi = vis.at(control.to_vi);
  const bool known = vi != nullptr && vi->peer == source && vi->connection == to.connection;
  const bool asks =
      known && vi->state == VIP_STATE_CONNECT_PENDING && !vi->by_peers && !vi->answered;
  if (may_lose(source) && is_repeated(source, control)) return;
  switch (static_cast<ControlKind>(control.kind)) {
    case ControlKind::request:
      return request_came(source, control);
    case ControlKind::peer:
      return peer_came(source, control);
    case ControlKind::accept:
      if (asks) {
        vi->answered = true;
        vi->answer = VIP_SUCCESS;
        connect(*vi, sender_of(control), control.value, attributes_of(control));
      } else {
        // It does not wait any more: whoever accepted learns of it.
        Control back{};
        back.kind = static_cast<std::uint8_t>(ControlKind::disconnect);
        back.from_vi = control.to_vi;
        back.from_connection = control.to_connection;
        back.to_vi = control.from_vi;
        back.to_connection = control.from_connection;
        send_control(source, back, lci::Lane::reply);
      }
      return;
    case ControlKind::refuse:
      if (!asks) return;
      vi->answered = true;
      vi->answer = control.value == VIP_NO_MATCH ? VIP_NO_MATCH : VIP_REJECT;
      return changed();
    case ControlKind::cancel:
      return cancelled(source, control);
    case ControlKind::disconnect:
      if (known && vi->state == VIP_STATE_CONNECTED && same(vi->peer_vi, sender_of(control))) {
        acknowledge(*vi, control.value);
        break_off(*vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR, std::nullopt);
      }
      return;
  }
}

void Core::request_came(Rank source, const Control& control) {
  if (waiting_.size() < kRequestsMax) {
    waiting_.push_back({source, sender_of(control), control.value, attributes_of(control),
                        control.from, control.to});
    return changed();
  }
  refuse_request(source, sender_of(control), VIP_NO_MATCH, lci::Lane::reply);
}

void Core::peer_came(Rank source, const Control& control) {
  Vi* match = nullptr;
  vis.for_each([&](Vi& vi) {
    const bool waits = vi.state == VIP_STATE_CONNECT_PENDING && vi.by_peers && !vi.answered;
    if (match == nullptr && waits && vi.peer == source && vi.local == control.to &&
        vi.remote == control.from) {
      match = &vi;
    }
  });
  if (match == nullptr) {
    if (waiting_peers_.size() < kRequestsMax * 64) {
      waiting_peers_.push_back({source, sender_of(control), control.value, attributes_of(control),
                                control.from, control.to});
    }
    return;
  }
  match->answered = true;
  match->answer = compare(match->attributes, attributes_of(control));
  if (match->answer == VIP_SUCCESS) {
    connect(*match, sender_of(control), control.value, attributes_of(control));
  }
  changed();
}

void Core::cancelled(Rank source, const Control& control) {
  const auto is_it = [&](const Request& each) {
    return each.source == source && same(each.vi, sender_of(control));
  };
  std::erase_if(waiting_, is_it);
  std::erase_if(waiting_peers_, is_it);
  connections.for_each([&](Connection& each) {
    if (is_it(each.request)) each.cancelled = true;
  });
  vis.for_each([&](Vi& vi) {
    if (vi.state == VIP_STATE_CONNECTED && vi.peer == source &&
        same(vi.peer_vi, sender_of(control))) {
      break_off(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR, std::nullopt);
    }
  });
}

void Core::repeat_later() {
  if (repeating_) return;
  repeating_ = true;
  port_.after(milliseconds(kRepeatMs), {[](void* self) {
                                          Core& core = *static_cast<Core*>(self);
                                          core.repeating_ = false;
                                          core.repeat_requests();
                                        },
                                        this});
}

void Core::repeat_requests() {
  bool any = false;
  vis.for_each([&](Vi& vi) {
    if (vi.state != VIP_STATE_CONNECT_PENDING || vi.answered || !may_lose(vi.peer)) return;
    any = true;
    Control control = control_of(vi, vi.by_peers ? ControlKind::peer : ControlKind::request);
    control.rdma |= kRepeated;
    send_control(vi.peer, control, lci::Lane::request, vi.queue);
  });
  if (any) repeat_later();
}

// True: what it asks for is under way, or was done; who repeats it has not heard the answer.
bool Core::is_repeated(Rank source, const Control& control) {
  const ViName asks = sender_of(control);
  const auto is_it = [&](const Request& each) {
    return each.source == source && same(each.vi, asks);
  };
  const auto kind = static_cast<ControlKind>(control.kind);
  const Vi* connected = nullptr;
  vis.for_each([&](Vi& vi) {
    const bool is_its = vi.state == VIP_STATE_CONNECTED && vi.peer == source;
    if (is_its && same(vi.peer_vi, asks)) connected = &vi;
  });
  const bool was_repeated = (control.rdma & kRepeated) != 0;
  switch (kind) {
    case ControlKind::request: {
      bool waits = std::any_of(waiting_.begin(), waiting_.end(), is_it);
      connections.for_each([&](Connection& each) { waits = waits || is_it(each.request); });
      if (connected != nullptr) {
        send_control(source, control_of(*connected, ControlKind::accept), lci::Lane::reply);
      }
      for (const Refused& each : refused_) {
        if (each.source != source || !same(each.vi, asks)) continue;
        refuse_request(source, asks, each.code, lci::Lane::reply);
        return true;
      }
      return waits || connected != nullptr;
    }
    case ControlKind::peer:
      // An answer that is no repeated one itself: it is not answered again.
      if (connected != nullptr && was_repeated) {
        send_control(source, control_of(*connected, ControlKind::peer), lci::Lane::reply);
      }
      return connected != nullptr ||
             std::any_of(waiting_peers_.begin(), waiting_peers_.end(), is_it);
    case ControlKind::accept:
      return connected != nullptr && connected->index == control.to_vi;
    default:
      return false;
  }
}

// What the other side sends goes to a connection that is over: it has not heard of its end.
void Core::tell_gone(Rank source, const ViName& name) {
  Control control{};
  control.kind = static_cast<std::uint8_t>(ControlKind::cancel);
  control.from_vi = name.vi;
  control.from_connection = name.connection;
  send_control(source, control, lci::Lane::reply);
}

}  // namespace fairlead::via
