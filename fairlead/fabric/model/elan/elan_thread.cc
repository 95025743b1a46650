// The thread processor beside its queries: the program that matches messages, and the units of the
// interface that serve it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/fabric/model/elan/elan_ni.h"
#include "fairlead/fabric/model/packet_nic.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {
namespace {

// Bit of an operation whose data the thread has asked for, not the host.
constexpr std::uint32_t kFetchBit = 1u << 31;

}  // namespace

// One channel of one rank.
class ElanNi::Tport final : public TportProgram::Units {
 public:
  Tport(ElanNi& ni, Rank rank)
      : program(*this, ni.parts_.ranks.ranks, ni.ni_.tport_bytes), ni_(ni), rank_(rank) {}

  void deliver(const TportReceive& receive, std::uint64_t offset, std::span<const std::byte> data,
               bool from_host) override;
  void put_aside(std::uint64_t bytes) override { (void)ni_.write(bytes); }
  void fetch(TportReceive& receive, std::uint32_t segment, std::uint64_t size) override;
  void tell(std::uint32_t ticket, std::uint64_t result, const MatchFound& found, Ps begun) override;
  void answer(Rank to, std::uint32_t note) override;

  TportProgram program;
  bool open = false;  // by its host, whose sends by it are messages
  std::uint16_t answers = 0;
  std::uint8_t answers_lane = 0;

 private:
  ElanNi& ni_;
  Rank rank_;
};

ElanNi::Own::Own(Rank rank, std::uint32_t slots_each)
    : keys(std::uint64_t{rank} << 32), slots{slots_each, slots_each, slots_each} {}

ElanNi::Own::~Own() = default;

ElanNi::~ElanNi() = default;

ElanNi::Tport& ElanNi::tport(Rank rank, std::uint16_t chan) {
  std::unique_ptr<Tport>& there = of(rank).tports[chan];
  if (there == nullptr) there = std::make_unique<Tport>(*this, rank);
  return *there;
}

bool ElanNi::is_message(const RdmaPacket& sent) {
  const auto& tports = of(sent.source).tports;
  const auto found = tports.find(sent.header.client.chan);
  return found != tports.end() && found->second->open;
}

void ElanNi::open_tport(const RdmaPacket& asked) {
  Tport& opened = tport(asked.source, asked.named.bumped);
  opened.open = true;
  opened.answers = static_cast<std::uint16_t>(asked.a);
  opened.answers_lane = static_cast<std::uint8_t>(asked.b);
}

// --- What the thread takes up, one after another: packets of messages, requests of the host.

// As take_slot(), into a queue of the thread's in the interface's memory.
void ElanNi::take_message(std::uint32_t id) {
  Own& own = of(packet(id).dest);
  std::uint32_t& slots = own.slots[packet(id).queue];
  if (slots == 0) {
    return answer(id, own.ended ? hw::Outcome::done : hw::Outcome::unsuccessful);
  }
  --slots;
  const std::uint32_t slot = parts_.packets.take();
  const RdmaPacket& in = packet(id);
  RdmaPacket& there = packet(slot);
  there.kind = RdmaKind::send;
  there.source = in.source;
  there.dest = in.dest;
  there.queue = in.queue;
  there.header = in.header;
  there.bytes = in.bytes;
  std::memcpy(parts_.packets.payload(slot), parts_.packets.payload(id), in.bytes);
  answer(id, hw::Outcome::done);
  to_thread(slot);
}

void ElanNi::to_thread(std::uint32_t id) {
  thread_takes_.push_back(id);
  next_of_thread();
}

void ElanNi::next_of_thread() {
  if (thread_matches_ || thread_takes_.empty()) return;
  thread_matches_ = true;
  const std::uint32_t id = thread_takes_.front();
  thread_takes_.pop_front();
  const RdmaPacket& next = packet(id);
  // What goes on with a message has been matched.
  const bool goes_on = next.kind == RdmaKind::send &&
                       tport(next.dest, next.header.client.chan).program.goes_on(next.source);
  const Cycles takes = ni_.schedule + ni_.thread_take;
  at<&ElanNi::on_matched>(after(thread_, goes_on ? takes : takes + ni_.thread_match),
                          hw::kNiTurnEvent, id);
}

void ElanNi::on_matched(std::uint32_t id) {
  const RdmaPacket& next = packet(id);
  if (next.kind == RdmaKind::send) {
    ++of(next.dest).slots[next.queue];
    // What is no message is nobody's.
    (void)tport(next.dest, next.header.client.chan)
        .program.arrived(next.source, next.header.client.words,
                         {parts_.packets.payload(id), next.bytes}, begin_of(next.header));
  } else {
    do_request(next);
  }
  let_go(id);
  thread_matches_ = false;
  next_of_thread();
}

void ElanNi::do_request(const RdmaPacket& asked) {
  TportProgram& program = tport(asked.source, asked.named.bumped).program;
  TportReceive request;
  request.ticket = asked.operation;
  request.address = asked.address;
  request.room = asked.size;
  request.result = asked.offset;
  const auto what = static_cast<RdmaTport>(asked.named.compare);
  if (what == RdmaTport::take) return program.take(static_cast<std::uint32_t>(asked.b), request);
  if (what == RdmaTport::withdraw) {
    return program.withdraw(static_cast<std::uint32_t>(asked.b), request);
  }
  static_assert(static_cast<int>(RdmaTport::look) == static_cast<int>(MatchRequest::How::look));
  request.how = static_cast<MatchRequest::How>(asked.named.compare);
  request.wanted.envelope = {asked.key, static_cast<Rank>(asked.a),
                             static_cast<std::uint32_t>(asked.a >> 32)};
  request.wanted.source_mask = static_cast<Rank>(asked.b);
  request.wanted.tag_mask = static_cast<std::uint32_t>(asked.b >> 32);
  program.asked(request);
}

// --- What it has the other units do.

void ElanNi::Tport::deliver(const TportReceive& receive, std::uint64_t offset,
                            std::span<const std::byte> data, bool from_host) {
  Cycles starts = ni_.ni_.thread_dma;
  for (std::uint64_t done = 0; done < data.size();) {
    const std::uint64_t part =
        std::min<std::uint64_t>(data.size() - done, ni_.parts_.terms.packet_bytes);
    const std::uint32_t id = ni_.parts_.packets.take();
    RdmaPacket& moved = ni_.packet(id);
    moved.dest = rank_;
    moved.address = receive.address + offset + done;
    moved.bytes = static_cast<std::uint32_t>(part);
    moved.ready = !from_host;
    std::memcpy(ni_.parts_.packets.payload(id), data.data() + done, part);
    ni_.at<&ElanNi::on_delivering>(ni_.after(ni_.thread_, starts), hw::kNiTurnEvent, id);
    starts = Cycles{0};  // of one descriptor
    done += part;
  }
}

void ElanNi::on_delivering(std::uint32_t id) {
  const RdmaPacket& moved = packet(id);
  const Ps here = moved.ready ? now() : read(moved.bytes);
  at<&ElanNi::on_delivered>(std::max(here, to_memory(of(moved.dest), moved.address, moved.bytes)),
                            hw::kDmaEvent, id);
}

void ElanNi::on_delivered(std::uint32_t id) {
  const RdmaPacket& moved = packet(id);
  (void)of(moved.dest).memory->write(moved.address, parts_.packets.payload(id), moved.bytes);
  let_go(id);
}

void ElanNi::Tport::fetch(TportReceive& receive, std::uint32_t segment, std::uint64_t size) {
  if (size == 0) return program.fetched(receive, true);
  std::uint32_t number = 0;
  if (ni_.free_fetches_.empty()) {
    number = static_cast<std::uint32_t>(ni_.fetches_.size());
    ni_.fetches_.emplace_back();
  } else {
    number = ni_.free_fetches_.back();
    ni_.free_fetches_.pop_back();
  }
  ni_.fetches_[number] = {this, &receive};
  const std::uint32_t id = ni_.parts_.packets.take();
  RdmaPacket& asks = ni_.packet(id);
  asks.kind = RdmaKind::read;
  asks.queue = kCopyQueue;
  asks.source = rank_;
  asks.dest = receive.got.from;
  asks.named.used = 1;
  asks.key = segment;
  asks.size = size;
  asks.address = receive.address;
  asks.reply_address = receive.address;
  asks.operation = kFetchBit | number;
  ni_.at<&ElanNi::run>(ni_.after(ni_.thread_, ni_.ni_.thread_dma), hw::kNiTurnEvent, id);
}

bool ElanNi::end_fetch(std::uint32_t operation, bool ok) {
  if (operation == kNoOperation || (operation & kFetchBit) == 0) return false;
  const std::uint32_t number = operation & ~kFetchBit;
  const Fetch fetch = std::exchange(fetches_[number], {});
  free_fetches_.push_back(number);
  fetch.tport->program.fetched(*fetch.receive, ok);
  return true;
}

void ElanNi::Tport::tell(std::uint32_t ticket, std::uint64_t result, const MatchFound& found,
                         Ps begun) {
  const std::uint32_t id = ni_.parts_.packets.take();
  RdmaPacket& told = ni_.packet(id);
  told.dest = rank_;
  told.operation = ticket;
  told.address = result;
  told.bytes = sizeof found;
  told.source = found.from;
  told.header = with_begin({}, begun);
  std::memcpy(ni_.parts_.packets.payload(id), &found, sizeof found);
  ni_.at<&ElanNi::on_telling>(ni_.after(ni_.thread_, ni_.ni_.event), hw::kNiTurnEvent, id);
}

// What was found goes to host memory, and an event's word behind it.
void ElanNi::on_telling(std::uint32_t id) {
  at<&ElanNi::on_matching_told>(write(packet(id).bytes + ni_.event_bytes), hw::kDmaEvent, id);
}

void ElanNi::on_matching_told(std::uint32_t id) {
  const RdmaPacket& told = packet(id);
  Own& own = of(told.dest);
  (void)own.memory->write(told.address, parts_.packets.payload(id), told.bytes);
  if (parts_.figures != nullptr) [[unlikely]]
    parts_.figures->message_ends(begin_of(told.header), now(),
                                 {told.source, told.dest, 0, kTportLane}, false);
  const RdmaCompletion completion{told.operation, told.dest, 0, kTportLane, 1};
  let_go(id);
  own.host.completed(own.host.context, completion);
}

void ElanNi::Tport::answer(Rank to, std::uint32_t note) {
  const std::uint32_t id = ni_.parts_.packets.take();
  RdmaPacket& sent = ni_.packet(id);
  sent.kind = RdmaKind::send;
  sent.queue = answers_lane;
  sent.source = rank_;
  sent.dest = to;
  sent.with_entry = true;
  sent.header.client.kind = PacketKind::data;
  sent.header.client.lane = answers_lane;
  sent.header.client.chan = answers;
  sent.header.client.source = rank_;
  sent.header.client.words[0] = note;
  sent.header.dest_rank = to;
  ni_.at<&ElanNi::begin>(ni_.after(ni_.thread_, ni_.ni_.thread_dma), hw::kNiTurnEvent, id);
}

}  // namespace fairlead::fabric::model
