// What a port counted since it started (the figure-11 breakdown of the LCI paper and more). Lives
// in memory that outlives a rank, so that --stats tells the truth about one that was killed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fairlead {

// What most packets count lies in one cache line.
// clang-format off
#define FAIRLEAD_PORT_COUNTERS(X)                                                                 \
  X(packets_sent) X(bytes_sent) X(packets_received) X(bytes_received)                             \
  X(polls) X(acks_sent) X(acks_received) X(acks_piggybacked) X(empty_polls)                       \
  X(multicasts_sent) X(multicasts_received) X(multicasts_forwarded)                               \
  X(retransmissions) X(fetch_adds_served) X(puts) X(gets) X(atomics)                              \
  X(single_copies) X(single_copy_bytes) X(remote_copies) X(remote_copy_bytes)                     \
  X(remote_atomics) X(copied_out)                                                                 \
  X(credit_stalls) X(buffer_stalls) X(paced) X(sleeps) X(interrupts)                              \
  X(foreign_dropped) X(corrupt_dropped) X(bound_dropped) X(duplicates_dropped) X(gaps_dropped)    \
  X(full_dropped) X(resends_requested) X(timeouts) X(page_transfers) X(tlb_send_misses)           \
  X(tlb_receive_misses) X(parts_sent)
// clang-format on

struct PortCounters {
#define FAIRLEAD_FIELD(name) std::uint64_t name = 0;
  FAIRLEAD_PORT_COUNTERS(FAIRLEAD_FIELD)
#undef FAIRLEAD_FIELD
};

// One more packet of so many bytes, counted by one store: a sender's stores wait in line behind
// those into memory that another processor had last (docs/performance-diary.md).
template <std::size_t packets_at, std::size_t bytes_at>
inline void count_packet(PortCounters& counters, std::uint64_t bytes) {
  static_assert(bytes_at == packets_at + sizeof(std::uint64_t));
  using Two [[gnu::vector_size(16)]] = std::uint64_t;
  auto* const at = reinterpret_cast<std::byte*>(&counters) + packets_at;
  Two both;
  std::memcpy(&both, at, sizeof both);
  both += Two{1, bytes};
  std::memcpy(at, &both, sizeof both);
}
inline void count_sent(PortCounters& counters, std::uint64_t bytes) {
  count_packet<offsetof(PortCounters, packets_sent), offsetof(PortCounters, bytes_sent)>(counters,
                                                                                         bytes);
}
inline void count_received(PortCounters& counters, std::uint64_t bytes) {
  count_packet<offsetof(PortCounters, packets_received), offsetof(PortCounters, bytes_received)>(
      counters, bytes);
}

// sum += more, counter by counter.
inline void add_counters(PortCounters& sum, const PortCounters& more) {
#define FAIRLEAD_ADD(name) sum.name += more.name;
  FAIRLEAD_PORT_COUNTERS(FAIRLEAD_ADD)
#undef FAIRLEAD_ADD
}

// Messages of the programming systems, each of which is one packet or several, or one multicast.
// `parts_sent` are what stands in `packets_sent` and `multicasts_sent` without beginning a message:
// fragments behind the first, packets of the systems' own protocols, and those that carry a
// multicast. What the network moves one-sided (puts, gets, atomics) is no message.
inline std::uint64_t messages_sent(const PortCounters& counters) {
  const std::uint64_t all = counters.packets_sent + counters.multicasts_sent;
  // A rank that was killed between two of its counts may have counted more parts than packets.
  return all < counters.parts_sent ? 0 : all - counters.parts_sent;
}

// Calls visit(name, value&) for every counter, in the order of the table.
template <class Counters, class Visit>
void for_each_counter(Counters& counters, Visit&& visit) {
#define FAIRLEAD_VISIT(name) visit(#name, counters.name);
  FAIRLEAD_PORT_COUNTERS(FAIRLEAD_VISIT)
#undef FAIRLEAD_VISIT
}

}  // namespace fairlead
