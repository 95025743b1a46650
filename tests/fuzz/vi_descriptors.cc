// What a network interface with virtual interfaces reads from host memory, which programs may write
// at any time, and what other interfaces send: tokens in doorbells, descriptors that change while
// they are read, messages, RDMA and puts of the Port's of any shape. The interface reads and writes
// registered memory that the virtual interface may reach, puts write segments that are exposed, and
// it touches nothing else.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <vector>

#include "fairlead/lci/ni/fake_via_ni.h"

using namespace fairlead;       // NOLINT: the function below
using namespace fairlead::lci;  // NOLINT: the function below
using fabric::NiPacket;
using fabric::PacketKind;
using fabric::ViOp;

namespace {

constexpr std::uint32_t kQueue = 2;
constexpr std::uint32_t kDoorbell = 1;
constexpr Peer kPeer = 3;
constexpr std::uint16_t kEntries = 11;  // the completion queue, and where its consumer index is
constexpr std::uint64_t kConsumed = 39'996;
constexpr std::uint32_t kTag = 9;
constexpr std::size_t kPayload = 2100;  // bytes of a packet of FakeViaNi's

void expect(bool condition) {
  if (!condition) std::abort();
}

// Memory 5 permits RDMA, 6 has another tag than the virtual interface, 7 permits no RDMA.
struct Region {
  std::uint32_t handle;
  std::uint64_t base;
  std::uint64_t bytes;
  std::uint32_t ptag;
  bool rdma;
};
constexpr Region kRegions[] = {
    {5, 4096, 10'000, kTag, true}, {6, 20'000, 3'000, 8, true}, {7, 30'000, 3'000, kTag, false}};
// What the Port has exposed: 5, which peers may write, and 6, which they may not.
constexpr Region kSegments[] = {{5, 34'000, 2'000, 0, true}, {6, 36'500, 500, 0, false}};
constexpr std::uint64_t kHostBytes = 40'000;

class Ni : public FakeViaNi {
 public:
  void fetch(std::uint32_t id) {
    const NiPacket& read = packet(id);
    const std::size_t at = offset_of(read);
    expect(at + read.fetch_bytes <= kPayload);
    if (op_of(read) != ViOp::none) check(read, read.fetch_bytes, op_of(read) == ViOp::read_data);
    if (op_of(read) == ViOp::read_data) expect(read.page_bytes == 0);
    fetches.push_back(id);
  }
  void land_rdma(std::uint32_t id) {
    const NiPacket& landing = packet(id);
    expect(landing.page_bytes <= landing.header.client.size &&
           landing.header.client.size <= kPayload);
    const std::uint64_t bytes = landing.header.client.size - landing.page_bytes;
    landings.push_back(id);
    if (landing.header.client.kind == PacketKind::page_transfer) {
      const std::uint64_t at = landing.cookie - kSegments[0].base;
      return expect(at <= kSegments[0].bytes && bytes <= kSegments[0].bytes - at);
    }
    check(landing, bytes, op_of(landing) == ViOp::message_write);
  }
  void transmit(Peer, std::uint32_t id) { sent.push_back(id); }
  // Never more entries are written than the completion queue has room for, by a consumer index
  // that can be: nothing else is believed. Those that are written before its room is changed are
  // there all the same.
  void tell(std::uint32_t id, bool has_entry) {
    fabric::ViEvent event;
    expect(fabric::ViEvent::read(packet(id).header.client.words, event));
    expect(has_entry == (event.entry != 0));
    if (!has_entry) return;
    expect(!event.overrun);
    const auto* const queue = vi_table().entries(0, event.entry);
    expect(queue != nullptr && queue->produced - queue->consumed <= queue->room);
  }
  bool read_word_now(std::uint32_t place, std::uint64_t address, std::uint32_t* word) {
    expect(place == 0 && (address == kConsumed || address == kConsumed - 4));
    return FakeViaNi::read_word_now(place, address, word);
  }
  void free_packet(std::uint32_t id) { expect(free_.insert(id).second); }
  NiPacket& packet(std::uint32_t id) {
    expect(!free_.contains(id));
    return FakeViaNi::packet(id);
  }

  static ViOp op_of(const NiPacket& packet) { return static_cast<ViOp>(packet.source); }
  // Where in the packet what is read belongs.
  static std::size_t offset_of(const NiPacket& packet) { return packet.page_bytes; }

  std::deque<std::uint32_t> fetches;
  std::deque<std::uint32_t> landings;
  std::deque<std::uint32_t> sent;

 private:
  // It is registered memory that the virtual interface may reach.
  static void check(const NiPacket& packet, std::uint64_t bytes, bool is_rdma) {
    const bool good = std::any_of(std::begin(kRegions), std::end(kRegions), [&](const Region& its) {
      const std::uint64_t at = packet.cookie - its.base;
      return its.ptag == kTag && (its.rdma || !is_rdma) && at <= its.bytes &&
             bytes <= its.bytes - at;
    });
    expect(good);
  }
  std::set<std::uint32_t> free_;
};

// What the input does, one step after the other.
class Host {
 public:
  Host(const std::uint8_t* data, std::size_t size) : at_(data), left_(size), memory_(kHostBytes) {
    for (int i = 0; i < 4; ++i) ni_.doorbells().add(0);
    for (const Region& its : kRegions) {
      ni_.vi_table().allow(0, {its.handle, its.ptag, its.base, its.bytes, its.rdma, its.rdma});
    }
    for (const Region& its : kSegments) {
      ni_.vi_table().allow(0, {its.handle, its.ptag, its.base, its.bytes, its.rdma, false, true});
    }
    // A descriptor to begin with: two segments.
    const fabric::ViControl control{0, 0, 2, 0, 0, 1234, 0, 0};
    const fabric::ViSegment segments[] = {{5000, 5, 100}, {6000, 5, 1200}};
    write(4096, &control, sizeof control);
    write(4096 + sizeof control, segments, sizeof segments);
  }

  void run() {
    connect(byte());
    while (left_ > 0 && !violated_) step(byte());
    for (int i = 0; i < 1000 && goes_on(); ++i) {
    }
  }

 private:
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  std::uint32_t word() { return byte() | std::uint32_t{byte()} << 8; }
  void write(std::uint64_t to, const void* from, std::size_t bytes) {
    std::memcpy(memory_.data() + to, from, bytes);
  }

  void connect(std::uint8_t kind) {
    fabric::ViEnd end{kQueue, kPeer, 1, kTag, (kind & 1) == 0, (kind & 2) == 0, (kind & 4) == 0};
    end.tells = (kind & 8) != 0;
    end.send_entries = end.receive_entries = (kind & 16) != 0;
    end.peer_connection = 4;
    end.peer_queue = 7;
    end.chan = 77;
    end.transfer_max = 5000;
    ni_.vi_table().connect(0, end);
    for (const bool of_receives : {false, true}) {
      ni_.vi_table().count_entries(0, kQueue, of_receives, {kEntries, 3, kConsumed});
    }
  }
  // An address near what is there, most of the time.
  std::uint64_t address(std::uint8_t kind) {
    const std::uint64_t near = kRegions[kind % 3].base - 64 + word() % 12'000;
    return (kind & 0x80) != 0 ? near << 40 : near;
  }
  std::uint32_t handle(std::uint8_t kind) { return (kind & 0x40) != 0 ? kind : 5 + kind % 3u; }

  void step(std::uint8_t what) {
    switch (what % 11) {
      case 0:
        return post(byte());
      case 1: {
        const std::uint8_t kind = byte();
        return ni_.vi_table().post_receive(0, kQueue, {address(kind), handle(kind), 0, 1});
      }
      case 2:
        return change(word() % (kHostBytes - 256), byte());
      case 3:
        return describe(byte());
      case 4:
        return arrive(byte());
      case 5:
        ni_.vi_table().disconnect(0, kQueue);
        return connect(byte());
      case 6:
        // The host takes an entry, or writes anything into the consumer index.
        ni_.consumed = byte() % 2 == 0 ? ni_.consumed + 1 : word() << (byte() % 17);
        return;
      case 7:
        return count_entries(byte());
      case 8:
        return arrive_put(byte());
      default:
        (void)goes_on();
    }
  }
  // Another completion queue, another room, an index elsewhere, or none of it any more.
  void count_entries(std::uint8_t kind) {
    const auto number = static_cast<std::uint16_t>((kind & 1) == 0 ? kEntries : 1 + word() % 4095);
    const std::uint32_t room = (kind & 2) == 0 ? byte() % 4 : word() << 15;
    const std::uint32_t queue = (kind & 4) == 0 ? kQueue : byte();
    const std::uint64_t at = (kind & 8) == 0 ? kConsumed : kConsumed - 4;
    ni_.vi_table().count_entries(0, queue, (kind & 16) != 0, {number, room, at});
  }
  void post(std::uint8_t kind) {
    if (waiting_ > 0) return;
    const std::uint32_t id = ni_.make(PacketKind::data, 0);
    NiPacket& token = ni_.packet(id);
    token.source = static_cast<std::uint8_t>(ViOp::send_token);
    token.operand = kDoorbell;
    token.cookie = address(kind);
    fabric::ViMessageHead head;
    head.queue = kQueue;
    head.connection = (kind & 0x20) != 0 ? 2 : 1;
    head.sequence = number_++;
    head.immediate = handle(kind);
    head.write(token.header.client.words);
    ni_.doorbells().fill(kDoorbell);
    program_.rung(id, ni_.time);
    ++waiting_;
  }
  void change(std::uint64_t at, std::uint8_t bytes) {
    for (std::uint8_t i = 0; i < bytes && left_ > 0; ++i) {
      memory_[at + i] = static_cast<std::byte>(byte());
    }
  }
  // One that looks like a descriptor, where the first one was.
  void describe(std::uint8_t kind) {
    const auto segments = static_cast<std::uint16_t>(byte() % 130);
    fabric::ViControl control{0, 0, segments, 0, 0, 1, 0, 0};
    if (word() % 2 != 0) control.control = kind;
    write(4096, &control, sizeof control);
    for (std::uint32_t i = 0; i < segments && left_ > 0; ++i) {
      const std::uint8_t its = byte();
      const fabric::ViSegment segment{address(its), handle(its), word() % 700};
      write(4096 + sizeof control + i * sizeof segment, &segment, sizeof segment);
    }
  }
  void arrive(std::uint8_t kind) {
    if (came_ == kComesMax) return;
    constexpr ViOp kOps[] = {ViOp::message,   ViOp::message_write, ViOp::message_done,
                             ViOp::broken,    ViOp::message_write, ViOp::read,
                             ViOp::read_data, ViOp::read_data};
    const std::uint32_t id = ni_.make(PacketKind::data, kPeer);
    NiPacket& packet = ni_.packet(id);
    packet.header.sequence = came_++;
    packet.header.client.source = (kind & 0x80) != 0 ? 2 : kPeer;
    packet.header.client.size = word() % 1000;
    packet.header.job = 7 | 4 << 16;
    packet.source = static_cast<std::uint8_t>(kOps[kind % 8]);
    fabric::ViMessageHead head;
    head.queue = (kind & 0x40) != 0 ? byte() : kQueue;
    head.connection = 1;
    head.sequence = (kind & 0x08) != 0 ? byte() : 0;
    head.has_immediate = kind % 8 == 1;
    head.offset = (kind & 0x20) != 0 ? word() : 0;
    head.bytes = (kind & 0x10) != 0 ? word() : packet.header.client.size;
    head.write(packet.header.client.words);
    const std::uint8_t where = byte();
    const fabric::ViPlace place{address(where), handle(where), 0};
    if (kOps[kind % 8] == ViOp::read && (kind & 0x10) != 0) {
      packet.header.client.size = sizeof place;
    }
    std::memcpy(packet.payload(), &place, sizeof place);
    program_.on_received(id);
  }

  // One for a segment or none, near its ends most of the time.
  void arrive_put(std::uint8_t kind) {
    if (came_ == kComesMax) return;
    const std::uint32_t id = ni_.make(PacketKind::page_transfer, kPeer);
    NiPacket& packet = ni_.packet(id);
    packet.header.sequence = came_++;
    packet.header.client.source = kPeer;
    packet.header.client.size = word() % kPayload;
    packet.source = kind;
    packet.page_bytes = static_cast<std::uint16_t>(kind << 4);
    packet.redirected = (kind & 0x10) != 0;
    std::uint64_t offset = word() % 2'100;
    if ((kind & 0x20) != 0) offset = ~offset;
    if ((kind & 0x40) != 0) offset <<= 40;
    PageTarget{5 + kind % 3u, offset}.write(packet.header.client);
    program_.on_received(id);
  }

  // The oldest of what the interface waits for comes about. False: it waits for nothing.
  bool goes_on() {
    if (waiting_ > 0 && ni_.look != kNever) {
      --waiting_;
      ni_.time = std::max(ni_.time, ni_.look);
      program_.on_look();
    } else if (!ni_.fetches.empty()) {
      const std::uint32_t id = ni_.fetches.front();
      ni_.fetches.pop_front();
      NiPacket& read = ni_.packet(id);
      const bool registered =
          Ni::op_of(read) != ViOp::none && read.header.client.kind == PacketKind::data;
      if (registered) {
        std::memcpy(read.payload() + Ni::offset_of(read), memory_.data() + read.cookie,
                    read.fetch_bytes);
      }
      program_.on_fetched(id);
    } else if (!ni_.landings.empty()) {
      const std::uint32_t id = ni_.landings.front();
      ni_.landings.pop_front();
      NiPacket& landed = ni_.packet(id);
      landed.redirected = landed.header.client.kind == PacketKind::page_transfer &&
                          byte() % 4 == 0;  // it is exposed no more
      program_.on_landed(id, kPeer);
    } else if (!ni_.sent.empty()) {
      const std::uint32_t id = ni_.sent.front();
      ni_.sent.pop_front();
      const std::uint32_t origin = ni_.packet(id).origin;
      if (ni_.packet(id).header.client.kind == PacketKind::data && origin != fabric::kNoPacket) {
        program_.on_transmitted(origin, 0);
      }
    } else {
      return false;
    }
    return true;
  }

  static constexpr std::uint32_t kWindow = 64;
  static constexpr std::uint32_t kComesMax = 60;

  const std::uint8_t* at_;
  std::size_t left_;
  std::vector<std::byte> memory_;
  Ni ni_;
  bool violated_ = false;
  std::uint32_t came_ = 0;
  std::uint32_t waiting_ = 0;  // doorbells that were not found
  std::uint16_t number_ = 0;
  ViaProgram<Ni, proto::CreditWindow> program_{
      ni_,
      proto::CreditWindow(4, kWindow),
      {4, 4, 4 * kWindow, true, false, proto::TreeShape::binary,
       [](void* self, Peer, Peer, const char*) { static_cast<Host*>(self)->violated_ = true; },
       this},
      {2, 2, 2, 1}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Host host(data, size);
  host.run();
  return 0;
}
