#include "fairlead/fabric/model/rdma/rdma_ni.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fairlead/fabric/model/rdma/changed_word.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {
namespace {

bool carries_data(RdmaKind kind) {
  return kind == RdmaKind::send || kind == RdmaKind::write || kind == RdmaKind::read_data;
}

}  // namespace

RdmaNi::RdmaNi(const RdmaParts& parts, Peer self)
    : parts_(parts),
      ni_(parts.params),
      self_(self),
      path_(parts.path.make_path()),
      background_(parts.params.background, parts.network_params, self),
      contexts_(ni_.contexts),
      translations_(ni_.translations) {
  const std::uint32_t here = std::max(parts.ranks.ranks_on(self), 1U);
  for (std::uint32_t place = 0; place < here; ++place) {
    ranks_.push_back(
        std::make_unique<Own>(parts.ranks.rank_at(self, place), parts.network_params.nodes));
  }
  if (here > 1) memory_ = std::make_unique<hw::HostMemory>(here + 1, parts.memory_rate);
}

RdmaNi::Way& RdmaNi::way(Rank own, Rank peer) {
  std::vector<std::unique_ptr<Way>>& ways = of(own).ways;
  if (peer >= ways.size()) ways.resize(peer + 1);
  if (ways[peer] == nullptr) {
    ways[peer] = std::make_unique<Way>();
    std::fill(std::begin(ways[peer]->credits), std::end(ways[peer]->credits), ni_.receive_queue);
    if (parts_.loses) ways[peer]->connections = std::make_unique<Connection[]>(kConnections);
  }
  return *ways[peer];
}

// The interface's transfers are one more user of the memory that the node's ranks share.
Ps RdmaNi::held_up(Ps end, std::uint64_t bytes) {
  if (memory_ == nullptr) return end;
  const Ps alone = time_for(Bytes{bytes}, parts_.path.peak());
  const auto user = static_cast<std::uint32_t>(ranks_.size());
  return end + memory_->use(user, now(), alone, bytes) - alone;
}

void RdmaNi::fetch(std::uint32_t id, std::uint64_t bytes, RdmaFetch what) {
  packet(id).bytes = static_cast<std::uint32_t>(bytes);
  read(id, bytes, what);
}

void RdmaNi::read(std::uint32_t id, std::uint64_t bytes, RdmaFetch what) {
  RdmaPacket& reading = packet(id);
  reading.fetching = what;
  reading.read_left = bytes;
  reading.reads_open = 0;
  reads_.push_back(id);
  begin_reads();
}

// One packet's after the other's, in the order of asking.
void RdmaNi::begin_reads() {
  while (!reads_.empty() && reads_open_ < path_->reads_max()) {
    const std::uint32_t id = reads_.front();
    RdmaPacket& reading = packet(id);
    const std::uint64_t bytes = std::min(reading.read_left, path_->read_bytes_max());
    reading.read_left -= bytes;
    if (reading.read_left == 0) reads_.pop_front();
    ++reading.reads_open;
    ++reads_open_;
    from_host_ends_ = std::max(from_host_ends_, held_up(path_->request(now(), bytes), bytes));
    parts_.engine.at(
        from_host_ends_, self_, hw::kDmaEvent,
        [](void* self, std::uint64_t packet, std::uint64_t size) {
          static_cast<RdmaNi*>(self)->on_memory(static_cast<std::uint32_t>(packet), size);
        },
        this, id, bytes);
  }
}

void RdmaNi::on_memory(std::uint32_t id, std::uint64_t bytes) {
  if (path_->turn_bytes() == 0) {
    return at<&RdmaNi::on_data>(path_->data(now(), bytes), hw::kDmaEvent, id);
  }
  read_data_.push_back({id, bytes});
  if (!data_moves_) move_data();
}

void RdmaNi::move_data() {
  const Data& first = read_data_.front();
  data_moves_ = true;
  at<&RdmaNi::on_data>(path_->data(now(), first.bytes), hw::kDmaEvent, first.packet);
  read_data_.pop_front();
}

void RdmaNi::on_data(std::uint32_t id) {
  RdmaPacket& reading = packet(id);
  --reads_open_;
  const bool all = --reading.reads_open == 0 && reading.read_left == 0;
  begin_reads();
  data_moves_ = false;
  if (!read_data_.empty()) move_data();
  if (!all) return;
  switch (packet(id).fetching) {
    case RdmaFetch::entry:
      return on_fetched(id);
    case RdmaFetch::payload:
      return on_payload(id);
    case RdmaFetch::word:
      return on_atomic_word(id);
    case RdmaFetch::context:
      return on_context(id);
    case RdmaFetch::translation:
      return on_translation(id);
    case RdmaFetch::responder:
      reads_tables_ = false;
      arrivals_.pop_front();
      take_up(id);
      return take_up_arrivals();
  }
}

void RdmaNi::to_host(std::uint32_t id, std::uint64_t bytes, RdmaStore what) {
  const Write write{id, bytes, bytes, what};
  if (path_->turn_bytes() == 0) return crosses(path_->to_host(now(), bytes), write);
  writes_.push_back(write);
  if (!write_moves_) move_write();
}

// Its last byte gets to memory at `end`, if nobody else is there.
void RdmaNi::crosses(Ps end, const Write& write) {
  to_host_ends_ = std::max(to_host_ends_, held_up(end, write.bytes));
  switch (write.what) {
    case RdmaStore::received:
      return at<&RdmaNi::on_received>(to_host_ends_, hw::kDmaEvent, write.packet);
    case RdmaStore::put:
      return at<&RdmaNi::on_written>(to_host_ends_, hw::kDmaEvent, write.packet);
    case RdmaStore::got:
      return at<&RdmaNi::on_read>(to_host_ends_, hw::kDmaEvent, write.packet);
    case RdmaStore::completion:
      return at<&RdmaNi::on_completion>(to_host_ends_, hw::kDmaEvent, write.packet);
    case RdmaStore::reduced:
      return at<&RdmaNi::on_reduced>(to_host_ends_, hw::kDmaEvent, write.packet);
    case RdmaStore::told:
      return at<&RdmaNi::on_told>(to_host_ends_, hw::kDmaEvent, write.packet);
    case RdmaStore::word:
      return;  // nobody waits for it
  }
}

void RdmaNi::move_write() {
  Write& first = writes_.front();
  const std::uint64_t bytes = std::min(first.left, path_->turn_bytes());
  first.left -= bytes;
  write_moves_ = true;
  const Ps end = path_->to_host(now(), bytes);
  at<&RdmaNi::on_write_moved>(end - path_->behind(), hw::kDmaEvent, first.packet);
  if (first.left > 0) return;
  crosses(end, first);
  writes_.pop_front();
}

void RdmaNi::on_write_moved(std::uint32_t /*packet*/) {
  write_moves_ = false;
  if (!writes_.empty()) move_write();
}

// --- Send engine

void RdmaNi::ring(Rank rank, std::uint32_t id) {
  const RdmaEntry entry = parts_.packets.front(id).entry;
  RdmaPacket& message = packet(id);
  message.kind = entry.kind;
  message.queue = entry.queue;
  message.signalled = entry.signalled != 0;
  message.what = entry.what;
  message.word_bytes = entry.word_bytes;
  message.source = rank;
  message.dest = entry.dest;
  message.operation = entry.operation;
  message.size = entry.size;
  message.key = entry.key;
  message.offset = entry.offset;
  message.address = entry.address;
  message.reply_address = entry.address;
  message.tells = entry.kind == RdmaKind::write && entry.tells != 0;
  message.a = entry.a;
  message.b = entry.b;
  std::uint64_t payload = 0;
  if (message.kind == RdmaKind::send) {
    message.header = parts_.packets.front(id).header;
    payload = message.header.client.size;
    message.with_entry = payload <= ni_.inline_bytes;
  } else if (message.kind == RdmaKind::reduce) {
    message.named = entry.named;
    message.reply_address = entry.offset;
    payload = message.size;
    message.with_entry = payload <= ni_.inline_bytes;
  }
  const std::uint64_t bytes = parts_.terms.stored_bytes(message.with_entry, payload);
  at<&RdmaNi::on_doorbell>(path_->to_ni(now(), bytes), hw::kDoorbellEvent, id);
}

// Its place in the queue is that of its doorbell, however long the rest takes.
void RdmaNi::on_doorbell(std::uint32_t id) {
  const RdmaPacket& message = packet(id);
  if (message.kind != RdmaKind::reduce) {
    way(message.source, message.dest).queues[message.queue].waiting.push_back(id);
  }
  const Ps began = sender_.acquire(now(), ni_.work_entry);
  at<&RdmaNi::on_entry>(began + ni_.work_entry, hw::kNiTurnEvent, id);
}

void RdmaNi::on_entry(std::uint32_t id) {
  const RdmaPacket& message = packet(id);
  const std::uint64_t missing =
      message.kind == RdmaKind::reduce ? 0 : context_missing(message.source, message.dest);
  if (missing > 0) return read(id, missing, RdmaFetch::context);
  on_context(id);
}

void RdmaNi::on_context(std::uint32_t id) {
  if (packet(id).with_entry) return on_fetched(id);
  fetch(id, ni_.entry_bytes, RdmaFetch::entry);
}

void RdmaNi::on_fetched(std::uint32_t id) {
  RdmaPacket& message = packet(id);
  message.fetched = true;
  if (message.kind == RdmaKind::reduce) return pump_reduction(id);
  pump(message.source, message.dest, message.queue);
}

// Begins what may begin: in order, with credit, so many ahead of the wire.
void RdmaNi::pump(Rank own, Rank peer, std::uint8_t number) {
  Way& to = way(own, peer);
  Queue& queue = queue_of(own, peer, number);
  while (!queue.waiting.empty() && queue.ahead < ni_.reads_ahead && !queue.translates) {
    const std::uint32_t id = queue.waiting.front();
    const RdmaPacket& message = packet(id);
    if (!message.fetched) break;
    // Sends are in the queues of lanes alone.
    if (message.kind == RdmaKind::send && number < kLanes && !is_broken(own, peer, number)) {
      if (to.credits[number] == 0) break;
      --to.credits[number];
    }
    start(queue, id);
  }
  leave_in_order(own, peer, number);
}

void RdmaNi::start(Queue& queue, std::uint32_t id) {
  RdmaPacket& message = packet(id);
  ++queue.ahead;
  if (message.kind != RdmaKind::write && message.kind != RdmaKind::read_data) {
    queue.waiting.pop_front();
    queue.in_order.push_back(id);
    message.bytes = message.kind == RdmaKind::send ? message.header.client.size : 0;
    message.ready = message.bytes == 0 || message.with_entry;
    // The library has registered its buffers; its pages are few.
    if (!message.ready) fetch(id, message.bytes, RdmaFetch::payload);
    return;
  }
  const std::uint32_t part = parts_.packets.take();
  RdmaPacket& cut = packet(part);
  RdmaPacket& whole = packet(id);
  const std::uint64_t bytes = std::min<std::uint64_t>(ni_.mtu_bytes, whole.size - whole.started);
  cut.kind = whole.kind;
  cut.queue = whole.queue;
  cut.source = whole.source;
  cut.dest = whole.dest;
  cut.operation = whole.operation;
  cut.key = whole.key;
  cut.offset = whole.offset + whole.started;
  cut.address = whole.address + whole.started;
  cut.reply_address = whole.reply_address + whole.started;
  cut.connection = whole.connection;
  cut.number = whole.number;
  cut.position = whole.started;
  cut.execution = whole.execution;
  cut.background = whole.background;
  whole.started += bytes;
  cut.last = whole.started == whole.size;
  cut.tells = whole.tells && cut.last;
  if (cut.tells) cut.a = whole.a;
  queue.in_order.push_back(part);
  if (cut.last) {
    queue.waiting.pop_front();
    parts_.packets.give(id);
  }
  fetch_payload(part, bytes);
}

void RdmaNi::on_payload(std::uint32_t id) {
  RdmaPacket& whole = packet(id);
  if (whole.kind != RdmaKind::send && !whole.background) {
    (void)of(whole.source).memory->read(whole.address, parts_.packets.payload(id), whole.bytes);
  }
  whole.ready = true;
  if (whole.kind == RdmaKind::reduce) return leave_operand(id);
  leave_in_order(whole.source, whole.dest, whole.queue);
}

void RdmaNi::leave_in_order(Rank own, Rank peer, std::uint8_t number) {
  Queue& queue = queue_of(own, peer, number);
  bool failed = false;
  while (!queue.in_order.empty() && packet(queue.in_order.front()).ready) {
    if (is_full(own, peer, number)) break;
    const std::uint32_t id = queue.in_order.front();
    queue.in_order.pop_front();
    if (is_broken(own, peer, number)) [[unlikely]] {
      failed = true;
      --queue.ahead;
      fail(id);
    } else {
      leave(id);
    }
  }
  if (failed) pump(own, peer, number);
}

void RdmaNi::leave(std::uint32_t id) {
  if (parts_.loses && parts_.ranks.node_of(packet(id).dest) != self_) [[unlikely]] {
    id = number_request(id);
  }
  const RdmaPacket& leaving = packet(id);
  const Ps gone = sender_.acquire(now(), ni_.packet) + ni_.packet;
  const std::uint64_t bytes =
      parts_.network_params.header_bytes + (carries_data(leaving.kind) ? leaving.bytes : 0);
  const Peer to = parts_.ranks.node_of(leaving.dest);
  if (to == self_) {
    const Ps takes = time_for(Bytes{bytes}, parts_.network_params.link);
    at<&RdmaNi::on_looped>(loop_.acquire(gone, takes) + takes, hw::kTailEvent, id);
    return;
  }
  parts_.network.inject(gone, id, self_, to, bytes);
}

// To a rank of this node: it does not get on the wire.
void RdmaNi::on_looped(std::uint32_t id) {
  transmitted(id);
  arrived(id);
}

void RdmaNi::transmitted(std::uint32_t id) {
  const RdmaPacket& sent = packet(id);
  if (sent.queue == kNoQueue || sent.again) return;
  --queue_of(sent.source, sent.dest, sent.queue).ahead;
  pump(sent.source, sent.dest, sent.queue);
}

// --- Responder

void RdmaNi::arrived(std::uint32_t id) {
  const RdmaKind kind = packet(id).kind;
  Ps time = ni_.packet;
  if (kind == RdmaKind::write || kind == RdmaKind::read || kind == RdmaKind::atomic) {
    time += ni_.translate;
  }
  at<&RdmaNi::on_arrival>(responder_.acquire(now(), time) + time, hw::kNiTurnEvent, id);
}

void RdmaNi::on_arrival(std::uint32_t id) {
  if (!ni_.has_caches()) return take_up(id);
  arrivals_.push_back(id);
  take_up_arrivals();
}

void RdmaNi::take_up(std::uint32_t id) {
  if (packet(id).connection != kNoConnection && !takes(id)) return parts_.packets.give(id);
  const RdmaPacket& in = packet(id);
  switch (in.kind) {
    case RdmaKind::send:
      return to_host(id, in.bytes + ni_.completion_bytes, RdmaStore::received);
    case RdmaKind::write:
      return serve_write(id);
    case RdmaKind::read:
      return serve_read(id);
    case RdmaKind::atomic:
      return serve_atomic(id);
    case RdmaKind::read_data:
      return to_host(id, in.bytes, RdmaStore::got);
    case RdmaKind::answer:
      return complete(id);
    case RdmaKind::credit:
      way(in.dest, in.source).credits[in.lane] += in.credits;
      pump(in.dest, in.source, in.lane);
      return parts_.packets.give(id);
    case RdmaKind::query:
    case RdmaKind::look:
    case RdmaKind::tport:
    case RdmaKind::reduce:
    case RdmaKind::reduced:
    case RdmaKind::ack:
      return parts_.packets.give(id);  // not of this kind of interface, or not this way
  }
}

void RdmaNi::on_received(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  if (in.signalled) {
    const std::uint32_t back = parts_.packets.take();
    RdmaPacket& reply = packet(back);
    reply.source = in.source;
    reply.dest = in.dest;
    reply.lane = in.queue;
    reply.connection = in.connection;
    reply.number = in.number;
    answer(back, true);
  }
  RdmaFront& front = parts_.packets.front(id);
  front.header = in.header;
  front.source = in.source;
  front.lane = in.queue;
  front.told = 0;
  const RdmaHostSink& host = of(in.dest).host;
  host.received(host.context, id);
}

// The requester hears of a copy's end once, with its last packet.
void RdmaNi::serve_write(std::uint32_t id) {
  RdmaPacket& in = packet(id);
  if (in.background) return to_host(id, in.bytes, RdmaStore::put);
  bool& refused = way(in.dest, in.source).refused;
  const std::optional<std::uint64_t> address =
      of(in.dest).keys.find(in.key, in.offset, in.bytes, false, true);
  refused = refused || !address;
  if (!refused) {
    in.address = *address;
    return to_host(id, in.bytes, RdmaStore::put);
  }
  if (!in.last) return parts_.packets.give(id);
  refused = false;
  answer(id, false);
}

void RdmaNi::on_written(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  if (in.background) return in.last ? answer(id, true) : parts_.packets.give(id);
  Own& own = of(in.dest);
  (void)own.memory->write(in.address, parts_.packets.payload(id), in.bytes);
  own.host.changed(own.host.context);
  if (!in.last) return parts_.packets.give(id);
  if (in.tells) {
    const std::uint32_t told = parts_.packets.take();
    RdmaFront& front = parts_.packets.front(told);
    front.header = {};
    front.header.client.words[0] = static_cast<std::uint32_t>(in.a);
    packet(told).source = in.source;
    packet(told).dest = in.dest;
    to_host(told, ni_.completion_bytes, RdmaStore::told);
  }
  answer(id, true);
}

// It is among the packets of the first lane.
void RdmaNi::on_told(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  RdmaFront& front = parts_.packets.front(id);
  front.source = in.source;
  front.lane = 0;
  front.told = 1;
  const RdmaHostSink& host = of(in.dest).host;
  host.received(host.context, id);
}

void RdmaNi::serve_read(std::uint32_t id) {
  RdmaPacket& in = packet(id);
  const std::optional<std::uint64_t> address =
      of(in.dest).keys.find(in.key, in.offset, in.size, true, false);
  if (!address) return answer(id, false);
  if (in.connection != kNoConnection) [[unlikely]] {
    in.execution = connection(in.dest, in.source, in.connection).responder.execute();
  }
  in.kind = RdmaKind::read_data;
  in.queue = kReplyQueue;
  std::swap(in.dest, in.source);
  in.address = *address;
  in.fetched = true;
  way(in.source, in.dest).queues[kReplyQueue].waiting.push_back(id);
  pump(in.source, in.dest, kReplyQueue);
}

void RdmaNi::on_read(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  (void)of(in.dest).memory->write(in.reply_address, parts_.packets.payload(id), in.bytes);
  if (!in.last) return parts_.packets.give(id);
  packet(id).ok = true;
  complete(id);
}

void RdmaNi::serve_atomic(std::uint32_t id) {
  RdmaPacket& in = packet(id);
  const std::optional<std::uint64_t> address =
      of(in.dest).keys.find(in.key, in.offset, in.word_bytes, true, true);
  if (!address || *address % in.word_bytes != 0) return answer(id, false);
  in.address = *address;
  fetch(id, in.word_bytes, RdmaFetch::word);
}

void RdmaNi::on_atomic_word(std::uint32_t id) {
  const Ps done = responder_.acquire(now(), ni_.atomic) + ni_.atomic;
  at<&RdmaNi::on_atomic_done>(done, hw::kNiTurnEvent, id);
}

// The word changes as the responder has done with it, in one event: nobody comes in between.
void RdmaNi::on_atomic_done(std::uint32_t id) {
  RdmaPacket& in = packet(id);
  // Little-endian: of a word of 4 bytes the first ones count.
  std::uint64_t old = 0;
  Own& own = of(in.dest);
  (void)own.memory->read(in.address, reinterpret_cast<std::byte*>(&old), in.word_bytes);
  if (in.word_bytes == 4) in.a &= UINT32_MAX;
  const std::uint64_t made = changed_word(in, old);
  (void)own.memory->write(in.address, reinterpret_cast<const std::byte*>(&made), in.word_bytes);
  to_host(id, in.word_bytes, RdmaStore::word);
  own.host.changed(own.host.context);
  in.a = old;
  answer(id, true);
}

// Turns a packet around.
void RdmaNi::answer(std::uint32_t id, bool ok) {
  RdmaPacket& back = packet(id);
  back.kind = RdmaKind::answer;
  back.queue = kNoQueue;
  std::swap(back.dest, back.source);
  back.ok = ok;
  if (back.connection != kNoConnection) [[unlikely]] {
    connection(back.source, back.dest, back.connection)
        .responder.ended({back.number, back.operation, back.a, back.lane, ok});
  }
  leave(id);
}

// An entry of the completion queue, behind the data it speaks of.
void RdmaNi::complete(std::uint32_t id) {
  to_host(id, ni_.completion_bytes, RdmaStore::completion);
}

void RdmaNi::on_completion(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  if (in.background) return on_background_told(id);
  const RdmaCompletion completion{in.operation, in.source, in.a, in.lane,
                                  static_cast<std::uint8_t>(in.ok ? 1 : 0)};
  const RdmaHostSink& host = of(in.dest).host;
  parts_.packets.give(id);
  host.completed(host.context, completion);
}

void RdmaNi::return_buffers(Rank rank, Rank source, std::uint8_t lane, std::uint32_t count) {
  const std::uint32_t id = parts_.packets.take();
  RdmaPacket& credit = packet(id);
  credit.kind = RdmaKind::credit;
  credit.source = rank;
  credit.dest = source;
  credit.credits = count;
  credit.lane = lane;
  at<&RdmaNi::on_buffers>(path_->to_ni(now(), kRdmaDoorbellBytes), hw::kDoorbellEvent, id);
}

void RdmaNi::on_buffers(std::uint32_t id) { leave(id); }

}  // namespace fairlead::fabric::model
