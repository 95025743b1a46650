// How a NiPort (ni_port.h) takes what its interface has for it: packets, completions, answers.
#pragma once
#include <cstdint>

#include "fairlead/lci/ni/ni_port.h"

namespace fairlead::lci {

template <HostNi Ni, class Transfer, class Flow>
inline int NiPort<Ni, Transfer, Flow>::progress() {
  look_at_deaths(ni_, [this](Rank rank) {
    losses_ = true;
    remote_.peer_lost(rank);
    words_.peer_lost(rank);
    queries_.peer_lost(rank);
    events_.peer_down(rank);
  });
  if (client_.quiet()) return 0;
  ++counters_.polls;
  ni_.sync();
  int ran = reap_completions();
  ran += deliver_local();
  std::uint32_t id = 0;
  while (ran < kDeliveredMax && !client_.quiet() && next_received(&id)) {
    if (const Step step = taken_by(ni_.packet(id)); step != Step::count) ni_.charge(step);
    deliver(ni_.packet(id));
    ++ran;
  }
  ran += pages_.noticed();
  flow_.run_due();
  if (backlog_.armed > 0) [[unlikely]]
    ran += triggers_.progress();
  if (owes()) [[unlikely]] {
    ran += words_.send_waiting();
    ran += multicast_.pass_waiting();
    ran += remote_.progress();
    ran += queries_.progress();
  }
  pages_.settle();
  if (client_.next_due() != kNever) ran += run_due();
  ran_ += static_cast<std::uint64_t>(ran);
  if (ran == 0) {
    look_at_paths(ni_, [this](Rank rank, bool lost) { events_.path_changed(rank, lost); });
  }
  return ran;
}

template <HostNi Ni, class Transfer, class Flow>
inline Step NiPort<Ni, Transfer, Flow>::taken_by(const NiPacket& packet) {
  if constexpr (Transfer::kHasQueues) {
    ViEvent event;
    const bool is_sent = is_told(packet) && ViEvent::read(packet.header.client.words, event) &&
                         event.what == ViTold::sent;
    if (is_sent) return Step::reap_completion;
  }
  return Step::receive;
}

template <HostNi Ni, class Transfer, class Flow>
inline bool NiPort<Ni, Transfer, Flow>::next_received(PacketId* id) {
  if (!received_.any_aside()) return take_off(id);
  *id = received_.take_aside();
  return true;
}

template <HostNi Ni, class Transfer, class Flow>
inline bool NiPort<Ni, Transfer, Flow>::take_off(PacketId* id) {
  while (ni_.reap_receive(id)) {
    auto& packet = ni_.packet(*id);
    if (!took_near(packet)) {
      if (pages_.take(packet)) continue;
      if constexpr (!HostFlowOf::kRuns) return true;
      if (!flow_.came(*id)) continue;
    }
    if (!words_.take(packet)) return true;
    received_.done_with(ni_, packet);
  }
  return false;
}

template <HostNi Ni, class Transfer, class Flow>
inline bool NiPort<Ni, Transfer, Flow>::took_near(const NiPacket& packet) {
  if constexpr (kSharesNode<Ni>) {
    if (packet.holds != Holds::near_buffer) return false;
    ni_.read_near(packet.id);
    return true;
  }
  return false;
}

template <HostNi Ni, class Transfer, class Flow>
inline int NiPort<Ni, Transfer, Flow>::run_due() {
  const int ran = client_.run_due(now(), &NiPort::release_waiting, this);
  // A task that defers itself until something has changed must let time pass.
  if (ran > 0) ni_.charge(Step::poll_empty);
  return ran;
}

template <HostNi Ni, class Transfer, class Flow>
inline int NiPort<Ni, Transfer, Flow>::reap_completions() {
  int ran = 0;
  std::uint64_t cookie = 0;
  while (ni_.reap_completion(&cookie)) pages_.completed(cookie);
  typename Ni::Answer answer;
  while (ni_.reap_answer(&answer)) {
    ni_.charge(Step::receive);
    if (words_.answered(answer.cookie, answer.value)) ++ran;
  }
  return ran;
}

template <HostNi Ni, class Transfer, class Flow>
inline int NiPort<Ni, Transfer, Flow>::deliver_local() {
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

template <HostNi Ni, class Transfer, class Flow>
inline void NiPort<Ni, Transfer, Flow>::deliver(NiPacket& packet) {
  const fabric::ClientHeader& header = packet.header.client;
  const bool via_group = header.kind == PacketKind::multicast;
  packet.received = true;
  if (via_group && !groups_.knows(packet.header.dest_rank)) [[unlikely]] {
    multicast_.keep_early(packet);
    return received_.done_with(ni_, packet);
  }
  if (!is_told(packet)) {
    ++counters_.packets_received;
    counters_.bytes_received += header.size;
  }
  if (!ClientSide::known(header.chan) || header.lane > static_cast<std::uint8_t>(Lane::control)) {
    ++counters_.foreign_dropped;
    return received_.done_with(ni_, packet);
  }
  if (via_group) [[unlikely]] {
    ++counters_.multicasts_received;
    if (!forwarded_below(packet.header.dest_rank)) multicast_.pass_on(packet);
  }
  Arrival arrival{header.source,
                  header.chan,
                  static_cast<Lane>(header.lane),
                  via_group,
                  {header.words[0], header.words[1], header.words[2], header.words[3]},
                  {packet.payload(), header.size}};
  if (client_.deliver(handle(packet), arrival) == Keep::no) return received_.done_with(ni_, packet);
  received_.keep(ni_, packet, counters_);
}

}  // namespace fairlead::lci
