// A postbox of the rsm device: one line of memory at the receiver, which a sender fills by a put.
// Message bytes lie in the postboxes themselves (Sun MPI paper, section 3.2: the short protocol) or
// in blocks of the connection's pool that the postboxes list (the long protocol).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace fairlead::mpi::rsm {

constexpr std::size_t kBoxBytes = 64;
// A pool is counted in small blocks; a large block is two of them (section 3.1).
constexpr std::uint64_t kSmallBlockBytes = 2048;
constexpr std::uint64_t kBlockBytes = 4096;
// Where a network interface follows from a block's place, as Fire Link's does, one block in so many
// is certain to lie at each interface of a host: that many stripes can be told apart.
constexpr std::uint64_t kStripes = 4;

enum class BoxKind : std::uint8_t {
  head = 1,         // begins a message: Head, then its first bytes
  more = 2,         // further bytes of the message that has begun
  head_blocks = 3,  // begins a message: Head, then the numbers of blocks that hold its first bytes
  more_blocks = 4,  // the numbers of further blocks
};

// The first word of a postbox. A slot that is used for the n-th time has generation n, so that a
// line that comes again, or late, is never taken for a new message.
struct Flag {
  std::uint32_t generation;
  BoxKind kind;
  std::uint8_t count;  // bytes in this postbox, or blocks that it lists
  std::uint16_t zero;
};
static_assert(sizeof(Flag) == 8 && std::is_trivially_copyable_v<Flag>);

// What a message says of itself: words as in wire.h (Kind::eager, offer or data), and its size.
struct Head {
  std::uint32_t words[4];
  std::uint64_t size;
};
static_assert(sizeof(Head) == 24 && std::is_trivially_copyable_v<Head>);

struct alignas(kBoxBytes) Box {
  Flag flag;
  std::byte body[kBoxBytes - sizeof(Flag)];
};
static_assert(sizeof(Box) == kBoxBytes);

// Bytes of a message in a postbox, and blocks that one lists.
constexpr std::uint64_t kHeadBytes = sizeof(Box::body) - sizeof(Head);
constexpr std::uint64_t kMoreBytes = sizeof(Box::body);
constexpr std::uint64_t kHeadBlocks = kHeadBytes / sizeof(std::uint16_t);
constexpr std::uint64_t kMoreBlocks = kMoreBytes / sizeof(std::uint16_t);

// Postboxes that a message of so many bytes takes by the short protocol.
constexpr std::uint64_t boxes_for(std::uint64_t bytes) {
  return bytes <= kHeadBytes ? 1 : 1 + (bytes - kHeadBytes + kMoreBytes - 1) / kMoreBytes;
}

// The generation of the `index`-th postbox of a queue of `boxes`, both counted from the first
// message of the connection.
constexpr std::uint32_t generation_of(std::uint64_t index, std::uint32_t boxes) {
  return static_cast<std::uint32_t>(index / boxes) + 1;
}

constexpr std::uint64_t word_of(Flag flag) {
  return std::uint64_t{flag.generation} |
         std::uint64_t{static_cast<std::uint8_t>(flag.kind)} << 32 |
         std::uint64_t{flag.count} << 40 | std::uint64_t{flag.zero} << 48;
}
constexpr Flag flag_of(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word), static_cast<BoxKind>(word >> 32 & 0xff),
          static_cast<std::uint8_t>(word >> 40), static_cast<std::uint16_t>(word >> 48)};
}

}  // namespace fairlead::mpi::rsm
