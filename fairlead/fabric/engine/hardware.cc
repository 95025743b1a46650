#include "fairlead/fabric/engine/hardware.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/fabric/shm/doorbell.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric::engine {
namespace {

// Looked at in one round: nobody waits long for the others (hardware_wire.cc).
constexpr int kPostedBudget = 32;
// Packets of one rank that are not acknowledged yet; then its send buffers fill up.
constexpr std::uint32_t kCopiesMax = 128;
// A rank that takes what waits for it rings no bell.
constexpr Ps kNap = microseconds(500);
// Answers that a rank does not look at.
constexpr std::size_t kAnswersWaitingMax = 65'536;

}  // namespace

EngineHardware::EngineHardware(ShmJob& job, Nic& wire, const HardwareOptions& options)
    : job_(job),
      wire_(wire),
      options_(options),
      rails_(wire.caps(options.self).rails),
      status_(queue_area(job, options.nodes.leader_of(options.self)).status()),
      leaving_(std::size_t{options.nodes.count()} * rails_) {
  const ShmView view(job.base(), job.layout());
  for (const Rank rank : ranks()) {
    ranks_.emplace_back(queue_area(job, rank), options_.first).doorbell =
        &view.control(rank).doorbell;
  }
  wire_.attach({.arrived = on_arrived, .context = this, .path_changed = on_path_changed});
  status_.rails.store(rails_);
  const std::uint32_t mtu = wire_.caps(options.self).mtu_bytes;
  FAIRLEAD_CHECK(mtu > sizeof(WireExtra), "an MTU of {} bytes", mtu);
  status_.payload_bytes.store(
      std::min(kPayloadMax, mtu - static_cast<std::uint32_t>(sizeof(WireExtra))));
  look_at_clock();
}

EngineHardware::~EngineHardware() {
  status_.state.store(static_cast<std::uint32_t>(EngineState::gone));
}

void EngineHardware::ready() {
  status_.state.store(static_cast<std::uint32_t>(EngineState::ready));
  for (LocalRank& rank : ranks_) shm_ring(*rank.doorbell);
}

// --- Packets

PacketId EngineHardware::take_slot() {
  if (free_slots_.empty()) {
    const auto first = static_cast<PacketId>(slots_.size() * kChunk);
    slots_.push_back(std::make_unique<std::array<Slot, kChunk>>());
    for (PacketId i = kChunk; i > 0; --i) free_slots_.push_back(first + i - 1);
  }
  const PacketId id = free_slots_.back();
  free_slots_.pop_back();
  Slot& made = slot(id);
  made = Slot{};
  made.packet.id = id;
  made.packet.origin = kNoPacket;
  return id;
}

// A block for what comes in, valid until own().
std::uint32_t EngineHardware::take_block(std::span<const std::byte> payload) {
  if (payload.empty()) return kNone;
  if (free_blocks_.empty()) {
    free_blocks_.push_back(static_cast<std::uint32_t>(blocks_.size()));
    blocks_.emplace_back();
  }
  const std::uint32_t taken = free_blocks_.back();
  free_blocks_.pop_back();
  blocks_[taken].uses = 1;
  blocks_[taken].data = payload.data();
  return taken;
}

void EngineHardware::own(Block& block, std::size_t size) {
  if (block.memory == nullptr) {
    block.memory = std::make_unique_for_overwrite<std::byte[]>(kHeadroom + kPayloadMax);
  }
  std::byte* const mine = block.memory.get() + kHeadroom;
  std::memcpy(mine, block.data, size);
  block.data = mine;
}

void EngineHardware::drop_block(std::uint32_t block) {
  if (block != kNone && --blocks_[block].uses == 0) free_blocks_.push_back(block);
}

void EngineHardware::free_packet(PacketId id) {
  Slot& old = slot(id);
  drop_block(old.block);
  if (old.poster != kNone) --local(old.poster).copies;
  free_slots_.push_back(id);
}

PacketId EngineHardware::image(PacketId id) {
  const PacketId made = take_slot();
  Slot& image = slot(made);
  const Slot& from = slot(id);
  image.packet = from.packet;
  image.packet.id = made;
  image.packet.holds = Holds::nothing;
  image.packet.origin = kNoPacket;
  image.target = from.target;
  image.block = from.block;
  if (image.block != kNone) ++blocks_[image.block].uses;
  return made;
}

PacketId EngineHardware::make_control(PacketKind kind, Peer peer) {
  const PacketId made = take_slot();
  packet(made).header.client.kind = kind;
  packet(made).peer = peer;
  return made;
}

PacketId EngineHardware::make_nothing(Peer node, std::uint64_t number) {
  const PacketId made = take_slot();
  NiPacket& nothing = packet(made);
  nothing.header.client.kind = PacketKind::copy_piece;
  nothing.header.client.source = ranks().front();
  nothing.header.dest_rank = options_.nodes.leader_of(node);
  nothing.operand = number;
  nothing.peer = node;
  nothing.uses = 1;
  return made;
}

PacketId EngineHardware::make_packet(Rank rank, Rank to, std::span<const std::byte> payload) {
  const PacketId made = take_slot();
  Slot& one = slot(made);
  one.block = take_block(payload);
  if (one.block != kNone) own(blocks_[one.block], payload.size());
  one.target = to;
  one.packet.peer = node_of(to);
  one.packet.header.client.source = rank;
  one.packet.header.client.size = static_cast<std::uint32_t>(payload.size());
  one.packet.header.dest_rank = to;
  return made;
}

void EngineHardware::send(PacketId id) {
  Slot& one = slot(id);
  if (one.packet.peer != self()) return sink_.posted(sink_.context, id);
  one.local = true;
  hand_out(id, one.packet.header.client.source);
}

// --- What ranks post

int EngineHardware::poll_ranks() {
  int found = 0;
  for (const Rank rank : ranks()) {
    LocalRank& one = local(rank);
    if (!one.broken) found += take_posted(rank, one);
    for (; !one.waiting.empty(); ++found) {
      const PacketId id = one.waiting.front();
      if (one.broken) {
        one_copy_over(id);
      } else if (!copy_to(one, rank, id)) {
        break;
      }
      one.waiting.pop_front();
    }
    for (; !one.answers.empty() && put_answer(one, one.answers.front()); ++found) {
      one.answers.pop_front();
    }
  }
  return found;
}

int EngineHardware::take_posted(Rank rank, LocalRank& from) {
  RankQueues& queues = from.area.queues();
  const std::uint32_t posted = queues.posted.load(std::memory_order_acquire);
  if (posted == from.taken) [[likely]]
    return 0;
  if (posted - from.taken > kDescriptors) {
    break_off(rank, "more descriptors than its queue holds");
    return 1;
  }
  int taken = 0;
  while (from.taken != posted && from.copies < kCopiesMax && taken < kPostedBudget) {
    const Descriptor descriptor = queues.descriptors[from.taken % kDescriptors];
    if (!take_descriptor(rank, from, descriptor)) {
      break_off(rank, "a descriptor that names no packet it may send");
      return taken + 1;
    }
    ++from.taken;
    ++taken;
  }
  if (taken == 0) return 0;
  queues.posted_taken.store(from.taken, std::memory_order_release);
  from.ring = true;
  return taken;
}

bool EngineHardware::take_descriptor(Rank rank, LocalRank& from, const Descriptor& descriptor) {
  if (descriptor.buffer >= kSendBuffers) return false;
  const NiPacket& shared = from.area.slot(descriptor.buffer);
  NiPacket posted;
  std::memcpy(&posted, &shared, sizeof posted);
  ClientHeader& header = posted.header.client;
  const bool every = descriptor.to == kEveryRank;
  const bool group = header.kind == PacketKind::multicast;
  const bool ask = header.kind == PacketKind::fetch_add;
  if (header.kind != PacketKind::data && !group && !ask) return false;
  if (every != (group && posted.header.dest_rank == 0)) return false;
  if (!every && descriptor.to >= options_.nodes.ranks()) return false;
  if (ask) header.size = 0;  // it is all in the descriptor
  if (header.size > status_.payload_bytes.load(std::memory_order_relaxed)) return false;
  header.source = rank;
  if (!group) posted.header.dest_rank = descriptor.to;

  const PacketId id = take_slot();
  Slot& mine = slot(id);
  mine.packet = NiPacket{};
  mine.packet.header = posted.header;
  mine.packet.operand = posted.operand;
  mine.packet.cookie = posted.cookie;
  mine.packet.any_order = posted.any_order;
  mine.packet.id = id;
  mine.packet.origin = kNoPacket;
  mine.packet.holds = Holds::send_buffer;
  mine.packet.peer = every ? kNone : node_of(descriptor.to);
  mine.target = descriptor.to;
  mine.block = take_block({shared.payload(), header.size});
  if (mine.block != kNone) own(blocks_[mine.block], header.size);
  mine.poster = rank;
  ++from.copies;
  if (every) {
    if (ranks().size() > 1) {
      const PacketId here = image(id);
      slot(here).poster = rank;
      slot(here).local = true;
      ++from.copies;
      hand_out(here, rank);
    }
    if (options_.nodes.count() == 1) {
      free_packet(id);
    } else {
      sink_.posted(sink_.context, id);
    }
  } else if (mine.packet.peer != self()) {
    sink_.posted(sink_.context, id);
  } else if (ask) {
    serve_local_add(id);
  } else {
    mine.local = true;
    hand_out(id, rank);
  }
  return true;
}

void EngineHardware::break_off(Rank rank, const char* what) {
  LocalRank& one = local(rank);
  if (one.broken) return;
  one.broken = true;
  sink_.broken(sink_.context, rank, what);
}

void EngineHardware::serve_local_add(PacketId id) {
  const NiPacket& asked = packet(id);
  const fabric::ClientHeader& header = asked.header.client;
  const WordName name = WordName::read(header);
  if (std::uint64_t* word = find_word(asked.header.dest_rank, name.segment, name.offset8())) {
    ++counters().fetch_adds_served;
    give_answer(header.source, {asked.cookie, name.add(word, asked.operand)});
  } else {
    ++counters().bound_dropped;
  }
  free_packet(id);
}

std::uint64_t* EngineHardware::find_word(Rank rank, std::uint32_t segment, std::uint64_t offset) {
  if (!is_local(rank) || offset % 8 != 0) return nullptr;
  RankQueues& queues = local(rank).area.queues();
  const std::uint32_t segments =
      std::min(queues.word_segments.load(std::memory_order_acquire), kWordSegments);
  for (std::uint32_t i = segments; i > 0; --i) {
    const WordSegment entry = queues.segments[i - 1];
    if (entry.segment != segment) continue;
    const std::uint64_t word = std::uint64_t{entry.first} + offset / 8;
    if (offset / 8 >= entry.count || word >= kWords) return nullptr;
    touched(rank);
    return &queues.words[word];
  }
  return nullptr;
}

// --- What goes to ranks

void EngineHardware::deliver(PacketId id) { hand_out(id, slot(id).packet.header.client.source); }

bool EngineHardware::served(Slot& one) {
  if (one.packet.header.client.kind != PacketKind::data || !is_local(one.target)) return false;
  const std::byte* const data = one.block == kNone ? nullptr : blocks_[one.block].data;
  return sink_.serves(sink_.context, one.target, one.packet, {data, one.packet.header.client.size});
}

void EngineHardware::hand_out(PacketId id, Rank source) {
  Slot& one = slot(id);
  if (served(one)) {
    one.copies_left = 1;
    return one_copy_over(id);
  }
  // One for this function, so that it is not over before its end.
  one.copies_left = 1;
  const auto hand = [&](Rank rank) {
    ++one.copies_left;
    hand_to(local(rank), rank, id);
  };
  if (one.target == kEveryRank) {
    for (const Rank rank : ranks()) {
      if (rank != source) hand(rank);
    }
  } else if (is_local(one.target)) {
    hand(one.target);
  } else {
    ++counters().bound_dropped;
  }
  one_copy_over(id);
}

void EngineHardware::hand_to(LocalRank& to, Rank rank, PacketId id) {
  if (to.broken) return one_copy_over(id);
  if (!to.waiting.empty() || !copy_to(to, rank, id)) to.waiting.push_back(id);
}

// False: the rank has no buffer for it.
bool EngineHardware::copy_to(LocalRank& to, Rank rank, PacketId id) {
  RankQueues& queues = to.area.queues();
  const std::uint32_t offered = queues.offered.load(std::memory_order_acquire) - to.offers;
  const std::uint32_t unseen = to.received - queues.received_taken.load(std::memory_order_acquire);
  if (offered == 0 || unseen == kReceiveSlots) {
    if (!gone(rank)) return false;
    one_copy_over(id);
    return true;
  }
  const std::uint32_t into = queues.offers[to.offers % kReceiveSlots];
  if (offered > kReceiveSlots || unseen > kReceiveSlots || into >= kReceiveSlots) {
    one_copy_over(id);
    break_off(rank, "a receive buffer that it does not have");
    return true;
  }
  ++to.offers;
  const Slot& from = slot(id);
  NiPacket& shared = to.area.slot(kSendBuffers + into);
  NiPacket image{};
  image.header = from.packet.header;
  image.peer = node_of(image.header.client.source);
  std::memcpy(static_cast<void*>(&shared), &image, sizeof image);
  const std::uint32_t size = from.packet.header.client.size;
  if (from.block != kNone) std::memcpy(shared.payload(), blocks_[from.block].data, size);
  queues.receives[to.received % kReceiveSlots] = into;
  queues.received.store(++to.received, std::memory_order_release);
  to.ring = true;
  one_copy_over(id);
  return true;
}

void EngineHardware::one_copy_over(PacketId id) {
  Slot& one = slot(id);
  if (--one.copies_left > 0) return;
  if (!one.local) events_.push_back({false, one.packet.origin, one.packet.peer});
  free_packet(id);
}

void EngineHardware::answer(PacketId id) {
  const NiPacket& came = packet(id);
  const Rank rank = came.header.client.source;
  if (is_local(rank)) {
    give_answer(rank, {came.cookie, came.operand});
  } else {
    ++counters().bound_dropped;
  }
  free_packet(id);
}

void EngineHardware::give_answer(Rank rank, const HostAnswer& answer) {
  LocalRank& to = local(rank);
  if (to.broken) return;
  if (to.answers.empty() && put_answer(to, answer)) return;
  if (to.answers.size() < kAnswersWaitingMax) return to.answers.push_back(answer);
  break_off(rank, "it looks at none of its answers");
}

// False: there is no room.
bool EngineHardware::put_answer(LocalRank& to, const HostAnswer& answer) {
  RankQueues& queues = to.area.queues();
  if (to.answered - queues.answers_taken.load(std::memory_order_acquire) >= kAnswers) return false;
  queues.answers[to.answered % kAnswers] = answer;
  queues.answered.store(++to.answered, std::memory_order_release);
  to.ring = true;
  return true;
}

void EngineHardware::on_path_changed(void* self, Peer node, bool lost) {
  auto& me = *static_cast<EngineHardware*>(self);
  if (node >= EngineStatus::kPathNodes) return;
  std::atomic<std::uint32_t>& path = me.status_.paths[node];
  const std::uint32_t count = path.load(std::memory_order_relaxed);
  if ((count % 2 != 0) == lost) return;
  path.store(count + 1, std::memory_order_relaxed);
  me.status_.path_changes.fetch_add(1, std::memory_order_release);
  for (const Rank rank : me.ranks()) me.touched(rank);
}

void EngineHardware::touched(Rank rank) {
  LocalRank& one = local(rank);
  one.area.queues().touched.fetch_add(1, std::memory_order_release);
  one.ring = true;
}

bool EngineHardware::gone(Rank rank) const {
  const auto state = static_cast<ShmRankState>(
      ShmView(job_.base(), job_.layout()).status(rank).state.load(std::memory_order_relaxed));
  return state == ShmRankState::dead || state == ShmRankState::left;
}

int EngineHardware::poll_events() {
  int ran = 0;
  for (; !events_.empty(); ++ran) {
    const Event event = events_.front();
    events_.pop_front();
    if (event.forward) {
      sink_.forward(sink_.context, event.id, event.peer);
    } else {
      sink_.delivered(sink_.context, event.id, event.peer);
    }
  }
  return ran;
}

void EngineHardware::flush() {
  std::size_t still = 0;
  for (const Peer flow : leaving_flows_) {
    flush_flow(flow);
    if (!leaving_[flow].empty()) leaving_flows_[still++] = flow;
  }
  leaving_flows_.resize(still);
  for (LocalRank& rank : ranks_) {
    if (!rank.ring) continue;
    rank.ring = false;
    shm_ring(*rank.doorbell);
  }
}

void EngineHardware::sleep(Ps until) {
  status_.sleeping.store(1);
  bool work = !leaving_flows_.empty();
  for (const LocalRank& rank : ranks_) {
    if (!rank.waiting.empty() || !rank.answers.empty()) until = std::min(until, now_ + kNap);
    work = work || (!rank.broken && rank.area.queues().posted.load() != rank.taken &&
                    rank.copies < kCopiesMax);
  }
  look_at_clock();
  if (!work && until > now_) {
    ++counters().sleeps;
    wire_.sleep(until - now_);
  }
  status_.sleeping.store(0);
}

}  // namespace fairlead::fabric::engine
