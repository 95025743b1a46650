// VIs whose messages and RDMA the network interfaces move by themselves, where they know virtual
// interfaces (lci::ViRdma) and the other side is on another node: what is posted is handed to them
// as it is, and they say what has become of it.
#include <cstddef>

#include "fairlead/systems/via/core.h"

namespace fairlead::via {
namespace {

// The interface reads descriptors as VIPL has them.
static_assert(sizeof(VIP_CONTROL_SEGMENT) == sizeof(lci::ViControl) &&
              sizeof(VIP_DESCRIPTOR_SEGMENT) == sizeof(lci::ViSegment));
static_assert(offsetof(VIP_CONTROL_SEGMENT, SegCount) == offsetof(lci::ViControl, segments) &&
              offsetof(VIP_CONTROL_SEGMENT, Control) == offsetof(lci::ViControl, control) &&
              offsetof(VIP_CONTROL_SEGMENT, ImmediateData) == offsetof(lci::ViControl, immediate) &&
              offsetof(VIP_CONTROL_SEGMENT, Length) == offsetof(lci::ViControl, length) &&
              offsetof(VIP_CONTROL_SEGMENT, Status) == offsetof(lci::ViControl, status));
static_assert(offsetof(VIP_DATA_SEGMENT, Handle) == offsetof(lci::ViSegment, handle) &&
              offsetof(VIP_DATA_SEGMENT, Length) == offsetof(lci::ViSegment, length) &&
              offsetof(VIP_ADDRESS_SEGMENT, Handle) == offsetof(lci::ViSegment, handle));
static_assert(VIP_CONTROL_OP_MASK == fabric::kViOpMask &&
              VIP_CONTROL_OP_RDMAWRITE == fabric::kViOpWrite &&
              VIP_CONTROL_OP_RDMAREAD == fabric::kViOpRead &&
              VIP_CONTROL_IMMEDIATE == fabric::kViImmediate &&
              VIP_CONTROL_RESERVED == fabric::kViReserved);
static_assert(VIP_STATUS_DONE == fabric::kViDone &&
              VIP_STATUS_FORMAT_ERROR == fabric::kViFormatError &&
              VIP_STATUS_PROTECTION_ERROR == fabric::kViProtectionError &&
              VIP_STATUS_LENGTH_ERROR == fabric::kViLengthError &&
              VIP_STATUS_RDMA_PROT_ERROR == fabric::kViRdmaProtectionError &&
              VIP_STATUS_REMOTE_DESC_ERROR == fabric::kViRemoteDescriptorError &&
              VIP_STATUS_ERROR_MASK == fabric::kViErrorMask);
static_assert(VIP_STATUS_OP_RECEIVE == fabric::kViOpReceive &&
              VIP_STATUS_OP_RDMA_WRITE == fabric::kViOpRdmaWrite &&
              VIP_STATUS_OP_REMOTE_RDMA_WRITE == fabric::kViOpRemoteWrite &&
              VIP_STATUS_OP_RDMA_READ == fabric::kViOpRdmaRead &&
              VIP_STATUS_IMMEDIATE == fabric::kViHasImmediate);

}  // namespace

void Core::opened(VIP_MEM_HANDLE handle, const Region& region) {
  const VIP_MEM_ATTRIBUTES& its = region.attributes;
  const Ptag* const ptag = ptags.find(its.Ptag);
  if (rdma_ == nullptr || ptag == nullptr) return;
  rdma_->allow({handle, ptag->index, region.base, region.bytes, its.EnableRdmaWrite != VIP_FALSE,
                its.EnableRdmaRead != VIP_FALSE});
}
void Core::closed(VIP_MEM_HANDLE handle, const Region& region) {
  if (rdma_ != nullptr && region.attributes.Ptag != nullptr) rdma_->forbid(handle);
}

std::uint32_t Core::segments_max() const {
  return rdma_ == nullptr ? kSegmentsMax : fabric::kViSegmentsMax;
}

// Losses are the providers' to bring about.
bool Core::interfaces_may_move(const Vi& vi) const {
  return rdma_ != nullptr && vi.queue > 0 && !loss_.any() &&
         host_of(vi.peer) != host_of(port_.self());
}

lci::ViEnd Core::end_of(const Vi& vi) const {
  const Ptag* const ptag = ptags.find(vi.attributes.Ptag);
  lci::ViEnd made{};
  made.queue = vi.queue;
  made.peer = vi.peer;
  made.connection = vi.connection;
  made.ptag = ptag == nullptr ? 0u : ptag->index;
  made.writes = vi.attributes.EnableRdmaWrite != VIP_FALSE;
  made.reads = vi.attributes.EnableRdmaRead != VIP_FALSE;
  made.breaks = vi.reliable();
  made.tells = vi.tells();
  made.send_entries = vi.send.completions != nullptr;
  made.receive_entries = vi.receive.completions != nullptr;
  made.peer_connection = vi.peer_vi.connection;
  made.peer_queue = static_cast<std::uint16_t>(vi.peer_queue);
  made.chan = kToldChan;
  made.transfer_max = static_cast<std::uint32_t>(vi.attributes.MaxTransferSize);
  return made;
}

// When a connection is asked for: the other side is not connected before this one is named to it.
// Its queue is not known until then.
void Core::open_to_interface(Vi& vi) {
  vi.peer_queue = 0;
  vi.by_interface = interfaces_may_move(vi);
  if (!vi.by_interface) return;
  if (vi.queue >= vi_of_queue_.size()) vi_of_queue_.resize(vi.queue + 1);
  vi_of_queue_[vi.queue] = vi.index;
  rdma_->connect(end_of(vi));
  for (const bool of_receives : {false, true}) {
    Queue* const queue = (of_receives ? vi.receive : vi.send).completions;
    if (queue == nullptr) continue;
    if (queue->number == 0) number_entries(*queue);
    if (queue->number != 0) rdma_->count_entries(vi.queue, of_receives, entries_of(*queue));
  }
  for (std::size_t i = vi.receive.next; i < vi.receive.posted.size(); ++i) {
    hand_over(vi, vi.receive.posted[i]);
  }
}

lci::ViEntries Core::entries_of(const Queue& queue) {
  return {queue.number, static_cast<std::uint32_t>(queue.room),
          reinterpret_cast<std::uintptr_t>(&queue.consumed)};
}

// Numbers come again late, so that what a network interface says of a queue that is no more is of
// no other one. Where there is none left, the provider finds overruns.
void Core::number_entries(Queue& queue) {
  if (counted_.size() >= fabric::kViEntriesNumberMax) return;
  do {
    last_number_ = static_cast<std::uint16_t>(last_number_ % fabric::kViEntriesNumberMax + 1);
  } while (counted_.contains(last_number_));
  queue.number = last_number_;
  counted_[queue.number] = &queue;
}

void Core::count_entries(const Queue& queue) {
  if (queue.number != 0) rdma_->count_entries(0, false, entries_of(queue));
}

void Core::forget_entries(const Queue& queue) {
  if (queue.number == 0) return;
  rdma_->count_entries(0, false, {queue.number, 0, 0});
  counted_.erase(queue.number);
}

// An entry that leads to no descriptor is taken at once.
void Core::skip_entry(const lci::ViEvent& event) {
  const auto found = counted_.find(event.entry);
  if (found != counted_.end()) ++found->second->consumed;
}

// Both ends have to come to the same result: where one of them has no queue of its interface, the
// providers move messages.
void Core::connect_interface(Vi& vi) {
  if (!vi.by_interface) return;
  if (vi.peer_queue == 0) return close_to_interface(vi);
  rdma_->connect(end_of(vi));
}

// What the interface had is the provider's again.
void Core::close_to_interface(Vi& vi) {
  if (!vi.by_interface) return;
  vi.by_interface = false;
  rdma_->disconnect(vi.queue);
}

void Core::hand_over(const Vi& vi, const Posted& receive) {
  rdma_->post_receive(vi.queue, token_of(vi, receive));
}

lci::ViToken Core::token_of(const Vi& vi, const Posted& posted) const {
  return {reinterpret_cast<std::uintptr_t>(posted.descriptor), posted.memory, posted.sequence,
          vi.connection};
}

// What is wrong with a descriptor the interface finds in its turn.
void Core::send_by_interface(Vi& vi, Posted& posted) {
  posted.handed = true;
  posted.status = 0;
  posted.sequence = vi.next_sequence++;
  posted.state = Posted::State::left;
  if (posted.shape.is_read()) ++vi.reads;
  ++vi.send.next;
  rdma_->post_send(vi.queue, token_of(vi, posted));
}

Keep Core::told_came(void* self, lci::Packet*, const lci::Arrival& arrival) {
  Core& core = *static_cast<Core*>(self);
  lci::ViEvent event;
  if (arrival.source != core.port_.self() || !lci::ViEvent::read(arrival.words, event)) {
    return Keep::no;
  }
  if (event.queue >= core.vi_of_queue_.size()) {
    core.skip_entry(event);
    return Keep::no;
  }
  Vi* const found = core.vis.at(core.vi_of_queue_[event.queue]);
  // What was under way when a connection ended is nobody's.
  const bool known = found != nullptr && found->by_interface && found->queue == event.queue &&
                     found->state == VIP_STATE_CONNECTED && found->connection == event.connection;
  known ? core.told(*found, event) : core.skip_entry(event);
  return Keep::no;
}

void Core::told(Vi& vi, const lci::ViEvent& event) {
  switch (event.what) {
    case lci::ViTold::received:
      return told_received(vi, event);
    case lci::ViTold::sent:
      return told_sent(vi, event);
    case lci::ViTold::no_descriptor:
      return break_off(vi, VIP_ERROR_RECVQ_EMPTY, VIP_STATUS_TRANSPORT_ERROR, std::nullopt);
    case lci::ViTold::write_refused:
      tell(vi.nic, VIP_ERROR_RDMAW_PROT, VIP_RESOURCE_VI, &vi, nullptr, nullptr,
           VIP_STATUS_OP_REMOTE_RDMA_WRITE);
      if (vi.reliable()) break_off(vi, std::nullopt, VIP_STATUS_TRANSPORT_ERROR, std::nullopt);
      return;
    case lci::ViTold::read_refused:
      tell(vi.nic, VIP_ERROR_RDMAR_PROT, VIP_RESOURCE_VI, &vi, nullptr, nullptr,
           VIP_STATUS_OP_RDMA_READ);
      return break_off(vi, std::nullopt, VIP_STATUS_TRANSPORT_ERROR, std::nullopt);
    case lci::ViTold::broken:
      if (event.status == 0) {
        return break_off(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR, std::nullopt);
      }
      // On level 2 a message that broke it has been told of as sent before, but not a read.
      if (Posted* const its = handed_send(vi, event.value); its != nullptr) {
        its->status |= event.status;
        its->state = Posted::State::done;
      }
      return break_off(vi, VIP_ERROR_CONN_LOST, 0, std::nullopt);
  }
}

void Core::told_received(Vi& vi, const lci::ViEvent& event) {
  WorkQueue& queue = vi.receive;
  if (queue.next >= queue.posted.size()) return skip_entry(event);
  Posted& first = queue.posted[queue.next++];
  first.state = Posted::State::done;
  first.moved = event.bytes;
  first.status = event.status;
  first.shape.immediate = event.value;
  first.counted = event.entry != 0;
  first.overrun = event.overrun;
  ++vi.expected;
  if (vi.reliable() && (event.status & VIP_STATUS_ERROR_MASK) != 0) {
    return break_off(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR, std::nullopt);
  }
  settle(vi, true);
}

Posted* Core::handed_send(Vi& vi, std::uint32_t number) {
  for (std::size_t i = vi.send.told; i < vi.send.next; ++i) {
    Posted& each = vi.send.posted[i];
    const bool is_it = each.handed && each.state == Posted::State::left &&
                       each.sequence == static_cast<std::uint16_t>(number);
    if (is_it) return &each;
  }
  return nullptr;
}

void Core::told_sent(Vi& vi, const lci::ViEvent& event) {
  Posted* const its = handed_send(vi, event.value);
  if (its == nullptr) return skip_entry(event);
  its->state = Posted::State::done;
  its->moved = event.bytes;
  its->status |= event.status & VIP_STATUS_ERROR_MASK;
  its->counted = event.entry != 0;
  its->overrun = event.overrun;
  if (vi.reliable() && (event.status & VIP_STATUS_ERROR_MASK) != 0) {
    return break_off(vi, std::nullopt, 0, std::nullopt);
  }
  its->shape.is_read() ? read_done(vi) : settle(vi, false);
}

}  // namespace fairlead::via
