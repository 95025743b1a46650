#include "fairlead/fabric/model/lanai/ni_hardware.h"

#include <algorithm>
#include <cstring>

#include "fairlead/base/prefetch.h"
#include "fairlead/hw/resource.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {

using hw::kDmaEvent;
using hw::kDoorbellEvent;
using hw::kVisibleEvent;

namespace {
// What the processor and the DMA engine do, as traces name it: NiEvent's and DmaKind's.
constexpr const char* kTurnNames[] = {"descriptor",       "fetched",          "forward",
                                      "transmitted",      "received",         "delivered",
                                      "landed",           "corrupt",          "timer",
                                      "start DMA",        "copied",           "look",
                                      "other job's post", "other job's data", "other job's packet",
                                      "other job's copy"};
constexpr const char* kDmaNames[] = {
    "fetch",  "deliver", "completions", "answer",           "free buffers",    "land",
    "notify", "status",  "rdma",        "other job's data", "other job's copy"};
// What the header of a page transfer has beside a packet's: virtual address and counter.
constexpr std::uint64_t kPageHeaderBytes = 12;
}  // namespace

NiHardware::NiHardware(const LanaiParts& parts, Peer self, PortCounters& counters,
                       std::uint64_t* words)
    : parts_(parts),
      counters_(counters),
      processor_(parts.firmware, this, self),
      bus_(parts.bus, parts.params.dma_fixed),
      ranks_here_(std::max(parts.nodes.ranks_on(self), 1U)),
      words_(words) {
  if (ranks_here_ > 1) {
    more_sides_ = std::make_unique<Side[]>(ranks_here_ - 1);
    memory_ = std::make_unique<hw::HostMemory>(ranks_here_ + 1, parts.memory_rate);
  }
  for (std::uint32_t place = 0; place < ranks_here_; ++place) {
    side(place).host_buffers = parts.shares.host_buffers;
  }
}

void NiHardware::on_work(void* self, hw::NiWork work) {
  auto* ni = static_cast<NiHardware*>(self);
  const Ps began = ni->processor_.now();
  if (ni->parts_.journeys != nullptr) [[unlikely]]
    ni->show_turn_begin(work);
  if (work.kind == kHardware) {
    ni->wake_queued_ = false;
    if (ni->has_doorbells()) [[unlikely]] {
      ni->program_->turn(ni->program_context_, work);
    } else {
      ni->start_next();
    }
  } else if (work.kind == kCopied) {
    ni->charge(Step::dma_complete);
    ni->charge(Step::host_ring);
  } else if (work.kind >= kOtherPosted) [[unlikely]] {
    if (ni->has_doorbells()) {
      ni->program_->turn(ni->program_context_, work);
    } else {
      ni->other_turn(work);
    }
  } else {
    ni->program_->turn(ni->program_context_, work);
  }
  // Nothing else to do: completions go out though their batch is not full.
  ni->report_all();
  if (ni->parts_.journeys != nullptr) [[unlikely]]
    ni->show_turn_end(work);
  if (ni->parts_.figures != nullptr) [[unlikely]]
    ni->count_turn(work.kind, began);
}

std::span<const char* const> NiHardware::handlers() { return kTurnNames; }

// With the turn of the main loop that follows.
void NiHardware::count_turn(std::uint32_t kind, Ps began) const {
  parts_.figures->handled(
      kind,
      processor_.now() - began + parts_.firmware.step[static_cast<std::size_t>(Step::main_loop)]);
  parts_.figures->bus(self(), processor_.now(), bus_.busy());
}

void NiHardware::trace(TraceWriter& writer) {
  trace_processor_ = TraceLane(writer, {self(), hw::kNiProcessorLine});
  trace_dma_ = TraceLane(writer, {self(), hw::kHostDmaLine});
  bus_.trace(TraceLane(writer, {self(), hw::kBusLine}));
}

void NiHardware::show_turn_begin(hw::NiWork work) {
  turn_began_ = processor_.now();
  turn_packet_ = kNoPacket;
  if (work.kind != kDescriptor && work.kind != kFetched && work.kind != kReceived) return;
  turn_packet_ = work.packet;
  parts_.journeys->mark(
      work.packet, work.kind == kReceived ? Stage::wait_ni_receive : Stage::wait_ni, turn_began_);
}

void NiHardware::show_turn_end(hw::NiWork work) {
  const Ps now = processor_.now();
  trace_processor_.interval(turn_began_, now, kTurnNames[work.kind]);
  if (work.kind == kDescriptor || work.kind == kFetched || work.kind == kReceived) {
    parts_.journeys->passes(work.packet, {self(), hw::kNiProcessorLine}, turn_began_);
  }
  if (turn_packet_ == kNoPacket) return;
  parts_.journeys->mark(turn_packet_, work.kind == kReceived ? Stage::ni_receive : Stage::ni_send,
                        now);
}

void NiHardware::show_transmit(PacketId id) {
  const PacketKind kind = packet(id).header.client.kind;
  if (kind == PacketKind::ack) return;
  // A copy that the NI made.
  if (!parts_.journeys->known(id)) parts_.journeys->begin(id, self(), turn_began_);
  parts_.journeys->mark(id, Stage::wait_credit, turn_began_);
  leaves_turn(id, Stage::ni_send);
}

void NiHardware::show_dma(const DmaRequest& done, Ps seen) {
  trace_dma_.interval(bus_.dma_start(), parts_.engine.now(),
                      kDmaNames[static_cast<std::size_t>(done.kind)]);
  if (done.kind == DmaKind::completion || done.kind == DmaKind::buffers ||
      done.kind == DmaKind::status) {
    return;
  }
  parts_.journeys->passes(done.id, {self(), hw::kHostDmaLine}, bus_.dma_start());
  if (done.kind == DmaKind::fetch) return;
  parts_.journeys->arrived(done.id);
  parts_.journeys->mark(done.id, Stage::deliver_dma, seen);
}

void NiHardware::show_visible(DmaKind kind, PacketId id) {
  if (kind == DmaKind::completion || kind == DmaKind::buffers || kind == DmaKind::status) return;
  parts_.journeys->mark(id, Stage::visibility, parts_.engine.now());
  // A packet that was delivered ends with its host.
  if (kind == DmaKind::deliver || packet(id).holds == Holds::host_buffer) return;
  parts_.journeys->end(id, self(), packet(id).header.client.size, parts_.engine.now());
}

void NiHardware::report(std::uint32_t place, std::uint64_t cookie) {
  Side& to = side(place);
  to.completions.push_back(cookie);
  if (++to.unreported >= parts_.params.completion_batch) request_batch(place);
}

void NiHardware::report_all() {
  for (std::uint32_t place = 0; place < ranks_here_; ++place) {
    if (side(place).unreported > 0 && processor_.idle_after_this()) request_batch(place);
  }
}

void NiHardware::request_batch(std::uint32_t place) {
  Side& to = side(place);
  to.batches.push_back(to.unreported);
  to.unreported = 0;
  charge(Step::completion);
  request(DmaKind::completion, place, 0);
}

void NiHardware::complete(std::uint32_t place, std::uint64_t cookie) {
  Side& to = side(place);
  to.completions.push_back(cookie);
  to.batches.push_back(1);
  request(DmaKind::completion, place, 0);
}

void NiHardware::send_buffer_free(std::uint32_t place) {
  // No transfer to carry the count in sight: one of its own before the host runs dry.
  if (++side(place).free_unreported * 4 == parts_.shares.send_buffers) {
    request(DmaKind::buffers, place, 0);
  }
}

void NiHardware::request(DmaKind kind, std::uint32_t place, PacketId id) {
  dma_queue_.push_back({kind, static_cast<std::uint8_t>(place), id});
  count_dma();
  hold_back();
  if (processor_.running() && may_start()) start_next();
}

bool NiHardware::may_start() const {
  if (dma_running_ || dma_queue_.empty()) return false;
  const DmaRequest& next = dma_queue_.front();
  return next.kind != DmaKind::deliver || side(next.place).host_buffers > 0;
}

// What waits for a buffer of one rank lets those of the others pass; what is for the same rank's
// memory stays behind it.
void NiHardware::hold_back() {
  if (ranks_here_ == 1) return;
  while (!dma_running_ && !dma_queue_.empty()) {
    const DmaRequest next = dma_queue_.front();
    const bool to_memory = next.kind == DmaKind::deliver || next.kind == DmaKind::land ||
                           next.kind == DmaKind::notify || next.kind == DmaKind::status ||
                           next.kind == DmaKind::rdma;
    Side& to = side(next.place);
    const bool waits = next.kind == DmaKind::deliver && to.host_buffers == 0;
    if (!to_memory || (!waits && to.held.empty())) return;
    to.held.push_back(next);
    dma_queue_.pop_front();
  }
}

// There are buffers again: what was held back is the oldest there is for this rank.
void NiHardware::take_back(Side& of) {
  if (of.held.empty()) return;
  std::vector<DmaRequest> queued;
  for (; !dma_queue_.empty(); dma_queue_.pop_front()) queued.push_back(dma_queue_.front());
  const std::size_t running = dma_running_ ? 1 : 0;
  if (dma_running_) dma_queue_.push_back(queued.front());
  for (; !of.held.empty(); of.held.pop_front()) dma_queue_.push_back(of.held.front());
  for (std::size_t i = running; i < queued.size(); ++i) dma_queue_.push_back(queued[i]);
}

void NiHardware::deliver_to_all(PacketId id) {
  packet(id).to = 0;
  if (ranks_here_ == 1) return request(DmaKind::deliver, 0, id);
  spreads_.push_back({id, ranks_here_});
  for (std::uint32_t place = 0; place < ranks_here_; ++place) {
    if (place > 0) charge(Step::deliver);
    const PacketId one = image(id);
    NiPacket& made = packet(one);
    made.origin = id;
    made.to = static_cast<std::uint8_t>(place);
    made.copy = true;
    request(DmaKind::deliver, place, one);
  }
}

// The last one is what the program waits for.
void NiHardware::copy_delivered(PacketId origin) {
  const auto found = std::find_if(spreads_.begin(), spreads_.end(),
                                  [origin](const Spread& one) { return one.id == origin; });
  if (--found->left > 0) return processor_.submit({kCopied, origin});
  spreads_.erase(found);
  const NiPacket& whole = packet(origin);
  processor_.submit({kDelivered, whole.origin, whole.peer});
  free_packet(origin);
}

std::uint64_t NiHardware::transfer_bytes(const DmaRequest& request) {
  switch (request.kind) {
    case DmaKind::fetch:
      return packet(request.id).fetch_bytes;
    case DmaKind::deliver:
      return sizeof(ClientHeader) / 2 + packet(request.id).header.client.size;
    case DmaKind::land:
    case DmaKind::other_fetch:
    case DmaKind::other_deliver:
      return packet(request.id).header.client.size;
    case DmaKind::rdma:
      return packet(request.id).header.client.size - packet(request.id).page_bytes;
    default:
      return 8;
  }
}

// The control program starts the engine and stays with it until the first burst is through; the
// rest of a transfer overlaps with its other work.
void NiHardware::start_next() {
  if (!may_start()) return;
  const DmaRequest started = dma_queue_.front();
  dma_running_ = true;
  if (started.kind == DmaKind::deliver) --side(started.place).host_buffers;
  const std::uint64_t bytes = transfer_bytes(started);
  bus_.start_dma(processor_.now(), bytes);
  if (memory_ != nullptr) [[unlikely]] {
    const Ps alone = bus_.dma_end() - bus_.dma_start();
    bus_.hold_up_dma(memory_->use(ranks_here_, bus_.dma_start(), alone, bytes) - alone);
  }
  if (parts_.engine.path() != nullptr) [[unlikely]]
    parts_.engine.path()->reach(processor_.now() + parts_.params.dma_fixed, hw::kDmaResource);
  processor_.hold(parts_.params.dma_fixed);
  parts_.engine.at(bus_.dma_end(), self(), kDmaEvent, &NiHardware::on_dma_end, this, started.id);
}

void NiHardware::on_dma_end(void* self, std::uint64_t packet, std::uint64_t) {
  auto* ni = static_cast<NiHardware*>(self);
  if (ni->bus_.dma_end() > ni->parts_.engine.now()) {  // programmed writes came between its bursts
    ni->parts_.engine.at(ni->bus_.dma_end(), ni->self(), kDmaEvent, &NiHardware::on_dma_end, self,
                         packet);
    return;
  }
  ni->dma_done();
}

void NiHardware::dma_done() {
  const DmaRequest done = dma_queue_.front();
  dma_queue_.pop_front();
  count_dma();
  dma_running_ = false;
  bus_.dma_ended();
  const Ps seen = parts_.engine.now() + parts_.params.dma_latency - parts_.params.dma_fixed;
  if (parts_.engine.path() != nullptr) [[unlikely]]
    parts_.engine.path()->reach(seen, hw::kDmaResource);
  if (parts_.journeys != nullptr) [[unlikely]]
    show_dma(done, seen);
  if (done.kind == DmaKind::fetch) {
    move_rdma(done);
    parts_.engine.at(seen, self(), kDmaEvent, &NiHardware::on_fetched, this, done.id);
  } else if (done.kind >= DmaKind::other_fetch) [[unlikely]] {
    other_copied(done, seen);
  } else if (done.kind == DmaKind::rdma) {
    move_rdma(done);
    parts_.engine.at(seen + parts_.params.host_visible, self(), kVisibleEvent,
                     &NiHardware::on_visible, this, done.id,
                     static_cast<std::uint64_t>(done.kind) | std::uint64_t{done.place} << 8);
    processor_.submit({kLanded, done.id, packet(done.id).peer});
  } else {
    // A packet's full flag follows its data in a transaction of its own; a fetch-and-add's result
    // is its own flag.
    const Ps visible = done.kind == DmaKind::answer ? seen : seen + parts_.params.host_visible;
    if (done.kind == DmaKind::status || done.kind == DmaKind::notify) write_status(done.id);
    const bool lands = done.kind == DmaKind::land;
    const bool told_later = (lands || done.kind == DmaKind::deliver) && packet(done.id).notifies;
    if (!told_later && done.kind != DmaKind::status) {
      parts_.engine.at(visible, self(), kVisibleEvent, &NiHardware::on_visible, this, done.id,
                       static_cast<std::uint64_t>(done.kind) | std::uint64_t{done.place} << 8);
    }
    // A notification is waited for: its engine starts before the transfer is retired.
    if (lands && packet(done.id).notifies) wake();
    if (lands || done.kind == DmaKind::deliver) {
      NiPacket& delivered = packet(done.id);
      if (delivered.copy) [[unlikely]] {
        delivered.copy = false;
        copy_delivered(delivered.origin);
      } else {
        processor_.submit({lands ? kLanded : kDelivered, delivered.origin, delivered.peer});
      }
      delivered.origin = kNoPacket;
      delivered.holds = lands ? Holds::nothing : Holds::host_buffer;
    }
  }
  wake();
}

void NiHardware::wake() {
  hold_back();
  if (!may_start() || wake_queued_) return;
  wake_queued_ = true;
  processor_.submit({kHardware, dma_queue_.front().id});
}

void NiHardware::on_fetched(void* self, std::uint64_t packet, std::uint64_t) {
  auto* ni = static_cast<NiHardware*>(self);
  const auto id = static_cast<PacketId>(packet);
  if (ni->parts_.journeys != nullptr) [[unlikely]]
    ni->parts_.journeys->mark(id, Stage::fetch_dma, ni->parts_.engine.now());
  ni->processor_.submit({kFetched, id});
}

void NiHardware::on_visible(void* self, std::uint64_t id, std::uint64_t what) {
  auto* ni = static_cast<NiHardware*>(self);
  const auto kind = static_cast<DmaKind>(what & 0xff);
  Side& to = ni->side(static_cast<std::uint32_t>(what >> 8));
  const HostSink& host = *to.host;
  void* const context = to.context;
  if (to.free_unreported > 0) {
    host.buffers_free(context, to.free_unreported);
    to.free_unreported = 0;
  }
  // Nothing tells of it; who waits for his memory to change looks again. The packet may be gone.
  if (kind == DmaKind::rdma) return host.doorbell_free(context);
  if (ni->parts_.journeys != nullptr) [[unlikely]]
    ni->show_visible(kind, static_cast<PacketId>(id));
  switch (kind) {
    case DmaKind::deliver:
    case DmaKind::land:
    case DmaKind::notify:
      host.received(context, static_cast<PacketId>(id));
      break;
    case DmaKind::completion: {
      const std::uint32_t batch = to.batches.front();
      to.batches.pop_front();
      for (std::uint32_t i = 0; i < batch; ++i) {
        const std::uint64_t cookie = to.completions.front();
        to.completions.pop_front();
        host.completed(context, cookie);
      }
      break;
    }
    case DmaKind::answer: {
      const NiPacket& packet = ni->packet(static_cast<PacketId>(id));
      host.answered(context, packet.cookie, packet.operand);
      ni->free_packet(static_cast<PacketId>(id));
      break;
    }
    default:
      break;
  }
}

void NiHardware::transmit(Peer peer, PacketId id) {
  if (parts_.journeys != nullptr) [[unlikely]]
    show_transmit(id);
  const ClientHeader& header = packet(id).header.client;
  const std::uint64_t bytes = parts_.header_bytes + header.size +
                              (header.kind == PacketKind::page_transfer ? kPageHeaderBytes : 0);
  parts_.network.inject(processor_.now(), id, self(), peer, bytes);
}

PacketId NiHardware::make_data(std::uint32_t bytes) {
  const PacketId id = make(PacketKind::data, self(), bytes);
  if (parts_.journeys != nullptr) [[unlikely]]
    parts_.journeys->begin(id, self(), processor_.now());
  if (parts_.figures != nullptr) [[unlikely]]
    parts_.figures->begins(id, processor_.now());
  return id;
}

PacketId NiHardware::make(PacketKind kind, Peer peer, std::size_t payload_bytes) {
  const std::size_t bytes = sizeof(NiPacket) + payload_bytes;
  const PacketId id = parts_.pool.take(bytes);
  NiPacket& made = packet(id);
  std::memset(static_cast<void*>(&made), 0, sizeof made);
  made.id = id;
  made.slot_bytes = static_cast<std::uint16_t>(bytes);
  made.header.client.kind = kind;
  made.peer = peer;
  made.origin = kNoPacket;
  return id;
}

PacketId NiHardware::image(PacketId id) {
  const std::size_t bytes = std::min<std::size_t>(sizeof(NiPacket) + packet(id).header.client.size,
                                                  parts_.pool.largest_bytes());
  const PacketId made = parts_.pool.take(bytes);
  NiPacket& image = packet(made);
  std::memcpy(static_cast<void*>(&image), &packet(id), bytes);
  image.id = made;
  image.slot_bytes = static_cast<std::uint16_t>(bytes);
  image.holds = Holds::nothing;
  image.origin = kNoPacket;
  if (parts_.journeys != nullptr) [[unlikely]]
    parts_.journeys->copy(id, made);
  if (parts_.figures != nullptr) [[unlikely]]
    parts_.figures->copied(id, made);
  return made;
}

void NiHardware::wake_at(Ps at) {
  at = std::max(at, parts_.engine.now());
  if (at >= timer_at_) return;
  timer_at_ = at;
  parts_.engine.at(at, self(), hw::kNiTimerEvent, &NiHardware::on_timer, this,
                   static_cast<std::uint64_t>(at.count));
}

void NiHardware::on_timer(void* self, std::uint64_t at, std::uint64_t) {
  auto* ni = static_cast<NiHardware*>(self);
  if (Ps{static_cast<std::int64_t>(at)} != ni->timer_at_) return;  // an earlier one was set since
  ni->timer_at_ = kNever;
  ni->processor_.submit({kTimer, 0});
}

void NiHardware::look_at(Ps at) {
  if (at == look_at_) return;
  look_at_ = at;
  if (at == kNever) return;
  parts_.engine.at(at, self(), hw::kNiTimerEvent, &NiHardware::on_look, this,
                   static_cast<std::uint64_t>(at.count));
}

void NiHardware::on_look(void* self, std::uint64_t at, std::uint64_t) {
  auto* ni = static_cast<NiHardware*>(self);
  if (Ps{static_cast<std::int64_t>(at)} != ni->look_at_) return;  // another one was set since
  ni->look_at_ = kNever;
  ni->processor_.submit({kLook, 0});
}

void NiHardware::read_now() {
  const Ps start = dma_running_ ? std::max(bus_.dma_end(), processor_.now()) : processor_.now();
  busy_until(start + parts_.params.dma_latency);
}

bool NiHardware::add_words(Rank rank, std::uint32_t segment, std::uint32_t count) {
  const auto own = std::count_if(word_segments_.begin(), word_segments_.end(),
                                 [rank](const WordSegment& one) { return one.rank == rank; });
  if (own == kWordSegments || count > kWords - words_used_) return false;
  if (words_ == nullptr) {
    own_words_ = std::make_unique<ReservedMemory>(kWords * sizeof(std::uint64_t));
    words_ = reinterpret_cast<std::uint64_t*>(own_words_->data());
  }
  word_segments_.push_back({rank, segment, words_used_, count});
  words_used_ += count;
  return true;
}

std::uint64_t* NiHardware::find_word(Rank rank, std::uint32_t segment, std::uint64_t offset) {
  // The newest first: a segment's name may have been used before.
  for (std::size_t i = word_segments_.size(); i > 0; --i) {
    const WordSegment& entry = word_segments_[i - 1];
    if (entry.segment != segment || entry.rank != rank) continue;
    if (offset % 8 != 0 || offset / 8 >= entry.count) return nullptr;
    return &words_[entry.first + offset / 8];
  }
  return nullptr;
}

void NiHardware::ring_doorbell(Ps at, PacketId id) {
  parts_.engine.at(at, self(), kDoorbellEvent, &NiHardware::on_doorbell, this, id);
}

void NiHardware::on_doorbell(void* self, std::uint64_t packet, std::uint64_t) {
  auto* ni = static_cast<NiHardware*>(self);
  if (ni->has_doorbells()) [[unlikely]]
    return ni->program_->rung(ni->program_context_, static_cast<PacketId>(packet),
                              ni->parts_.engine.now());
  static_cast<NiHardware*>(self)->processor_.submit({kDescriptor, static_cast<PacketId>(packet)});
}

void NiHardware::return_host_buffers(std::uint32_t place, Ps at, std::uint32_t count) {
  parts_.engine.at(at, self(), kDoorbellEvent, &NiHardware::on_host_buffers, this, count, place);
}

void NiHardware::on_host_buffers(void* self, std::uint64_t count, std::uint64_t place) {
  auto* ni = static_cast<NiHardware*>(self);
  Side& of = ni->side(static_cast<std::uint32_t>(place));
  of.host_buffers += static_cast<std::uint32_t>(count);
  ni->take_back(of);
  ni->wake();
}

void NiHardware::prepare(PacketId id, unsigned stage) const {
  if (stage == 0) return prefetch(this, kHotBytes);
  const auto* packet = reinterpret_cast<const NiPacket*>(parts_.pool.find(id));
  if (stage == 1) {
    if (packet != nullptr) prefetch(packet, sizeof *packet);
  }
  if (program_ == nullptr) return;
  if (stage == 1) return program_->prepare(program_context_, 0, Ahead::itself);
  program_->prepare(program_context_, packet == nullptr ? 0 : packet->peer, Ahead::packet_of_peer);
}

void NiHardware::prepare_visible(void* self, std::uint64_t id, std::uint64_t, unsigned stage) {
  const auto* ni = static_cast<const NiHardware*>(self);
  if (stage == 0) return prefetch(ni, kHotBytes);
  if (stage == 1) {
    if (const std::byte* packet = ni->parts_.pool.find(static_cast<PacketId>(id));
        packet != nullptr) {
      prefetch(packet, sizeof(NiPacket));
    }
    return prefetch(ni->first_side_.context, kHostBytes);
  }
  ni->first_side_.host->prepare(ni->first_side_.context);
}

void NiHardware::prepare_timer(void* self, std::uint64_t at, std::uint64_t, unsigned stage) {
  const auto* ni = static_cast<const NiHardware*>(self);
  if (stage == 0) return prefetch(ni, kHotBytes);
  // Nothing comes of one that is not the earliest any more.
  if (ni->program_ == nullptr || Ps{static_cast<std::int64_t>(at)} != ni->timer_at_) return;
  ni->program_->prepare(ni->program_context_, 0, stage == 1 ? Ahead::itself : Ahead::timers);
}

void NiHardware::prepare_turn(void* processor, std::uint64_t id, std::uint64_t, unsigned stage) {
  // It lies in the NI's first line.
  if (stage == 0) return prefetch(processor, kHotBytes);
  const auto* ni = static_cast<const hw::NiProcessor*>(processor)->context();
  const auto* mine = static_cast<const NiHardware*>(ni);
  const hw::NiWork* const work = mine->processor_.next();
  if (stage == 1 || work == nullptr || work->kind != kDelivered) {
    return mine->prepare(static_cast<PacketId>(id), stage);
  }
  // Its packet may be gone.
  if (mine->program_ == nullptr) return;
  mine->program_->prepare(mine->program_context_, work->peer, Ahead::packet_of_peer);
}

}  // namespace fairlead::fabric::model
