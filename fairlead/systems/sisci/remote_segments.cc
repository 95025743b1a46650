#include "fairlead/systems/sisci/remote_segments.h"

namespace fairlead::sisci {

// --- Calls of the program.

sci_error_t RemoteSegments::connect(Handle device, Rank node, std::uint32_t id,
                                    sci_cb_remote_segment_t callback, void* argument,
                                    unsigned timeout, unsigned flags, Handle* handle) {
  const bool calls_back = (flags & SCI_FLAG_USE_CALLBACK) != 0;
  const bool waits = (flags & SCI_FLAG_ASYNCHRONOUS_CONNECT) == 0;
  if (!devices_.is_open(device)) return SCI_ERR_ILLEGAL_PARAMETER;
  if (calls_back && callback == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  auto segment = std::make_unique<RemoteSegment>();
  segment->device = device;
  segment->owner = node;
  segment->id = id;
  // Who waits for the connection needs no callback that it was made.
  if (calls_back && !waits) segment->callback = callback;
  segment->argument = argument;
  const Handle made = segments_.add(std::move(segment));
  if (made == 0) return SCI_ERR_API_NOSPC;
  devices_.add_user(device);
  if (!mailbox_.send(node, {.kind = Kind::connect, .other = made, .id = id})) {
    remove(made);
    return SCI_ERR_NO_SUCH_NODEID;
  }
  if (!waits) {
    *handle = made;
    return SCI_ERR_OK;
  }
  const bool answered = waiting_.until(
      [&] {
        look_for_loss(made);
        return find(made)->state != RemoteSegment::State::connecting;
      },
      waiting_.end_of(timeout), "the owner of a segment to take a connection");
  RemoteSegment& now = *find(made);
  const sci_error_t code = answered ? now.refusal : SCI_ERR_TIMEOUT;
  if (code != SCI_ERR_OK) {
    remove(made);
    return code;
  }
  // That it was made is what the call says; what has happened to it since stays.
  (void)now.events.take();
  if (calls_back) {
    now.callback = callback;
    if (!now.events.empty()) callbacks_.add([this, made] { call_back(made); });
  }
  *handle = made;
  return SCI_ERR_OK;
}

sci_error_t RemoteSegments::disconnect(Handle handle) {
  const RemoteSegment* const segment = find(handle);
  if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (segment->maps > 0 || segment->users > 0) return SCI_ERR_BUSY;
  if (is_connected(handle)) {
    // What was stored is there before it may not come any more.
    transfers_.settle(segment->owner);
    (void)mailbox_.send(segment->owner,
                        {.kind = Kind::disconnect, .handle = segment->exported, .other = handle});
  }
  remove(handle);
  return SCI_ERR_OK;
}

void RemoteSegments::remove(Handle handle) {
  devices_.drop_user(find(handle)->device);
  segments_.remove(handle);
}

void RemoteSegments::disconnect_all() {
  std::vector<Handle> all;
  segments_.for_each([&](Handle handle, const RemoteSegment&) { all.push_back(handle); });
  for (const Handle handle : all) (void)disconnect(handle);
}

bool RemoteSegments::is_connected(Handle handle) {
  look_for_loss(handle);
  const RemoteSegment* const segment = find(handle);
  return segment != nullptr && segment->state == RemoteSegment::State::connected;
}

sci_error_t RemoteSegments::wait(Handle handle, unsigned timeout, Event* event) {
  const RemoteSegment* const segment = find(handle);
  if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (segment->callback != nullptr) return SCI_ERR_ILLEGAL_OPERATION;
  const bool came = waiting_.until(
      [&] {
        look_for_loss(handle);
        const RemoteSegment* const now = find(handle);
        return now == nullptr || !now->events.empty();
      },
      waiting_.end_of(timeout), "an event of a remote segment");
  RemoteSegment* const now = find(handle);
  if (now == nullptr) return SCI_ERR_CANCELLED;
  if (!came) return SCI_ERR_TIMEOUT;
  *event = now->events.take();
  return SCI_ERR_OK;
}

// --- Messages of owners.

void RemoteSegments::connected(Rank from, const Message& message) {
  RemoteSegment* const segment = find(message.handle);
  const bool ok = message.code == SCI_ERR_OK;
  if (segment == nullptr || segment->owner != from ||
      segment->state != RemoteSegment::State::connecting) {
    // Nobody waits for it any more.
    if (ok) {
      mailbox_.later(from,
                     {.kind = Kind::disconnect, .handle = message.other, .other = message.handle});
    }
    return;
  }
  segment->state = ok ? RemoteSegment::State::connected : RemoteSegment::State::refused;
  segment->refusal = message.code;
  segment->size = message.size;
  segment->exported = message.other;
  segment->segment = message.segment;
  segment->mappable = message.mappable;
  tell(message.handle, {SCI_CB_CONNECT, from, message.code});
  if (ok && segment->ended_early) end(message.handle, SCI_ERR_OK);
}

void RemoteSegments::asks_end(Rank from, const Message& message) {
  const RemoteSegment* const segment = find(message.handle);
  if (segment == nullptr || segment->owner != from) return;
  tell(message.handle, {SCI_CB_DISCONNECT, from, SCI_ERR_OK});
}

void RemoteSegments::ended(Rank from, const Message& message) {
  RemoteSegment* const segment = find(message.handle);
  // Also where it has disconnected meanwhile, the owner waits for it.
  Message seen{.kind = Kind::ended_seen, .handle = message.other, .other = message.handle};
  if (segment != nullptr && segment->owner == from) {
    segment->ended_early = segment->state == RemoteSegment::State::connecting;
    segment->stays = (message.flags & 1) != 0;
    end(message.handle, SCI_ERR_OK);
  }
  mailbox_.reply(from, seen);
}

void RemoteSegments::end(Handle handle, sci_error_t why) {
  RemoteSegment& segment = *find(handle);
  if (segment.state != RemoteSegment::State::connected) return;
  segment.state = RemoteSegment::State::ended;
  if (!segment.stays) {
    for (const ForeignMapping* const region : segment.regions) regions_.cut_off(region);
  }
  tell(handle, {SCI_CB_LOST, segment.owner, why});
}

void RemoteSegments::look_for_loss(Handle handle) {
  RemoteSegment* const segment = find(handle);
  if (segment == nullptr || !port_.path(segment->owner).down) return;
  if (segment->state == RemoteSegment::State::connecting) {
    segment->state = RemoteSegment::State::refused;
    segment->refusal = SCI_ERR_NO_SUCH_NODEID;
    tell(handle, {SCI_CB_CONNECT, segment->owner, SCI_ERR_NO_SUCH_NODEID});
  } else {
    end(handle, SCI_ERR_NO_SUCH_NODEID);
  }
}

void RemoteSegments::tell(Handle handle, const Event& event) {
  RemoteSegment& segment = *find(handle);
  segment.events.add(event);
  if (segment.callback != nullptr) callbacks_.add([this, handle] { call_back(handle); });
}

void RemoteSegments::call_back(Handle handle) {
  RemoteSegment* const segment = find(handle);
  if (segment == nullptr || segment->callback == nullptr || segment->events.empty()) return;
  const Event event = segment->events.take();
  const sci_callback_action_t action = segment->callback(
      segment->argument, pointer_of<sci_remote_segment_t>(handle), event.reason, event.status);
  // It may have disconnected.
  RemoteSegment* const now = find(handle);
  if (now != nullptr && action == SCI_CALLBACK_CANCEL) now->callback = nullptr;
}

}  // namespace fairlead::sisci
