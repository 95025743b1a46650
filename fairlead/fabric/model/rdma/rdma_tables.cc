// Contexts and translations that lie in the host's memory, as far as the interface does not keep
// them.
#include <algorithm>
#include <cstdint>

#include "fairlead/fabric/model/rdma/rdma_ni.h"

namespace fairlead::fabric::model {
namespace {

constexpr std::uint64_t kTranslationBytes = 8;          // of a page
constexpr std::uint64_t kKeyEntry = ~std::uint64_t{0};  // beside numbers of lines

}  // namespace

// The queues of a pair share one context.
std::uint64_t RdmaNi::context_missing(Rank own, Rank peer) {
  if (ni_.contexts == 0) return 0;
  return contexts_.use({own, peer}) ? 0 : ni_.context_bytes;
}

// Lines of the translations of those bytes of registered memory, which begins at a line: addresses
// are the simulating process's, and say nothing of the modelled one.
std::uint64_t RdmaNi::pages_missing(std::uint64_t key, std::uint64_t offset, std::uint64_t bytes) {
  if (ni_.translations == 0 || bytes == 0) return 0;
  const std::uint64_t pages = std::max<std::uint64_t>(ni_.translation_bytes / kTranslationBytes, 1);
  const std::uint64_t line_of = hw::RdmaParams::kPageBytes * pages;
  std::uint64_t missing = 0;
  for (std::uint64_t line = offset / line_of; line <= (offset + bytes - 1) / line_of; ++line) {
    if (!translations_.use({key, line})) missing += ni_.translation_bytes;
  }
  return missing;
}

// Pages of the requester's own memory, which has no key here, are always known.
void RdmaNi::fetch_payload(std::uint32_t id, std::uint64_t bytes) {
  RdmaPacket& leaving = packet(id);
  const std::uint64_t missing =
      leaving.kind == RdmaKind::read_data ? pages_missing(leaving.key, leaving.offset, bytes) : 0;
  if (missing == 0) return fetch(id, bytes, RdmaFetch::payload);
  leaving.bytes = static_cast<std::uint32_t>(bytes);
  way(leaving.source, leaving.dest).queues[leaving.queue].translates = true;
  read(id, missing, RdmaFetch::translation);
}

// What its queue reads next may need no translation; it would be read before this.
void RdmaNi::on_translation(std::uint32_t id) {
  const RdmaPacket leaving = packet(id);
  fetch(id, leaving.bytes, RdmaFetch::payload);
  way(leaving.source, leaving.dest).queues[leaving.queue].translates = false;
  pump(leaving.source, leaving.dest, leaving.queue);
}

// What a packet needs that arrived: its context, and, where it names memory, key and pages. A
// read's pages are looked up as its answer is cut.
std::uint64_t RdmaNi::arrival_missing(const RdmaPacket& in) {
  if (in.background) return 0;
  std::uint64_t missing = context_missing(in.dest, in.source);
  const bool word = in.kind == RdmaKind::atomic;
  if (in.kind != RdmaKind::write && in.kind != RdmaKind::read && !word) return missing;
  if (ni_.translations > 0 && !translations_.use({in.key, kKeyEntry})) {
    missing += ni_.translation_bytes;
  }
  if (in.kind == RdmaKind::read) return missing;
  const std::uint64_t bytes = word ? in.word_bytes : in.bytes;
  const bool known = of(in.dest).keys.find(in.key, in.offset, bytes, false, false).has_value();
  return known ? missing + pages_missing(in.key, in.offset, bytes) : missing;
}

void RdmaNi::take_up_arrivals() {
  while (!arrivals_.empty() && !reads_tables_) {
    const std::uint32_t id = arrivals_.front();
    if (const std::uint64_t missing = arrival_missing(packet(id)); missing > 0) {
      reads_tables_ = true;
      return read(id, missing, RdmaFetch::responder);
    }
    arrivals_.pop_front();
    take_up(id);
  }
}

}  // namespace fairlead::fabric::model
