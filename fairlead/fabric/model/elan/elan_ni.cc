// Command processor and DMA thread; elan_input.cc has what arrives.
#include "fairlead/fabric/model/elan/elan_ni.h"

#include <algorithm>
#include <cstring>

#include "fairlead/fabric/model/rdma/operands.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {
namespace {

// Packets whose data the DMA thread has asked for and that have no circuit yet: half of the
// interface's eight requests under way (Quadrics paper, section 2.1).
constexpr std::uint32_t kAhead = 4;
constexpr std::uint64_t kSlotsFreedBytes = 8;

bool has_data(RdmaKind kind) {
  return kind == RdmaKind::write || kind == RdmaKind::read_data || kind == RdmaKind::send ||
         kind == RdmaKind::reduce || kind == RdmaKind::reduced;
}
// Cut into packets of its own.
bool is_dma(RdmaKind kind) { return kind == RdmaKind::write || kind == RdmaKind::read_data; }
// The DMA thread reads its data from where its host says.
bool is_read(const RdmaPacket& sent) {
  return is_dma(sent.kind) || (sent.kind == RdmaKind::reduce && !sent.with_entry);
}

}  // namespace

ElanNi::ElanNi(const ElanParts& parts, Peer self)
    : parts_(parts),
      ni_(parts.params),
      self_(self),
      bus_(parts.pci),
      tlb_(parts.params.tlb_entries),
      background_(parts.params.background, parts.network_params, self) {
  const std::uint32_t here = std::max(parts.ranks.ranks_on(self), 1U);
  for (std::uint32_t place = 0; place < here; ++place) {
    ranks_.push_back(std::make_unique<Own>(parts.ranks.rank_at(self, place), ni_.slots));
  }
  if (here > 1) memory_ = std::make_unique<hw::HostMemory>(here + 1, parts.memory_rate);
}

ElanNi::Lane& ElanNi::lane(Rank own, Rank peer, std::uint8_t number) {
  Own& mine = of(own);
  std::uint32_t& way = mine.way_of.of(peer);
  if (way == kNoWay) {
    way = static_cast<std::uint32_t>(mine.ways.size());
    mine.ways.push_back(std::make_unique<Way>());
  }
  return mine.ways[way]->lanes[number];
}

Ps ElanNi::units_busy() const {
  Ps all{};
  for (const sim::Server* unit : {&command_, &dma_, &input_, &thread_}) all += unit->busy(now());
  return all;
}

// The interface's transfers are one more user of the memory that the node's ranks share.
Ps ElanNi::held_up(Ps end, std::uint64_t bytes) {
  if (memory_ == nullptr) return end;
  const Ps alone = time_for(Bytes{bytes}, parts_.pci.dma_rate());
  const auto user = static_cast<std::uint32_t>(ranks_.size());
  return end + memory_->use(user, now(), alone, bytes) - alone;
}

bool ElanNi::is_placed(const Own& own, std::uint64_t address) {
  return std::any_of(own.placed.begin(), own.placed.end(), [address](const Range& range) {
    return address >= range.base && address - range.base < range.size;
  });
}

Ps ElanNi::to_memory(const Own& own, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return behind_writes();
  if (is_placed(own, address)) return std::max(behind_writes(), own_memory(bytes));
  return write(bytes);
}

Ps ElanNi::from_memory(const Own& own, std::uint64_t address, std::uint64_t bytes) {
  if (is_placed(own, address)) return std::max(behind_writes(), own_memory(bytes));
  return read(bytes);
}

// --- Command processor

void ElanNi::ring(Rank rank, std::uint32_t id) {
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
  message.a = entry.a;
  message.b = entry.b;
  message.named = entry.named;
  if (message.kind == RdmaKind::tport &&
      entry.named.compare == static_cast<std::uint8_t>(RdmaTport::open)) {
    open_tport(message);
    return let_go(id);
  }
  if (message.kind == RdmaKind::send) {
    message.header = parts_.packets.front(id).header;
    message.size = message.header.client.size;
    message.with_entry = message.size <= ni_.inline_bytes;
    message.named.used = is_message(message) ? 1 : 0;
  }
  if (message.kind == RdmaKind::reduce) {
    message.with_entry = message.size <= ni_.inline_bytes;
    message.reply_address = entry.offset;
  }
  const std::uint64_t bytes = parts_.terms.stored_bytes(message.with_entry, message.size);
  at<&ElanNi::on_command>(store(bytes), hw::kDoorbellEvent, id);
}

// A thread waits for an event, which the host sets by its command; DMAs need none.
void ElanNi::on_command(std::uint32_t id) {
  const bool sets = packet(id).kind == RdmaKind::query;
  at<&ElanNi::on_descriptor>(after(command_, sets ? ni_.command + ni_.event : ni_.command),
                             hw::kNiTurnEvent, id);
}

void ElanNi::on_descriptor(std::uint32_t id) {
  RdmaPacket& message = packet(id);
  if (message.kind == RdmaKind::look) {
    const auto found = of(message.source).events.find(message.named.after);
    if (found != of(message.source).events.end()) look(message.source, found->second);
    return let_go(id);
  }
  if (message.named.after == kNoEvent) return begin(id);
  Event& event = of(message.source).events[message.named.after];
  const auto later = [this](std::uint64_t value, std::uint32_t other) {
    return value < packet(other).named.after_value;
  };
  event.waiting.insert(std::upper_bound(event.waiting.begin(), event.waiting.end(),
                                        message.named.after_value, later),
                       id);
  look(message.source, event);
}

void ElanNi::begin(std::uint32_t id) {
  RdmaPacket& message = packet(id);
  switch (message.kind) {
    case RdmaKind::send: {
      Lane& to = lane(message.source, message.dest, message.queue);
      to.waiting.push_back(id);
      return next_of(message.source, message.dest, message.queue);
    }
    case RdmaKind::query:
      return at<&ElanNi::on_thread>(after(thread_, ni_.schedule + ni_.thread_build),
                                    hw::kNiTurnEvent, id);
    case RdmaKind::tport:
      return to_thread(id);
    case RdmaKind::reduce:
      return pump_reduction(id);
    default:
      return run(id);
  }
}

// The thread has built its packet: no DMA.
void ElanNi::on_thread(std::uint32_t id) {
  ++packet(id).users;  // until closed()
  ready_.push_back(id);
  ++fetching_;
  open_some();
}

void ElanNi::return_buffers(Rank rank, Rank, std::uint8_t lane_number, std::uint32_t count) {
  const std::uint32_t id = parts_.packets.take();
  RdmaPacket& freed = packet(id);
  freed.dest = rank;
  freed.lane = lane_number;
  freed.credits = count;
  at<&ElanNi::on_slots>(store(kSlotsFreedBytes), hw::kDoorbellEvent, id);
}

void ElanNi::on_slots(std::uint32_t id) {
  const RdmaPacket& freed = packet(id);
  of(freed.dest).slots[freed.lane] += freed.credits;
  let_go(id);
}

// --- DMA thread

// One queue DMA at a time for each destination's lane, so that one that is refused is not passed.
void ElanNi::next_of(Rank own, Rank peer, std::uint8_t number) {
  Lane& to = lane(own, peer, number);
  if (to.busy || to.waiting.empty()) return;
  to.busy = true;
  const std::uint32_t id = to.waiting.front();
  to.waiting.pop_front();
  run(id);
}

void ElanNi::run(std::uint32_t message) {
  runnable_.push_back(message);
  pump();
}

void ElanNi::pump() {
  while (!runnable_.empty() && fetching_ < kAhead) {
    const std::uint32_t id = runnable_.front();
    const std::uint32_t part = is_dma(packet(id).kind) ? cut(id) : id;
    RdmaPacket& whole = packet(id);
    const bool over = part == id || whole.started == whole.size;
    if (over || ++sliced_ == ni_.slice_packets) {
      sliced_ = 0;
      runnable_.pop_front();
      if (!over) runnable_.push_back(id);
    }
    ++fetching_;
    const Cycles takes = ni_.dma + walks_of_source(packet(part));
    at<&ElanNi::on_started>(after(dma_, takes), hw::kNiTurnEvent, part);
  }
}

// The next packet of a DMA.
std::uint32_t ElanNi::cut(std::uint32_t message) {
  const std::uint32_t part = parts_.packets.take();
  RdmaPacket& cut = packet(part);
  RdmaPacket& whole = packet(message);
  const std::uint64_t bytes = std::min<std::uint64_t>(ni_.packet_bytes, whole.size - whole.started);
  cut.kind = whole.kind;
  cut.source = whole.source;
  cut.dest = whole.dest;
  cut.operation = whole.operation;
  cut.key = whole.key;
  cut.offset = whole.offset + whole.started;
  cut.address = whole.address + whole.started;
  cut.reply_address = whole.reply_address + whole.started;
  cut.size = whole.size;
  cut.named = whole.named;
  cut.parent = message;
  cut.background = whole.background;
  cut.bytes = static_cast<std::uint32_t>(bytes);
  whole.started += bytes;
  return part;
}

void ElanNi::on_started(std::uint32_t id) {
  RdmaPacket& sent = packet(id);
  if (sent.kind == RdmaKind::send) sent.bytes = static_cast<std::uint32_t>(sent.size);
  const bool elsewhere = has_data(sent.kind) && sent.bytes > 0 && !sent.with_entry && !sent.ready;
  const bool here = sent.background ? ni_.background.main_memory == 0
                                    : is_read(sent) && is_placed(of(sent.source), sent.address);
  if (!elsewhere) return on_fetched(id);
  const Ps ready = here ? own_memory(sent.bytes) : read(sent.bytes);
  if (ready == now()) return on_fetched(id);
  at<&ElanNi::on_fetched>(ready, hw::kDmaEvent, id);
}

void ElanNi::on_fetched(std::uint32_t id) {
  RdmaPacket& sent = packet(id);
  sent.ready = true;
  if (is_read(sent) && sent.bytes > 0 && !sent.background) {
    (void)of(sent.source).memory->read(sent.address, parts_.packets.payload(id), sent.bytes);
  }
  if (sent.kind == RdmaKind::reduce && is_by_interfaces(sent)) {
    --fetching_;
    take_operand(id);
    return pump();
  }
  ready_.push_back(id);
  open_some();
}

void ElanNi::open_some() {
  while (!ready_.empty() && open_ < ni_.circuits) {
    const std::uint32_t id = ready_.front();
    ready_.pop_front();
    --fetching_;
    ++open_;
    RdmaPacket& sent = packet(id);
    if (sent.kind == RdmaKind::reduce && !is_by_interfaces(sent)) {
      open_operand(id);
      continue;
    }
    const std::uint64_t bytes =
        parts_.network_params.header_bytes + (has_data(sent.kind) ? sent.bytes : 0);
    const Peer first = parts_.ranks.node_of(sent.dest);
    const Peer last = first + sent.named.members - 1;
    if (first == self_ && last == self_) {
      const Ps takes = time_for(Bytes{bytes}, parts_.network_params.link);
      at<&ElanNi::on_looped>(loop_.acquire(now(), takes) + takes, hw::kTailEvent, id);
      continue;
    }
    const bool urgent = sent.kind == RdmaKind::send && sent.queue + 1u == kLanes;
    sent.circuit = parts_.circuits.open(
        now(), {id, self_, first, last, bytes, urgent, sent.kind == RdmaKind::query});
  }
  pump();
}

// To a rank of this node: it does not get on the wire.
void ElanNi::on_looped(std::uint32_t id) { arrived(id); }

void ElanNi::acknowledged(std::uint32_t id, hw::Outcome outcome) {
  --open_;
  if (outcome == hw::Outcome::broken) {
    if (!try_again(id)) give_up(id);
    return open_some();
  }
  if (parts_.faults != nullptr) parts_.faults->forget(id);
  RdmaPacket& sent = packet(id);
  switch (sent.kind) {
    case RdmaKind::send: {
      if (outcome == hw::Outcome::unsuccessful) {
        at<&ElanNi::on_retry>(now() + ni_.retry, hw::kNiTimerEvent, id);
        break;
      }
      if (sent.signalled) {
        tell(sent.source, {kNoOperation, sent.dest, 0, sent.queue, 1}, ni_.event_bytes);
      }
      sent_to_queue(id);
      break;
    }
    case RdmaKind::query:
      // The thread looks at what came back.
      sent.a = outcome == hw::Outcome::done ? 1 : 0;
      sent.ok = outcome != hw::Outcome::refused;
      at<&ElanNi::on_looked>(after(thread_, ni_.thread_look), hw::kNiTurnEvent, id);
      break;
    case RdmaKind::read:
      if (outcome == hw::Outcome::done) {
        let_go(id);  // the data end it
      } else {
        complete(id, false);
      }
      break;
    case RdmaKind::atomic:
      complete(id, outcome == hw::Outcome::done);
      break;
    case RdmaKind::reduce:
    case RdmaKind::reduced:
      let_go(id);
      break;
    default:
      part_done(id, outcome);
  }
  open_some();
}

void ElanNi::sent_to_queue(std::uint32_t id) {
  const RdmaPacket& sent = packet(id);
  const Rank own = sent.source;
  const Rank peer = sent.dest;
  const std::uint8_t number = sent.queue;
  let_go(id);
  lane(own, peer, number).busy = false;
  next_of(own, peer, number);
}

// A packet broke on the wires; its data are still here. False: that was once too often.
bool ElanNi::try_again(std::uint32_t id) {
  const Ps pause = parts_.faults->pause(id, ni_.retry);
  if (pause == kNever) return false;
  at<&ElanNi::on_again>(now() + pause, hw::kNiTimerEvent, id);
  return true;
}

void ElanNi::on_again(std::uint32_t id) {
  if (packet(id).kind == RdmaKind::query) return on_thread(id);
  ready_.push_back(id);
  ++fetching_;
  open_some();
}

// Its event fails; of a packet to a queue, and of a reduction's, the host hears that the peer is
// lost.
void ElanNi::give_up(std::uint32_t id) {
  parts_.faults->forget(id);
  RdmaPacket& sent = packet(id);
  switch (sent.kind) {
    case RdmaKind::query:
      sent.a = 0;
      sent.ok = false;
      return at<&ElanNi::on_looked>(after(thread_, ni_.thread_look), hw::kNiTurnEvent, id);
    case RdmaKind::read:
    case RdmaKind::atomic:
      return complete(id, false);
    case RdmaKind::send:
      tell(sent.source, {kNoOperation, sent.dest, 0, sent.queue, 0}, ni_.event_bytes);
      return sent_to_queue(id);
    case RdmaKind::reduce:
    case RdmaKind::reduced:
      tell(parts_.ranks.rank_at(self_, 0), {kNoOperation, sent.dest, 0, 0, 0}, ni_.event_bytes);
      return let_go(id);
    default:
      return part_done(id, hw::Outcome::broken);
  }
}

void ElanNi::on_looked(std::uint32_t id) { complete(id, packet(id).ok); }

void ElanNi::on_retry(std::uint32_t id) { run(id); }

// Data have no packet of their own for the whole message's end.
void ElanNi::part_done(std::uint32_t id, hw::Outcome outcome) {
  const std::uint32_t message = packet(id).parent;
  RdmaPacket& whole = packet(message);
  whole.acknowledged += packet(id).bytes;
  if (outcome != hw::Outcome::done) whole.b = 1;
  let_go(id);
  if (whole.acknowledged < whole.size) return;
  if (whole.background) return background_done(message);
  if (whole.kind == RdmaKind::read_data) return let_go(message);
  complete(message, whole.b == 0);
}

void ElanNi::complete(std::uint32_t id, bool ok) {
  const RdmaPacket& message = packet(id);
  if (end_fetch(message.operation, ok)) return let_go(id);
  tell(message.source,
       {message.operation, message.dest, message.a, 0, static_cast<std::uint8_t>(ok ? 1 : 0)},
       ni_.event_bytes);
  let_go(id);
}

// The host sees it once its word is in host memory; nothing is written for `bytes` of 0.
void ElanNi::tell(Rank rank, const RdmaCompletion& completion, std::uint64_t bytes) {
  const std::uint32_t id = parts_.packets.take();
  std::memcpy(parts_.packets.payload(id), &completion, sizeof completion);
  packet(id).dest = rank;
  at<&ElanNi::on_told>(bytes == 0 ? now() : write(bytes), hw::kDmaEvent, id);
}

void ElanNi::on_told(std::uint32_t id) {
  RdmaCompletion completion;
  std::memcpy(&completion, parts_.packets.payload(id), sizeof completion);
  const RdmaHostSink host = of(packet(id).dest).host;
  let_go(id);
  host.completed(host.context, completion);
}

}  // namespace fairlead::fabric::model
