// Sends and receives of virtual interfaces by network interfaces that know them (VIA 1.0): what a
// doorbell takes, what a descriptor looks like in host memory, what stands in the packets of a
// message, and what a host is told when it is over.
#pragma once
#include <cstdint>
#include <type_traits>

namespace fairlead::fabric {

// What a host writes into a doorbell: the descriptor that it has posted.
struct ViToken {
  std::uint64_t address;   // of the descriptor, in the rank's memory
  std::uint32_t handle;    // of that memory
  std::uint16_t sequence;  // of a send: its number, by which its end is told; wraps
  std::uint8_t connection;
};

// A descriptor begins with a control segment, behind which segments follow. VIPL's has the same
// fields (systems/via/vipl.h).
struct ViControl {
  std::uint64_t next;
  std::uint32_t next_handle;
  std::uint16_t segments;
  std::uint16_t control;
  std::uint32_t reserved;
  std::uint32_t immediate;
  std::uint32_t length;
  std::uint32_t status;
};
static_assert(sizeof(ViControl) == 32 && std::is_trivially_copyable_v<ViControl>);
// Bytes of this side's memory; the first one of an RDMA descriptor names the other side's.
struct ViSegment {
  std::uint64_t address;
  std::uint32_t handle;
  std::uint32_t length;
};
static_assert(sizeof(ViSegment) == 16 && std::is_trivially_copyable_v<ViSegment>);

// More segments than an interface looks at: its memory has room for a descriptor of 2 KB.
constexpr std::uint32_t kViSegmentsMax = 120;

// ViControl::control.
constexpr std::uint16_t kViOpMask = 0x0003;
constexpr std::uint16_t kViOpWrite = 0x0001;
constexpr std::uint16_t kViOpRead = 0x0002;
constexpr std::uint16_t kViImmediate = 0x0004;
constexpr std::uint16_t kViReserved = 0xfff0;

// ViControl::status.
constexpr std::uint32_t kViDone = 0x1;
constexpr std::uint32_t kViFormatError = 0x2;
constexpr std::uint32_t kViProtectionError = 0x4;
constexpr std::uint32_t kViLengthError = 0x8;
constexpr std::uint32_t kViRdmaProtectionError = 0x80;
constexpr std::uint32_t kViRemoteDescriptorError = 0x100;
constexpr std::uint32_t kViErrorMask = 0x1fe;
constexpr std::uint32_t kViOpReceive = 0x10000;
constexpr std::uint32_t kViOpRdmaWrite = 0x20000;
constexpr std::uint32_t kViOpRemoteWrite = 0x30000;
constexpr std::uint32_t kViOpRdmaRead = 0x40000;
constexpr std::uint32_t kViHasImmediate = 0x80000;

// The words of a packet of a message or of RDMA, of message_done, and of broken, which has in
// `bytes` the status of the message that broke the connection, or 0.
struct ViMessageHead {
  std::uint16_t queue = 0;  // the target's virtual interface
  std::uint8_t connection = 0;
  bool has_immediate = false;
  std::uint16_t sequence = 0;
  std::uint32_t offset = 0;  // of the piece; below 2^24
  std::uint32_t bytes = 0;   // of the message; below 2^24
  std::uint32_t immediate = 0;

  static constexpr std::uint32_t kSizeMask = (1U << 24) - 1;

  static ViMessageHead read(const std::uint32_t (&words)[4]) {
    ViMessageHead made;
    made.queue = static_cast<std::uint16_t>(words[0]);
    made.connection = static_cast<std::uint8_t>(words[0] >> 16);
    made.has_immediate = (words[0] >> 24 & 1) != 0;
    made.sequence = static_cast<std::uint16_t>(words[1] >> 24 | (words[2] >> 24) << 8);
    made.offset = words[1] & kSizeMask;
    made.bytes = words[2] & kSizeMask;
    made.immediate = words[3];
    return made;
  }
  void write(std::uint32_t (&words)[4]) const {
    words[0] =
        std::uint32_t{queue} | std::uint32_t{connection} << 16 | (has_immediate ? 1U << 24 : 0U);
    words[1] = offset | (std::uint32_t{sequence} & 0xff) << 24;
    words[2] = bytes | (std::uint32_t{sequence} >> 8) << 24;
    words[3] = immediate;
  }
};

// Before each piece of an RDMA write, and alone of a read: where the whole operation begins, in
// memory of the target's rank.
struct ViPlace {
  std::uint64_t address;
  std::uint32_t handle;
  std::uint32_t unused;
};
static_assert(sizeof(ViPlace) == 16 && std::is_trivially_copyable_v<ViPlace>);

// What a host is told, in the words of a packet of its own interface. received, sent: a descriptor
// is done, by its status. no_descriptor, write_refused, read_refused: a message of the other side
// found none, or no memory that it may write, or read. broken: the other side has broken the
// connection.
enum class ViTold : std::uint8_t {
  received,
  sent,
  no_descriptor,
  write_refused,
  broken,
  read_refused
};
constexpr std::uint32_t kViToldKinds = 6;

struct ViEvent {
  ViTold what = ViTold::received;
  std::uint16_t queue = 0;
  std::uint8_t connection = 0;
  std::uint32_t status = 0;  // of the descriptor, without kViDone
  std::uint32_t bytes = 0;   // that were moved
  std::uint32_t value = 0;   // of received: immediate data; of sent: ViToken::sequence
  // The completion queue that an entry of it was written to (ViEntries); 0: none was.
  std::uint16_t entry = 0;
  bool overrun = false;  // because its completion queue had no room

  static constexpr std::uint32_t kStatusMask = (1U << 20) - 1;

  // False: no event looks so.
  static bool read(const std::uint32_t (&words)[4], ViEvent& to) {
    const std::uint32_t what = words[0] >> 24;
    if (what >= kViToldKinds) return false;
    to.what = static_cast<ViTold>(what);
    to.queue = static_cast<std::uint16_t>(words[0]);
    to.connection = static_cast<std::uint8_t>(words[0] >> 16);
    to.status = words[1] & kStatusMask;
    to.entry = static_cast<std::uint16_t>(words[1] >> 20);
    to.bytes = words[2] & ViMessageHead::kSizeMask;
    to.overrun = (words[2] >> 24 & 1) != 0;
    to.value = words[3];
    return true;
  }
  void write(std::uint32_t (&words)[4]) const {
    words[0] = std::uint32_t{queue} | std::uint32_t{connection} << 16 |
               static_cast<std::uint32_t>(what) << 24;
    words[1] = (status & kStatusMask) | std::uint32_t{entry} << 20;
    words[2] = (bytes & ViMessageHead::kSizeMask) | (overrun ? 1U << 24 : 0U);
    words[3] = value;
  }
};

}  // namespace fairlead::fabric
