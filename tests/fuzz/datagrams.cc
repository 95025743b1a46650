// What may come to a rank's socket: bytes of a stranger, and datagrams of a rank of the job that
// has gone mad, whose seals are right. The whole way up: seal, reliability, records, channels,
// remote memory.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "fairlead/fabric/udp/udp_nic.h"
#include "fairlead/lci/direct/direct_port.h"
#include "fairlead/lci/reliable/frame.h"
#include "fairlead/lci/reliable/frame_copies.h"
#include "fairlead/lci/reliable/reliable_nic.h"

using namespace fairlead;  // NOLINT: one function below

namespace {

constexpr fabric::JobKey kKey = {4, 2};
constexpr std::uint32_t kJob = 5;

// Rank 0 of two; rank 1 is the fuzzer.
struct Rank0 {
  Rank0() {
    fabric::UdpOptions options;
    options.peers = 2;
    options.key = kKey;
    options.job = kJob;
    options.find = [](void*, Peer, fabric::UdpAddress*) { return false; };
    udp = std::move(fabric::open_udp(options).value());
    reliable = lci::make_reliable_nic(*udp, {});
    port = lci::make_direct_port(*reliable, {});
    port->bind(1,
               {[](void*, lci::Packet*, const lci::Arrival& arrival) {
                  std::uint8_t sum = 0;
                  for (const std::byte b : arrival.data) sum ^= static_cast<std::uint8_t>(b);
                  return sum == 0xff ? Keep::yes : Keep::no;
                },
                nullptr},
               {});
    port->allocate(3, 64, lci::Place::host);
    // Memory that may be copied, and copies that the other rank is asked for.
    (void)port->expose(4, exposed.data(), exposed.size(), lci::kRead | lci::kWrite, nullptr, {});
    key = reliable->register_memory(exposed, true, true)->key;
    using What = fabric::RemoteCopy::What;
    for (const What what : {What::read, What::write}) {
      (void)reliable->copy_remote({what, 1, {1, 0}, 0, copied.data(), copied.size(), 1});
    }
  }
  std::unique_ptr<fabric::UdpNic> udp;
  std::unique_ptr<lci::ReliableNic> reliable;
  std::unique_ptr<lci::Port> port;
  std::vector<std::byte> exposed = std::vector<std::byte>(4096);
  std::vector<std::byte> copied = std::vector<std::byte>(3000);
  std::uint64_t key = 0;
};

// A key and the number of a copy cannot be guessed.
void complete(const Rank0& rank, const fabric::ClientHeader& header,
              std::vector<std::byte>& payload) {
  lci::PieceHead head;
  lci::RecordHeader record;
  std::uint64_t key = 0;
  if (header.kind == fabric::PacketKind::copy_piece && payload.size() >= sizeof head) {
    std::memcpy(&head, payload.data(), sizeof head);
    if ((head.key & 1) == 0) head.key = rank.key;
    head.offset %= 5000;
    head.id %= 4;
    std::memcpy(payload.data(), &head, sizeof head);
  } else if (payload.size() >= sizeof record + sizeof key) {
    std::memcpy(&record, payload.data(), sizeof record);
    std::memcpy(&key, payload.data() + sizeof record, sizeof key);
    if (record.chan < 0x8000) return;
    record.chan = 0xffff;
    record.words[0] %= 3;
    if ((key & 1) == 0) key = rank.key;
    std::memcpy(payload.data(), &record, sizeof record);
    std::memcpy(payload.data() + sizeof record, &key, sizeof key);
  }
}

void send_to(const fabric::UdpAddress& address, std::span<const std::byte> bytes) {
  static const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(address.port);
  std::memcpy(&to.sin_addr, address.ip, 4);
  (void)::sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Rank0 rank;
  const auto bytes = std::as_bytes(std::span(data, size));
  send_to(rank.udp->address(), bytes);
  // Sealed ones: 48 bytes of header, a byte that says how long the payload is, the payload.
  fabric::Seal seal(kKey, fabric::Auth::header, {1, 0});
  std::span<const std::byte> left = bytes;
  for (std::uint32_t number = 0; left.size() > sizeof(fabric::PacketHeader); ++number) {
    fabric::UdpHeader header{};
    std::memcpy(&header.packet, left.data(), sizeof header.packet);
    left = left.subspan(sizeof header.packet);
    const auto wanted = static_cast<std::size_t>(left[0]) * 4;
    const std::span<const std::byte> given =
        left.subspan(1).first(std::min(wanted, left.size() - 1));
    left = left.subspan(1 + given.size());
    std::vector<std::byte> payload(given.begin(), given.end());
    // Most of what is checked first is made right, or nothing would get past it.
    const bool wild = (header.packet.client.stamp & 7) == 7;
    header.packet.job = kJob;
    if (!wild) {
      header.packet.client.source = 1;
      header.packet.client.size = static_cast<std::uint32_t>(payload.size());
      header.packet.client.lane %= 3;
      constexpr fabric::PacketKind kKinds[] = {fabric::PacketKind::frame, fabric::PacketKind::ack,
                                               fabric::PacketKind::copy_piece,
                                               fabric::PacketKind::frame};
      header.packet.client.kind = kKinds[header.packet.client.stamp & 3];
      if (header.packet.client.kind == fabric::PacketKind::copy_piece)
        header.packet.client.lane = 2;
      complete(rank, header.packet.client, payload);
      header.packet.sequence = number;
      header.packet.ack %= 4;
      header.packet.client.words[2] %= 4;
      header.packet.client.words[3] %= 4;
    }
    seal.seal(header, 0, payload, nullptr);
    std::vector<std::byte> datagram(sizeof header + payload.size());
    std::memcpy(datagram.data(), &header, sizeof header);
    std::copy(payload.begin(), payload.end(), datagram.begin() + sizeof header);
    send_to(rank.udp->address(), datagram);
    rank.port->poll();
  }
  for (int i = 0; i < 4; ++i) rank.port->poll();
  return 0;
}
