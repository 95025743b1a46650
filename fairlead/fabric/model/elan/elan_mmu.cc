// The MMU: of memory that peers name, its TLB knows the translations of so many pages; one that it
// lacks is found by a walk through tables in the interface's memory, which whoever needs it waits
// for. Pages are those of what a segment or a key names, which begins at one: addresses are the
// simulating process's, and say nothing of the modelled one. Pages that nobody names, of private
// buffers, events and queues, and those of another job, are always known.
#include "fairlead/fabric/model/elan/elan_ni.h"

namespace fairlead::fabric::model {
namespace {

constexpr std::uint64_t kWordBytes = 8;
// Beside a page's number: whose memory it is, and that a segment's number names it.
constexpr unsigned kPlaceShift = 55;
constexpr std::uint64_t kSegmentBit = std::uint64_t{1} << 63;

}  // namespace

Cycles ElanNi::walks(Rank rank, const RdmaPacket& names, std::uint64_t key, std::uint64_t offset,
                     std::uint64_t bytes, Access access) {
  std::uint64_t address = 0;
  if (ni_.tlb_entries == 0 || bytes == 0 ||
      !locate(rank, names, key, offset, bytes, access, &address)) {
    return {};
  }
  const std::uint64_t whose = std::uint64_t{parts_.ranks.place_of(rank)} << kPlaceShift |
                              (names.named.used != 0 ? kSegmentBit : 0);
  Cycles all{};
  for (std::uint64_t page = offset / ni_.page_bytes; page <= (offset + bytes - 1) / ni_.page_bytes;
       ++page) {
    if (!tlb_.use({key, whose | page})) all = all + ni_.walk;
  }
  return all;
}

Cycles ElanNi::walks_for(const RdmaPacket& in) {
  if (in.background) return {};
  const Rank rank = target(in);
  switch (in.kind) {
    case RdmaKind::write:
      return walks(rank, in, in.key, in.offset, in.bytes, Access::write);
    case RdmaKind::atomic:
      return walks(rank, in, in.key, in.offset, in.word_bytes, Access::atomic);
    case RdmaKind::query: {
      const Cycles tested = walks(rank, in, in.key, in.offset, kWordBytes, Access::read);
      if (in.named.stores == 0) return tested;
      return tested +
             walks(rank, in, in.named.store_key, in.named.store_offset, kWordBytes, Access::write);
    }
    default:
      return {};
  }
}

// What is cut from it is what its requester was permitted to get.
Cycles ElanNi::walks_of_source(const RdmaPacket& leaving) {
  if (leaving.kind != RdmaKind::read_data || leaving.background) return {};
  return walks(leaving.source, leaving, leaving.key, leaving.offset, leaving.bytes, Access::read);
}

}  // namespace fairlead::fabric::model
