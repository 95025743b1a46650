// The host-NI interface of a rank that is a process of its own (concept lci::HostNi): what
// ModelHostNi is to a fiber, through the rank's gate. A message takes two or three hand-overs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/gate_client.h"
#include "fairlead/fabric/model/lanai/lanai_gate.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/hw/packet_pool.h"

namespace fairlead::fabric::model {

class RemoteHostNi {
 public:
  using Answer = HostAnswer;
  using Work = hw::HostWork;

  // Both outlive it.
  RemoteHostNi(GateClient& gate, const GateMemory& memory);
  RemoteHostNi(const RemoteHostNi&) = delete;
  RemoteHostNi& operator=(const RemoteHostNi&) = delete;

  // Meanings as in ModelHostNi; those marked * hand control over.
  Ps now() { return gate_.now(); }  // *
  const hw::LibraryRates& rates() const { return rates_; }
  void charge(Step step) { spend(rates_.step[static_cast<std::size_t>(step)], part_of(step)); }
  void work(const hw::HostWork& work) {
    const Ps alone = hw::work_time(rates_, work);
    const std::uint64_t bytes = nodes_.several() ? hw::moved_bytes(rates_, work) : 0;
    if (bytes == 0) return spend(alone, HostPart::compute);
    gate_.queue(LanaiOp::move, 0, static_cast<std::uint64_t>(alone.count), bytes);
    gate_.time_passes();
  }
  Ps compute(Ps time, Ps watchdog);      // *
  Ps time_of(const hw::HostWork& work);  // *
  void interrupt() { spend(rates_.interrupt, HostPart::receive); }
  Ps default_watchdog() const { return rates_.watchdog; }
  void copy(std::size_t size) {
    spend(hw::work_time(rates_, hw::HostWork{0, 0, 0, size}), HostPart::receive);
  }

  [[nodiscard]] bool alloc(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id);  // *
  bool has_buffer(std::uint32_t reserve) const { return send_buffers_ > reserve; }
  bool near(Rank rank) const {
    return nodes_.several() && rank != gate_.rank() &&
           nodes_.node_of(rank) == nodes_.node_of(gate_.rank());
  }
  [[nodiscard]] bool alloc_near(std::size_t payload_bytes, std::uint32_t reserve,
                                PacketId* id);  // *
  bool has_near_buffer(std::uint32_t reserve) const { return near_buffers_ > reserve; }
  void post_near(PacketId id, std::size_t copied) {
    gate_.queue(LanaiOp::post_near, id, copied);
    gate_.time_passes();
  }
  void read_near(PacketId id) {
    gate_.queue(LanaiOp::read_near, id);
    gate_.time_passes();
  }
  const EvenNodes& nodes() const { return nodes_; }
  const LanaiShares& shares() const { return shares_; }
  PacketId alloc_local(std::size_t payload_bytes);                                        // *
  PacketId image(PacketId buffer) { return gate_.hand_over(LanaiOp::image, buffer).id; }  // *
  PacketId detached_image(PacketId buffer) {                                              // *
    return gate_.hand_over(LanaiOp::image, buffer, 1).id;
  }
  NiPacket& packet(PacketId id) {
    return *reinterpret_cast<NiPacket*>(packets_ + std::size_t{id} * hw::PacketPool::kUnit);
  }
  void cancel(PacketId id) {
    gate_.queue(LanaiOp::cancel, id);
    ++(packet(id).holds == Holds::near_buffer ? near_buffers_ : send_buffers_);
  }
  void write(std::size_t size) {
    if (size == 0) return;
    gate_.queue(LanaiOp::write, 0, size);
    gate_.time_passes();
  }
  void post(PacketId id, std::size_t descriptor_lines) {
    gate_.queue(LanaiOp::post, id, descriptor_lines);
    gate_.time_passes();
  }
  std::uint32_t open_vi() { return gate_.hand_over(LanaiOp::open_vi).id; }  // *
  void close_vi(std::uint32_t number) { gate_.queue(LanaiOp::close_vi, number); }
  void post_vi_send(std::uint32_t number, const ViToken& token) {
    gate_.queue(LanaiOp::post_vi_send, number, GateViToken::a(token), GateViToken::b(token));
    gate_.time_passes();
  }
  void post_vi_receive(std::uint32_t number, const ViToken& token) {
    gate_.queue(LanaiOp::post_vi_receive, number, GateViToken::a(token), GateViToken::b(token));
    gate_.time_passes();
  }
  void allow(const ViMemory& memory) {
    gate_.queue(LanaiOp::allow, memory.handle, GateViMemory::a(memory), GateViMemory::b(memory));
    gate_.time_passes();
  }
  void forbid(std::uint32_t handle) {
    gate_.queue(LanaiOp::forbid, handle);
    gate_.time_passes();
  }
  void connect_vi(const ViEnd& end) {
    gate_.queue(LanaiOp::connect_vi, end.queue, GateViEnd::a(end), GateViEnd::b(end));
    gate_.time_passes();
  }
  void disconnect_vi(std::uint32_t number) {
    gate_.queue(LanaiOp::disconnect_vi, number);
    gate_.time_passes();
  }
  void count_entries(std::uint32_t number, bool of_receives, const ViEntries& entries) {
    gate_.queue(LanaiOp::count_entries, number, GateViEntries::a(entries, of_receives),
                GateViEntries::b(entries));
    gate_.time_passes();
  }
  void forget_vis() { gate_.queue(LanaiOp::forget_vis, 0); }

  [[nodiscard]] bool reap_receive(PacketId* id);
  [[nodiscard]] bool reap_completion(std::uint64_t* cookie) { return take(completed_, cookie); }
  [[nodiscard]] bool reap_answer(Answer* answer) { return take(answered_, answer); }
  void release(PacketId id) {
    gate_.queue(LanaiOp::release, id);
    host_buffer_returned(id);
  }
  void return_host_buffer(PacketId id) {
    gate_.queue(LanaiOp::return_host_buffer, id);
    host_buffer_returned(id);
  }
  void release_local(PacketId id) { gate_.queue(LanaiOp::release_local, id); }

  void sync() { gate_.sync(); }  // *
  bool dismissed() const { return gate_.dismissed(); }
  void block(Ps deadline, const char* what);            // *
  void block_for_more(Ps deadline, const char* what) {  // *
    gate_.block_for_more(deadline, what);
  }
  bool anything_visible() const {
    return !received_.empty() || !completed_.empty() || !answered_.empty();
  }
  [[nodiscard]] bool add_ni_words(std::uint32_t segment, std::uint32_t count);  // *
  std::uint64_t* ni_word(std::uint32_t segment, std::uint64_t offset);

 private:
  struct Segment {
    std::uint32_t segment;
    std::uint32_t first;
    std::uint32_t count;
  };

  void spend(Ps time, HostPart part) {
    gate_.advance(time);
    add_time(gate_.slot().tally.host, part, time);
  }

  // The host sees what comes in while a queued command takes its time.
  template <class T>
  bool take(std::deque<T>& from, T* to) {
    if (from.empty() && !gate_.clock_known()) gate_.hand_over(GateOp::observe);
    if (from.empty()) return false;
    *to = from.front();
    from.pop_front();
    return true;
  }
  void host_buffer_returned(PacketId id) {
    if (packet(id).holds == Holds::near_buffer || ++released_ < shares_.host_ring_batch) return;
    released_ = 0;
    gate_.time_passes();
  }
  void take_visible();

  GateClient& gate_;
  std::byte* packets_;
  std::uint64_t* words_;  // of this node
  const hw::LibraryRates rates_;
  const EvenNodes nodes_;
  const LanaiShares shares_;
  std::uint32_t send_buffers_;
  std::uint32_t near_buffers_;
  std::uint32_t released_ = 0;  // host buffers since the last batch
  std::deque<PacketId> received_;
  std::uint32_t calling_ = 0;  // of received_ that are to be looked at
  Ps visible_since_{};         // the oldest of these, or the last look at them
  std::deque<std::uint64_t> completed_;
  std::deque<Answer> answered_;
  std::vector<Segment> segments_;
};

}  // namespace fairlead::fabric::model
