// Port over a host-NI interface: the host side of every implementation whose protocol runs on the
// NI (I-sdma, I-pio). Where the work of a step takes time, the interface charges it.
#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/counters.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/lci/client_side.h"
#include "fairlead/lci/exposures.h"
#include "fairlead/lci/host_ni.h"
#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/port.h"
#include "fairlead/lci/remote_memory.h"
#include "fairlead/lci/software_group.h"
#include "fairlead/lci/until.h"

namespace fairlead::lci {

struct NiPortOptions {
  Rank self;
  Rank size;
  std::uint32_t mtu_bytes;
  // False: what the client declares (Port::charge) takes no time.
  bool work_takes_time = true;
  // Send buffers kept for replies, so that they always drain.
  std::uint32_t reply_reserve = 8;
  // Packets a client may keep before further ones are copied out of the NI's view.
  std::uint32_t kept_max = 48;
};

template <HostNi Ni, class Transfer>
class NiPort final : public Port {
 public:
  // `ni` and `counters` outlive the port.
  NiPort(Ni& ni, const NiPortOptions& options, PortCounters& counters)
      : ni_(ni),
        options_(options),
        counters_(counters),
        caps_{options.mtu_bytes, kInlineBytes, 8, 0},
        remote_(*this, exposures_, nullptr),
        groups_(*this, counters, TreeShape::binary) {}

  Rank self() const override { return options_.self; }
  Rank size() const override { return options_.size; }
  const Caps& caps(Rank) const override { return caps_; }
  Ps now() const override { return ni_.now(); }
  void charge(const Work& work) override {
    if (!options_.work_takes_time) return;
    ni_.work({work.ops, work.bytes, work.working_set_bytes, work.copied_bytes});
  }
  void after(Ps delay, Task task) override { client_.after(now() + delay, task); }
  void bind(Chan chan, Upcall upcall, Returned returned) override {
    client_.bind(chan, upcall, returned);
  }
  void defer(Task task) override { client_.defer(task); }
  void hold() override { client_.hold(); }
  void allow() override { client_.allow(); }
  void wake(Wake, Ps) override {}

  Packet* alloc(Dest dest, Lane lane, std::size_t size_hint, std::uint32_t flags) override {
    const bool known = dest.group ? groups_.members(dest.id) != nullptr : dest.id < options_.size;
    if (!known || size_hint > body_bytes()) return nullptr;
    client_.check_send(lane);
    std::uint32_t id = 0;
    if (dest.group || dest.id == options_.self) {
      id = ni_.alloc_local(body_bytes());
    } else if (!take_buffer(lane, flags, size_hint, &id)) {
      return nullptr;
    }
    auto& packet = ni_.packet(id);
    packet.peer = dest.id;
    packet.for_group = dest.group;
    packet.header.client.lane = static_cast<std::uint8_t>(lane);
    return handle(packet);
  }

  std::span<std::byte> body(Packet* packet) override {
    auto& mine = of(packet);
    return {mine.payload(), mine.slot_bytes - sizeof mine};
  }

  Post send(Packet* packet, Chan chan, const Words& words, std::size_t size,
            std::span<const Piece> gather, Counter* done, std::uint32_t flags) override {
    auto& mine = of(packet);
    std::size_t total = size;
    for (const Piece& piece : gather) total += piece.size;
    if (total > mine.slot_bytes - sizeof mine || !ClientSide::known(chan)) return Post::invalid;
    std::byte* to = mine.payload() + size;
    for (const Piece& piece : gather) {
      if (piece.size > 0) std::memcpy(to, piece.data, piece.size);
      to += piece.size;
    }
    if (mine.for_group) return send_group(mine, chan, words, total, done, flags);
    // The data is in a packet buffer by now: the caller's memory is its own again.
    post(mine, chan, words, total);
    if (done != nullptr) done->ok.fetch_add(1, std::memory_order_relaxed);
    return Post::done;
  }

  Post send_small(Dest dest, Chan chan, Lane lane, const Words& words,
                  std::span<const std::byte> data, std::uint32_t flags) override {
    if (data.size() > kInlineBytes) return Post::invalid;
    Packet* packet = alloc(dest, lane, data.size(), flags);
    if (packet == nullptr) {
      return dest.group || dest.id < options_.size ? Post::again_buffer : Post::invalid;
    }
    const Piece piece{data.data(), data.size()};
    return send(packet, chan, words, 0, {&piece, data.empty() ? 0u : 1u}, nullptr, flags);
  }

  void release(Packet* packet) override {
    auto& mine = of(packet);
    if (!mine.received) {
      mine.from_host ? ni_.cancel(mine.id) : ni_.release_local(mine.id);
      return;
    }
    if (mine.kept) --kept_;
    done_with(mine);
  }

  int poll() override {
    client_.check_may_block();
    const int ran = progress();
    if (ran == 0) {
      ++counters_.empty_polls;
      ni_.charge(Step::poll_empty);
      ni_.sync();
    }
    return ran;
  }

  Post wait(const Until& until) override {
    client_.check_may_block();
    const Ending ending(until);
    bool ran = false;
    for (;;) {
      if (ending.holds(ran)) return ending.answer();
      if (ending.late(clock_for(until))) return Post::again_credit;
      // Catching up and sleeping are one call then, and one round trip to another process.
      const bool asleep = only_ni_can_wake();
      if (asleep) ni_.block(until.deadline, until.what);
      ran = progress() > 0;
      if (ran || asleep) continue;
      if (ending.holds(ran)) return ending.answer();
      if (ending.late(clock_for(until))) return Post::again_credit;
      if (client_.quiet()) {
        ni_.block_for_more(until.deadline, until.what);
      } else {
        ni_.block(std::min(until.deadline, client_.next_due()), until.what);
      }
    }
  }

  void* allocate(SegId segment, std::size_t size, Place place) override {
    if (place == Place::host) return allocate_host(segment, size);
    if (!ni_.add_ni_words(segment, static_cast<std::uint32_t>((size + 7) / 8))) return nullptr;
    return ni_.ni_word(segment, 0);
  }
  Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions, void* alias,
              std::span<const Rank> allowed) override {
    if (exposure_memory_ == nullptr) {
      exposure_memory_ = std::make_unique<ExposureMemory[]>(
          (Exposures::bytes(options_.size) + sizeof(ExposureMemory) - 1) / sizeof(ExposureMemory));
      exposures_ = Exposures(reinterpret_cast<std::byte*>(exposure_memory_.get()), options_.size);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(alias != nullptr ? alias : base);
    return exposures_.add(segment, Exposed{ExposedIn::process, permissions, address, size},
                          allowed);
  }
  Post withdraw(SegId segment) override {
    return exposures_.remove(segment).in == ExposedIn::none ? Post::invalid : Post::done;
  }
  void* map(Rank, SegId) override { return nullptr; }
  Post put(Dest dest, SegId segment, std::span<const PutPiece> pieces, Counter* done, CtrId remote,
           std::uint32_t) override {
    ++counters_.puts;
    if (dest.group || dest.id >= options_.size) return Post::invalid;
    return remote_.put(dest.id, segment, pieces, done, remote);
  }
  Post get(Remote from, void* to, std::size_t size, Counter* done, std::uint32_t) override {
    ++counters_.gets;
    if (from.rank >= options_.size) return Post::invalid;
    return remote_.get(from, to, size, done);
  }
  Post fence(Dest dest, Counter* done) override {
    if (dest.group || dest.id >= options_.size) return Post::invalid;
    return remote_.fence({&dest.id, 1}, done);
  }
  void expose_counter(CtrId id, Counter* counter) override { remote_.expose_counter(id, counter); }
  Post group(std::uint16_t id, std::span<const Rank> members) override {
    return groups_.define(id, members);
  }

  // NI memory is symmetric by convention: a segment this rank placed on its NI is on every NI.
  Post atomic(Remote word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
              Counter* done) override {
    ++counters_.atomics;
    if (word.rank >= options_.size) return Post::invalid;
    if (op != Atomic::add || ni_.ni_word(word.segment, word.offset) == nullptr) {
      return remote_.atomic(word, op, a, b, old, done);
    }
    return fetch_add(word, a, old, done);
  }

  const PortCounters& counters() const override { return counters_; }

 private:
  static constexpr std::uint32_t kInlineBytes = 32;
  using NiPacket = std::remove_reference_t<decltype(std::declval<Ni&>().packet(0))>;

  static NiPacket& of(Packet* packet) { return *reinterpret_cast<NiPacket*>(packet); }
  static Packet* handle(NiPacket& packet) { return reinterpret_cast<Packet*>(&packet); }

  // Nothing on the host's side has to be looked at or to become due.
  bool only_ni_can_wake() const {
    return !client_.quiet() && local_.empty() && !groups_.busy() && !remote_.busy() &&
           client_.next_due() == kNever;
  }
  // Where the interface is in another process, asking for the time costs a round trip.
  Ps clock_for(const Until& until) const { return until.deadline == kNever ? Ps{0} : now(); }

  // A buffer holds a client's MTU and what lci itself puts before it.
  std::size_t body_bytes() const { return options_.mtu_bytes + kPrefixBytes; }

  bool take_buffer(Lane lane, std::uint32_t flags, std::size_t size_hint, std::uint32_t* id) {
    const std::size_t bytes = size_hint <= kInlineBytes ? kInlineBytes : body_bytes();
    for (;;) {
      if (ni_.alloc(bytes, lane == Lane::request ? options_.reply_reserve : 0, id)) return true;
      ++counters_.buffer_stalls;
      if (client_.in_upcall() || (flags & kNoBlock) != 0) return false;
      // Receiving goes on, or two ranks that send to each other would wait for ever.
      if (client_.quiet()) {
        ni_.block_for_more(kNever, "a free send buffer");
      } else if (progress() == 0) {
        ni_.block(client_.next_due(), "a free send buffer");
      }
    }
  }

  Post send_group(NiPacket& packet, Chan chan, const Words& words, std::size_t size, Counter* done,
                  std::uint32_t flags) {
    const Piece piece{packet.payload(), size};
    const auto lane = static_cast<Lane>(packet.header.client.lane);
    for (;;) {
      const Post answer = groups_.send(packet.peer, chan, lane, words, {&piece, 1});
      if (answer != Post::again_credit && answer != Post::again_buffer) {
        if (answer != Post::done) return answer;
        ni_.release_local(packet.id);
        if (done != nullptr) done->ok.fetch_add(1, std::memory_order_relaxed);
        return Post::done;
      }
      if (client_.in_upcall() || (flags & kNoBlock) != 0) return answer;
      if (client_.quiet()) {
        ni_.block_for_more(kNever, "room in a group");
      } else if (progress() == 0) {
        ni_.block(client_.next_due(), "room in a group");
      }
    }
  }

  void* allocate_host(SegId segment, std::size_t size) {
    auto memory = std::make_unique<std::uint64_t[]>((size + 7) / 8);
    void* base = memory.get();
    if (expose(segment, base, size, kRead | kWrite | kAtomic, nullptr, {}) != Post::done) {
      return nullptr;
    }
    allocated_.push_back(std::move(memory));
    return base;
  }

  void post(NiPacket& packet, Chan chan, const Words& words, std::size_t size) {
    fabric::ClientHeader& header = packet.header.client;
    header.kind = fabric::PacketKind::data;
    header.chan = chan;
    header.source = options_.self;
    header.size = static_cast<std::uint32_t>(size);
    std::memcpy(header.words, words, sizeof header.words);
    packet.header.dest_rank = packet.peer;
    ++counters_.packets_sent;
    counters_.bytes_sent += size;
    if (packet.peer == options_.self) {
      packet.received = true;
      local_.push_back(packet.id);
      return;
    }
    Transfer::move(ni_, packet.id, size);
    packet.wants_report = Transfer::kReports && size > 0;
    ni_.post(packet.id, size > 0 ? Transfer::kDescriptorLines : 1);
  }

  Post fetch_add(Remote word, std::uint64_t operand, std::uint64_t* old, Counter* done) {
    ni_.charge(Step::fetch_add_call);
    if (word.rank == options_.self) {
      std::uint64_t& mine = *ni_.ni_word(word.segment, word.offset);
      if (old != nullptr) *old = mine;
      mine += operand;
      if (done != nullptr) done->ok.fetch_add(1, std::memory_order_relaxed);
      return Post::done;
    }
    std::uint32_t id = 0;
    if (!take_buffer(Lane::control, client_.in_upcall() ? kNoBlock : kNoFlags, 0, &id)) {
      return Post::again_buffer;
    }
    auto& packet = ni_.packet(id);
    packet.peer = word.rank;
    packet.operand = operand;
    packet.cookie = ++last_request_;
    packet.header.client.kind = fabric::PacketKind::fetch_add;
    packet.header.client.source = options_.self;
    packet.header.client.words[0] = word.segment;
    packet.header.client.words[1] = static_cast<std::uint32_t>(word.offset);
    packet.header.client.size = kFetchAddBytes;
    requests_.emplace(last_request_, Request{old, done});
    ni_.post(id, 1);
    return Post::pending;
  }

  int progress() {
    if (client_.quiet()) return 0;
    ++counters_.polls;
    ni_.sync();
    int ran = reap_completions();
    ran += deliver_local();
    std::uint32_t id = 0;
    while (!client_.quiet() && ni_.reap_receive(&id)) {
      ni_.charge(Step::receive);
      deliver(ni_.packet(id));
      ++ran;
    }
    if (groups_.busy()) {
      ran += groups_.progress();
      ran += groups_.deliver_early([this](const Arrival& inner) { (void)deliver_copy(inner); });
    }
    if (remote_.busy()) ran += remote_.progress();
    if (client_.next_due() != kNever) ran += run_due();
    return ran;
  }

  int run_due() {
    const int ran = client_.run_due(now(), &NiPort::release_waiting, this);
    // A task that defers itself until something has changed must let time pass.
    if (ran > 0) ni_.charge(Step::poll_empty);
    return ran;
  }

  int reap_completions() {
    int ran = 0;
    std::uint64_t cookie = 0;
    while (ni_.reap_completion(&cookie)) {
      ni_.charge(Step::reap_completion);
    }
    typename Ni::Answer answer;
    while (ni_.reap_answer(&answer)) {
      ni_.charge(Step::receive);
      const auto found = requests_.find(answer.cookie);
      if (found == requests_.end()) continue;
      if (found->second.old != nullptr) *found->second.old = answer.value;
      if (found->second.done != nullptr) {
        found->second.done->ok.fetch_add(1, std::memory_order_relaxed);
      }
      requests_.erase(found);
      ++ran;
    }
    return ran;
  }

  int deliver_local() {
    int ran = 0;
    // Those sent by these upcalls wait for the next turn.
    for (std::size_t left = local_.size(); left > 0 && !client_.quiet(); --left) {
      const std::uint32_t id = local_.front();
      local_.pop_front();
      deliver(ni_.packet(id));
      ++ran;
    }
    return ran;
  }

  void deliver(NiPacket& packet) {
    const fabric::ClientHeader& header = packet.header.client;
    packet.received = true;
    ++counters_.packets_received;
    counters_.bytes_received += header.size;
    if (!ClientSide::known(header.chan) || header.lane > static_cast<std::uint8_t>(Lane::control)) {
      ++counters_.foreign_dropped;
      return done_with(packet);
    }
    Arrival arrival{header.source,
                    header.chan,
                    static_cast<Lane>(header.lane),
                    false,
                    {header.words[0], header.words[1], header.words[2], header.words[3]},
                    {packet.payload(), header.size}};
    if (arrival.chan == kGroupChan) [[unlikely]] {
      Arrival inner;
      if (!groups_.open(arrival, &inner)) return done_with(packet);
      arrival = inner;
    }
    if (client_.deliver(handle(packet), arrival) == Keep::no) return done_with(packet);
    keep(packet);
  }

  // A group packet that came before its group was known lies in lci's memory, which an upcall
  // cannot keep: it gets a packet of its own.
  Keep deliver_copy(const Arrival& inner) {
    auto& packet = ni_.packet(ni_.alloc_local(inner.data.size()));
    packet.received = true;
    std::memcpy(packet.payload(), inner.data.data(), inner.data.size());
    Arrival arrival = inner;
    arrival.data = {packet.payload(), inner.data.size()};
    const Keep keep = client_.deliver(handle(packet), arrival);
    if (keep == Keep::no) ni_.release_local(packet.id);
    return keep;
  }

  // A kept packet holds a host receive buffer until too many do: then the data moves out and the
  // NI gets the buffer back at once.
  void keep(NiPacket& packet) {
    if (!packet.from_host) return;
    if (kept_ < options_.kept_max) {
      packet.kept = true;
      ++kept_;
      return;
    }
    ++counters_.copied_out;
    ni_.copy(packet.header.client.size);
    ni_.return_host_buffer(packet.id);
    packet.from_host = false;
  }

  void done_with(NiPacket& packet) {
    if (packet.from_host) {
      ni_.release(packet.id);
    } else {
      ni_.release_local(packet.id);
    }
  }

  static void release_waiting(void* self, Packet* packet) {
    static_cast<NiPort*>(self)->release(packet);
  }

  struct Request {
    std::uint64_t* old;
    Counter* done;
  };
  static constexpr std::uint32_t kFetchAddBytes = 8;

  Ni& ni_;
  NiPortOptions options_;
  PortCounters& counters_;
  Caps caps_;
  ClientSide client_;
  struct alignas(64) ExposureMemory {
    std::byte bytes[64]{};
  };
  std::unique_ptr<ExposureMemory[]> exposure_memory_;  // made by the first expose()
  Exposures exposures_;
  std::vector<std::unique_ptr<std::uint64_t[]>> allocated_;
  RemoteMemory remote_;
  SoftwareGroup groups_;
  std::deque<std::uint32_t> local_;  // packets to myself
  std::unordered_map<std::uint64_t, Request> requests_;
  std::uint64_t last_request_ = 0;
  std::uint32_t kept_ = 0;
};

}  // namespace fairlead::lci
