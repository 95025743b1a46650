// The inputter: what arrives is served, answered, and told to the host; events.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "fairlead/fabric/group_hardware.h"
#include "fairlead/fabric/model/elan/elan_ni.h"
#include "fairlead/fabric/model/rdma/changed_word.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {
namespace {

using hw::Outcome;

// lci's Permission bits.
constexpr std::uint32_t kReadBit = 1;
constexpr std::uint32_t kWriteBit = 2;
constexpr std::uint32_t kAtomicBit = 4;
constexpr std::uint32_t kToldBit = 8;
constexpr std::uint64_t kWordBytes = 8;

// In the order of lci's Cmp.
bool holds(std::uint8_t compare, std::uint64_t word, std::uint64_t value) {
  switch (compare) {
    case 0:
      return word == value;
    case 1:
      return word != value;
    case 2:
      return word < value;
    case 3:
      return word <= value;
    case 4:
      return word > value;
    default:
      return word >= value;
  }
}

}  // namespace

void ElanNi::name_memory(Rank rank, std::uint32_t segment, std::uint64_t base, std::uint64_t size) {
  of(rank).segments[segment] = {base, size, 0, false, {}};
}

void ElanNi::permit(Rank rank, std::uint32_t segment, std::uint32_t permissions,
                    std::uint64_t who) {
  const auto found = of(rank).segments.find(segment);
  if (found == of(rank).segments.end()) return;
  Segment& named = found->second;
  named.permissions = permissions;
  if (who == kEverybody) {
    named.everybody = true;
  } else {
    named.allowed.push_back(static_cast<Rank>(who));
  }
}

void ElanNi::forget_memory(Rank rank, std::uint32_t segment) { of(rank).segments.erase(segment); }

void ElanNi::name_counter(Rank rank, std::uint32_t id, std::uint64_t address) {
  of(rank).events[id].address = address;
}

void ElanNi::place(Rank rank, std::uint64_t base, std::uint64_t size) {
  of(rank).placed.push_back({base, size});
}

bool ElanNi::locate(Rank rank, const RdmaPacket& in, std::uint64_t key, std::uint64_t offset,
                    std::uint64_t size, Access access, std::uint64_t* address) {
  Own& own = of(rank);
  if (in.named.used == 0) {
    const std::optional<std::uint64_t> found =
        own.keys.find(key, offset, size, access != Access::write, access != Access::read);
    if (found) *address = *found;
    return found.has_value();
  }
  const auto found = own.segments.find(static_cast<std::uint32_t>(key));
  if (found == own.segments.end()) return false;
  const Segment& named = found->second;
  const std::uint32_t needs = access == Access::read    ? kReadBit
                              : access == Access::write ? kWriteBit
                                                        : kAtomicBit;
  if ((named.permissions & needs) == 0) return false;
  if (!named.everybody &&
      std::find(named.allowed.begin(), named.allowed.end(), in.source) == named.allowed.end()) {
    return false;
  }
  if (offset > named.size || size > named.size - offset) return false;
  *address = named.base + offset;
  return true;
}

bool ElanNi::is_told(const Own& own, const RdmaPacket& in) {
  if (in.named.used == 0 || in.size == 0) return false;
  const auto found = own.segments.find(static_cast<std::uint32_t>(in.key));
  return found != own.segments.end() && (found->second.permissions & kToldBit) != 0;
}

std::uint64_t ElanNi::word(Own& own, std::uint64_t address, std::uint32_t bytes) {
  // Little-endian: of a word of 4 bytes the first ones count.
  std::uint64_t value = 0;
  (void)own.memory->read(address, reinterpret_cast<std::byte*>(&value), bytes);
  return value;
}

// --- Packets

void ElanNi::arrived(std::uint32_t id) {
  const RdmaKind kind = packet(id).kind;
  if (parts_.faults != nullptr && parts_.faults->has_taken(id, self_)) {
    return answer_again(id);
  }
  if (kind == RdmaKind::write || kind == RdmaKind::read_data) {
    // Its blocks were taken as they came; what is left is the end.
    ++packet(id).users;
    const Outcome outcome = take_block(id) ? Outcome::done : Outcome::refused;
    return answer(id, outcome);
  }
  if (kind == RdmaKind::reduced) return take_reduced(id);
  if (kind == RdmaKind::reduce) {
    const std::uint32_t mine = copy_of(id);
    answer(id, Outcome::done);
    return take_operand(mine);
  }
  const bool tests = kind == RdmaKind::atomic || kind == RdmaKind::query;
  const Cycles takes = (tests ? ni_.input + ni_.atomic : ni_.input) + walks_for(packet(id));
  at<&ElanNi::on_input>(after(input_, takes), hw::kNiTurnEvent, id);
}

void ElanNi::answer(std::uint32_t id, Outcome outcome) {
  const RdmaPacket& in = packet(id);
  if (parts_.ranks.node_of(in.source) == self_ && in.named.members == 1) {
    return acknowledged(id, outcome);
  }
  // A query only tests: it does so again.
  if (parts_.faults != nullptr && outcome == Outcome::done && in.kind != RdmaKind::query) {
    parts_.faults->take(id, self_);
  }
  parts_.circuits.answer(in.circuit, self_, outcome);
}

// It has done what it asks for, and its answer did not arrive, or not that of others.
void ElanNi::answer_again(std::uint32_t id) {
  parts_.circuits.answer(packet(id).circuit, self_, Outcome::done);
}

void ElanNi::on_input(std::uint32_t id) {
  switch (packet(id).kind) {
    case RdmaKind::send:
      return packet(id).named.used != 0 ? take_message(id) : take_slot(id);
    case RdmaKind::read:
      return serve_read(id);
    case RdmaKind::atomic:
      return serve_atomic(id);
    case RdmaKind::query:
      return serve_query(id);
    default:
      return answer(id, Outcome::refused);
  }
}

// A queue's next slot, in main memory.
void ElanNi::take_slot(std::uint32_t id) {
  Own& own = of(packet(id).dest);
  std::uint32_t& slots = own.slots[packet(id).queue];
  if (slots == 0) return answer(id, own.ended ? Outcome::done : Outcome::unsuccessful);
  --slots;
  // The sender's goes when it is acknowledged.
  const std::uint32_t slot = parts_.packets.take();
  const RdmaPacket& in = packet(id);
  RdmaFront& front = parts_.packets.front(slot);
  front.header = in.header;
  front.source = in.source;
  front.lane = in.queue;
  front.told = 0;
  packet(slot).dest = in.dest;
  std::memcpy(parts_.packets.payload(slot), parts_.packets.payload(id), in.bytes);
  const std::uint64_t bytes = in.bytes + sizeof(ClientHeader);
  at<&ElanNi::on_received>(write(bytes), hw::kDmaEvent, slot);
  answer(id, Outcome::done);
}

void ElanNi::on_received(std::uint32_t slot) {
  const RdmaHostSink& host = of(packet(slot).dest).host;
  host.received(host.context, slot);
}

// A packet of a DMA: whoever sent it, here it writes. The last one that comes ends it. False: it is
// not permitted.
bool ElanNi::take_block(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  if (in.named.members > 1 && parts_.ranks.node_of(in.source) == self_) {
    let_go(id);  // a multicast that comes back to its source
    return true;
  }
  std::uint64_t address = in.reply_address;
  const bool ok = in.background || in.kind != RdmaKind::write || in.bytes == 0 ||
                  locate(target(in), in, in.key, in.offset, in.bytes, Access::write, &address);
  at<&ElanNi::on_block>(after(input_, ni_.input + walks_for(in)), hw::kNiTurnEvent, id);
  return ok;
}

void ElanNi::on_block(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  if (in.background) {
    (void)(ni_.background.main_memory != 0 ? bus_.write(now(), in.bytes) : own_memory(in.bytes));
    return let_go(id);
  }
  const Rank rank = target(in);
  std::uint64_t address = in.reply_address;
  const bool ok = in.kind != RdmaKind::write || in.bytes == 0 ||
                  locate(rank, in, in.key, in.offset, in.bytes, Access::write, &address);
  at<&ElanNi::on_written>(to_memory(of(rank), address, ok ? in.bytes : 0), hw::kDmaEvent, id);
}

void ElanNi::on_written(std::uint32_t id) {
  RdmaPacket& in = packet(id);
  const Rank rank = target(in);
  Own& own = of(rank);
  std::uint64_t address = in.reply_address;
  bool ok = true;
  if (in.kind == RdmaKind::write && in.bytes > 0) {
    ok = locate(rank, in, in.key, in.offset, in.bytes, Access::write, &address);
  }
  if (ok && in.bytes > 0) {
    (void)own.memory->write(address, parts_.packets.payload(id), in.bytes);
  }
  Coming& coming = coming_[in.parent];
  coming.bytes += in.bytes;
  coming.refused = coming.refused || !ok;
  if (coming.bytes < in.size) return let_go(id);
  const bool refused = coming.refused;
  coming_.erase(in.parent);
  all_came(rank, id, address, refused);
}

void ElanNi::all_came(Rank rank, std::uint32_t id, std::uint64_t address, bool refused) {
  RdmaPacket& in = packet(id);
  Own& own = of(rank);
  if (in.kind == RdmaKind::read_data) {
    if (!end_fetch(in.operation, true)) {
      tell(rank, {in.operation, in.source, 0, 0, 1}, ni_.event_bytes);
    }
    return let_go(id);
  }
  if (refused) return let_go(id);
  if (is_told(own, in)) bump(rank, kToldCounterNumber);
  if (in.named.bumped != kNoEvent) {
    bump(rank, in.named.bumped);
    return let_go(id);
  }
  // Bytes in the interface's memory: its event tells the host, which polls there.
  if (is_placed(own, address)) {
    return at<&ElanNi::on_event_word>(after(input_, ni_.event), hw::kNiTurnEvent, id);
  }
  own.host.changed(own.host.context);
  let_go(id);
}

void ElanNi::on_event_word(std::uint32_t id) {
  at<&ElanNi::on_seen>(write(ni_.event_bytes), hw::kVisibleEvent, id);
}

void ElanNi::on_seen(std::uint32_t id) {
  const RdmaHostSink& host = of(target(packet(id))).host;
  host.changed(host.context);
  let_go(id);
}

// The DMA thread here sends the data, as if it had been asked by its host.
void ElanNi::serve_read(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  std::uint64_t address = 0;
  if (!locate(in.dest, in, in.key, in.offset, in.size, Access::read, &address)) {
    return answer(id, Outcome::refused);
  }
  const std::uint32_t data = parts_.packets.take();
  RdmaPacket& out = packet(data);
  const RdmaPacket& asked = packet(id);
  out.kind = RdmaKind::read_data;
  out.source = asked.dest;
  out.dest = asked.source;
  out.operation = asked.operation;
  out.size = asked.size;
  out.key = asked.key;
  out.offset = asked.offset;
  out.named = asked.named;
  out.address = address;
  out.reply_address = asked.reply_address;
  answer(id, Outcome::done);
  run(data);
}

void ElanNi::serve_atomic(std::uint32_t id) {
  RdmaPacket& in = packet(id);
  std::uint64_t address = 0;
  if (!locate(in.dest, in, in.key, in.offset, in.word_bytes, Access::atomic, &address) ||
      address % in.word_bytes != 0) {
    return answer(id, Outcome::refused);
  }
  in.address = address;
  at<&ElanNi::on_atomic>(from_memory(of(in.dest), address, in.word_bytes), hw::kDmaEvent, id);
}

// The word changes in one event: nobody comes in between.
void ElanNi::on_atomic(std::uint32_t id) {
  RdmaPacket& in = packet(id);
  Own& own = of(in.dest);
  const std::uint64_t old = word(own, in.address, in.word_bytes);
  if (in.word_bytes == 4) in.a &= UINT32_MAX;
  const std::uint64_t made = changed_word(in, old);
  (void)own.memory->write(in.address, reinterpret_cast<const std::byte*>(&made), in.word_bytes);
  if (!is_placed(own, in.address)) (void)write(in.word_bytes);
  own.host.changed(own.host.context);
  in.a = old;  // travels with the acknowledgment
  answer(id, Outcome::done);
}

// --- Queries: test here, store when the end of packet says that it held on all

void ElanNi::serve_query(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  const Rank rank = target(in);
  std::uint64_t address = 0;
  const bool ok =
      locate(rank, in, in.key, in.offset, kWordBytes, Access::read, &address) &&
      (in.named.stores == 0 || locate(rank, in, in.named.store_key, in.named.store_offset,
                                      kWordBytes, Access::write, &address));
  if (!ok) return answer(id, Outcome::refused);
  (void)locate(rank, in, in.key, in.offset, kWordBytes, Access::read, &address);
  at<&ElanNi::on_test>(from_memory(of(rank), address, kWordBytes), hw::kDmaEvent, id);
}

void ElanNi::on_test(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  const Rank rank = target(in);
  std::uint64_t address = 0;
  if (!locate(rank, in, in.key, in.offset, kWordBytes, Access::read, &address)) {
    return answer(id, Outcome::refused);
  }
  const bool held = holds(in.named.compare, word(of(rank), address, kWordBytes), in.a);
  answer(id, held ? Outcome::done : Outcome::unsuccessful);
}

void ElanNi::ended(std::uint32_t id, Outcome outcome) {
  RdmaPacket& in = packet(id);
  if (outcome != Outcome::done || in.named.stores == 0) return;
  ++in.users;
  at<&ElanNi::on_commit>(after(input_, ni_.atomic), hw::kNiTurnEvent, id);
}

void ElanNi::on_commit(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  const Rank rank = target(in);
  std::uint64_t address = 0;
  Ps seen = now();
  if (locate(rank, in, in.named.store_key, in.named.store_offset, kWordBytes, Access::write,
             &address)) {
    seen = to_memory(of(rank), address, kWordBytes);
  }
  at<&ElanNi::on_stored>(seen, hw::kVisibleEvent, id);
}

void ElanNi::on_stored(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  const Rank rank = target(in);
  Own& own = of(rank);
  std::uint64_t address = 0;
  if (locate(rank, in, in.named.store_key, in.named.store_offset, kWordBytes, Access::write,
             &address)) {
    const std::uint64_t stored = in.b;
    (void)own.memory->write(address, reinterpret_cast<const std::byte*>(&stored), kWordBytes);
    own.host.changed(own.host.context);
  }
  let_go(id);
}

// --- Events

// A counter of the rank's counts one more: here at once, in host memory when its word is there.
void ElanNi::bump(Rank rank, std::uint16_t number) {
  const std::uint32_t id = parts_.packets.take();
  packet(id).dest = rank;
  packet(id).named.bumped = number;
  at<&ElanNi::on_counted>(after(input_, ni_.event), hw::kNiTurnEvent, id);
}

void ElanNi::on_counted(std::uint32_t id) {
  const RdmaPacket& counted = packet(id);
  Event& event = of(counted.dest).events[counted.named.bumped];
  ++event.on_the_way;
  look(counted.dest, event);
  parts_.engine.at(
      write(ni_.event_bytes), self_, hw::kVisibleEvent,
      [](void* self, std::uint64_t seen, std::uint64_t) {
        auto& ni = *static_cast<ElanNi*>(self);
        const RdmaPacket& word = ni.packet(static_cast<std::uint32_t>(seen));
        Own& own = ni.of(word.dest);
        Event& its = own.events[word.named.bumped];
        --its.on_the_way;
        if (its.address != 0) {
          const std::uint64_t now_is = ni.word(own, its.address, kWordBytes) + 1;
          (void)own.memory->write(its.address, reinterpret_cast<const std::byte*>(&now_is),
                                  kWordBytes);
          own.host.changed(own.host.context);
        }
        ni.let_go(static_cast<std::uint32_t>(seen));
      },
      this, id);
}

std::uint64_t ElanNi::value(Own& own, const Event& event) {
  if (event.address == 0) return event.on_the_way;
  return word(own, event.address, kWordBytes) + word(own, event.address + kWordBytes, kWordBytes) +
         event.on_the_way;
}

// Begins what the event has come to.
void ElanNi::look(Rank rank, Event& event) {
  if (event.waiting.empty()) return;
  const std::uint64_t come = value(of(rank), event);
  std::vector<std::uint32_t> begins;
  while (!event.waiting.empty() && packet(event.waiting.front()).named.after_value <= come) {
    begins.push_back(event.waiting.front());
    event.waiting.erase(event.waiting.begin());
  }
  for (const std::uint32_t id : begins) {
    RdmaCompletion began{packet(id).operation, packet(id).dest, 0, 0, 1, 1};
    tell(rank, began, 0);
    begin(id);
  }
}

}  // namespace fairlead::fabric::model
