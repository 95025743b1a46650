// What a network interface does for virtual interfaces beside the packets of its ranks: transfers
// between registered memory and packets, and doorbells.
#include <cstddef>
#include <cstdint>

#include "fairlead/fabric/model/lanai/ni_hardware.h"

namespace fairlead::fabric::model {

using hw::kDoorbellEvent;

namespace {
constexpr unsigned kAddressBits = 48;  // of a process's memory
}  // namespace

RankMemory& NiHardware::memory_of(std::uint32_t place) {
  RankMemory* const its = side(place).memory;
  return its == nullptr ? own_memory_ : *its;
}

Figures::Stream NiHardware::stream_of(const NiPacket& moved) const {
  const ClientHeader& header = moved.header.client;
  return {.from = header.source,
          .to = rank_at(moved.to),
          .chan = static_cast<std::uint16_t>(header.words[0]),
          .is_connection = true};
}

// Where the rank is gone, nobody looks at what was to be moved.
void NiHardware::move_rdma(const DmaRequest& done) {
  NiPacket& moved = packet(done.id);
  const std::uint32_t size = moved.header.client.size;
  const auto op = static_cast<ViOp>(moved.source);
  if (done.kind == DmaKind::rdma) {
    const std::byte* const from = moved.payload() + moved.page_bytes;
    const std::uint32_t bytes = size - moved.page_bytes;
    const bool is_put = moved.header.client.kind == PacketKind::page_transfer;
    const bool lands = is_put ? is_exposed(moved, bytes)
                              : is_registered(moved, moved.to, bytes) &&
                                    is_connected(moved.to, moved.header.client.words[0]);
    if (lands) (void)memory_of(moved.to).write(moved.cookie, from, bytes);
    moved.redirected = is_put && !lands;
    if (parts_.figures != nullptr && op != ViOp::fragment && !is_put) [[unlikely]]
      parts_.figures->ends(done.id, parts_.engine.now(), stream_of(moved), moved.part);
    return;
  }
  const bool reads = op >= ViOp::message && op <= ViOp::fragment && moved.holds == Holds::nothing &&
                     moved.fetch_bytes > 0 && is_registered(moved, moved.place, moved.fetch_bytes);
  if (!reads) return;
  std::byte* const to = moved.payload() + moved.page_bytes;
  (void)memory_of(moved.place).read(moved.cookie, to, moved.fetch_bytes);
}

// The program looked them up when the transfer was asked for; its host may have changed its mind
// since.
bool NiHardware::is_registered(const NiPacket& moved, std::uint32_t place, std::uint64_t bytes) {
  const auto handle = static_cast<std::uint32_t>(moved.operand);
  const ViTable::Memory* const memory = vi_table().memory(place, handle);
  return memory != nullptr && memory->holds(moved.cookie, bytes);
}
bool NiHardware::is_exposed(const NiPacket& put, std::uint64_t bytes) {
  const ViTable::Memory* const memory = vi_table().segment(put.to, put.header.client.words[0]);
  return memory != nullptr && memory->holds(put.cookie, bytes);
}
bool NiHardware::is_connected(std::uint32_t place, std::uint32_t name) {
  const ViTable::End* const end = vi_table().end(name & 0xffff);
  return end != nullptr && end->place == place && end->connection == (name >> 16 & 0xff);
}

bool NiHardware::read_word_now(std::uint32_t place, std::uint64_t address, std::uint32_t* word) {
  read_now();
  return memory_of(place).read(address, reinterpret_cast<std::byte*>(word), sizeof *word);
}

void NiHardware::write_status(PacketId id) {
  NiPacket& telling = packet(id);
  const bool is_told = telling.source == static_cast<std::uint8_t>(ViOp::told) &&
                       telling.header.client.kind == PacketKind::data &&
                       telling.holds == Holds::nothing;
  if (!is_told || telling.cookie == 0) return;
  constexpr std::uint64_t kBehind = offsetof(ViControl, immediate);
  const bool written = is_registered(telling, telling.to, sizeof(ViControl)) &&
                       is_connected(telling.to, telling.header.client.words[0]);
  if (written) {
    constexpr std::uint64_t kBytes = sizeof(ViControl) - kBehind;
    (void)memory_of(telling.to).write(telling.cookie + kBehind, telling.payload(), kBytes);
  }
  telling.cookie = 0;
}

void NiHardware::take_doorbell(std::uint32_t doorbell) {
  parts_.engine.at(processor_.now(), self(), kDoorbellEvent, &NiHardware::on_doorbell_free, this,
                   doorbell);
}

void NiHardware::on_doorbell_free(void* self, std::uint64_t doorbell, std::uint64_t) {
  auto* ni = static_cast<NiHardware*>(self);
  const auto number = static_cast<std::uint32_t>(doorbell);
  ni->doorbells_->clear(number);
  const Side& of = ni->side(ni->doorbells_->place_of(number));
  of.host->doorbell_free(of.context);
}

void NiHardware::ring_receive_doorbell(Ps at, std::uint32_t place, std::uint32_t queue,
                                       const ViToken& token) {
  parts_.engine.at(at, self(), kDoorbellEvent, &NiHardware::on_receive_doorbell, this,
                   token.address | std::uint64_t{queue} << kAddressBits,
                   std::uint64_t{token.handle} | std::uint64_t{token.connection} << 32 |
                       std::uint64_t{place} << 40);
}

void NiHardware::on_receive_doorbell(void* self, std::uint64_t where, std::uint64_t what) {
  auto* ni = static_cast<NiHardware*>(self);
  const ViToken token{where & ((std::uint64_t{1} << kAddressBits) - 1),
                      static_cast<std::uint32_t>(what), 0, static_cast<std::uint8_t>(what >> 32)};
  ni->vi_table().post_receive(static_cast<std::uint32_t>(what >> 40),
                              static_cast<std::uint32_t>(where >> kAddressBits), token);
}

}  // namespace fairlead::fabric::model
