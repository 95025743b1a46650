// What passes between the launcher and a rank over their sockets, and between the ranks of a node
// that another launcher started: fixed-width, versioned, checked by the reader. Each message is one
// datagram of a SOCK_SEQPACKET socket; a card goes through the launcher (join/job_exchange.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "fairlead/base/result.h"

namespace fairlead::run {

constexpr std::uint32_t kBootstrapMagic = 0x66'6c'62'31;  // "flb1"
constexpr std::uint16_t kBootstrapVersion = 9;

// network: all ranks reach each other by it; else it is for those of other nodes. memory: there is
// none, as the job's memory is that of all hosts.
enum class WorldKind : std::uint16_t { shm = 1, model = 2, network = 3, memory = 4 };
// lines: a file in memory whose caches are flushed by hand (fabric/lines).
enum class Network : std::uint32_t { udp = 0, ofi = 1, lines = 2 };

struct MessageHead {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t kind;  // MessageKind
  std::uint32_t bytes;
  std::uint32_t rank;
};
static_assert(sizeof(MessageHead) == 16);

enum class MessageKind : std::uint16_t {
  welcome = 1,
  abort = 2,
  signal = 3,
  card = 4,
  hello = 5,
  address = 6,
  ended = 7
};

// Launcher to rank, waiting in the rank's socket before the rank starts, so that joining a job is
// one receive and no round trip. Carries three or four descriptors, in this order: the job's
// memory, the board, the rank's end of its own socket to the guardian, and the bell of its NI
// engine. From a rank that leads its node: two to four, the third being the node's pulse
// (join/node_pulse.h), or, of a single node, the bell's place-holder.
struct Welcome {
  static constexpr std::size_t kDescriptors = 3;
  static constexpr std::size_t kDescriptorsMax = 4;
  static constexpr std::size_t kLciBytes = 64;
  static constexpr std::size_t kFaultsBytes = 512;
  static constexpr std::size_t kPathBytes = 1024;
  static constexpr std::size_t kAddressBytes = 64;
  static constexpr std::size_t kProviderBytes = 64;

  MessageHead head;
  std::uint32_t ranks;
  std::uint16_t world;    // WorldKind
  std::uint16_t compute;  // Compute, of a modelled job
  std::uint64_t nonce;
  std::uint64_t seed;
  std::int64_t epoch_ps;  // CLOCK_MONOTONIC at the start of the World
  // WaitPlan, see base/wait_ladder.h
  std::uint32_t wait_spins;
  std::uint32_t wait_pauses;
  std::int64_t wait_yield_ps;
  std::int64_t wait_sleep_ps;
  // For ranks that use a network:
  std::uint8_t key[16];  // the job's; makes datagrams its own
  std::uint32_t auth;    // fabric::Auth
  std::uint32_t mtu;     // 0: the interface's
  // The ranks of this node; count 0: all are.
  std::uint32_t near_first;
  std::uint32_t near_count;
  std::uint32_t network;    // Network
  std::uint32_t engines;    // NIs of the job that have one; ShmJob::nodes() says whose
  std::int64_t silence_ps;  // where another launcher started the ranks: of a node that is lost
  std::uint64_t rank_memory_bytes;  // that Port::allocate may give
  // NUL-terminated, rest zero.
  char lci[kLciBytes];
  char faults[kFaultsBytes];
  char trace_path[kPathBytes];
  char address[kAddressBytes];    // of this host on that network
  char provider[kProviderBytes];  // of libfabric
  char memory[kPathBytes];        // of Network::lines
};
static_assert(sizeof(Welcome) == 128 + 64 + 512 + 1024 + 64 + 64 + 1024);
static_assert(std::is_trivially_copyable_v<Welcome>);

// Rank, or command of a modelled job, to guardian: end the whole job with `code`.
struct AbortNote {
  static constexpr std::size_t kReasonBytes = 480;

  MessageHead head;
  std::int32_t code;
  std::uint32_t reserved;
  char reason[kReasonBytes];  // NUL-terminated, cut where it is longer
};
static_assert(sizeof(AbortNote) == 504 && std::is_trivially_copyable_v<AbortNote>);

// Command to guardian: send `number` to every rank.
struct SignalNote {
  MessageHead head;
  std::int32_t number;
  std::uint32_t reserved;
};
static_assert(sizeof(SignalNote) == 24 && std::is_trivially_copyable_v<SignalNote>);

// Rank to guardian, which tells the command: where the rank is on the network.
struct AddressNote {
  static constexpr std::size_t kCardBytes = 56;

  MessageHead head;
  std::uint32_t size;  // of the card
  std::uint32_t reserved;
  std::byte card[kCardBytes];  // what ShmJob::publish_card() was given
};
static_assert(sizeof(AddressNote) == 80 && std::is_trivially_copyable_v<AddressNote>);

// Guardian of one of several nodes to the command: its ranks have ended, its NI engine still serves
// those of other nodes. Back: the ranks of all nodes have ended.
struct EndedNote {
  MessageHead head;
};
static_assert(sizeof(EndedNote) == 16 && std::is_trivially_copyable_v<EndedNote>);

// Known to the ranks of one job only. Follows the head in every version of card and hello, so that
// a rank of another version is told from a stranger.
struct JobSecret {
  std::uint64_t words[2];
  bool operator==(const JobSecret&) const = default;
};

// From a node's leader to the ranks of its job: where the ranks of its node meet.
struct NodeCard {
  static constexpr std::size_t kSocketBytes = 104;
  static constexpr std::size_t kHostBytes = 72;

  MessageHead head;
  JobSecret secret;
  // NUL-terminated, rest zero.
  char socket[kSocketBytes];  // abstract name, without the leading NUL
  char host[kHostBytes];
};
static_assert(sizeof(NodeCard) == 208 && std::is_trivially_copyable_v<NodeCard>);

// Rank to the leader of its node. The answer is a Welcome.
struct NodeHello {
  static constexpr std::size_t kProcessorWords = 16;

  MessageHead head;
  JobSecret secret;
  std::uint32_t quota;     // processors' worth of time its control group grants; 0: no limit
  std::uint32_t settings;  // LaunchSettings::digest()
  std::uint64_t processors[kProcessorWords];  // a bit for each it may run on, of the first 1024
};
static_assert(sizeof(NodeHello) == 168 && std::is_trivially_copyable_v<NodeHello>);
static_assert(offsetof(NodeCard, secret) == offsetof(NodeHello, secret));

template <class Message>
constexpr MessageKind kKindOf = MessageKind::welcome;
template <>
inline constexpr MessageKind kKindOf<AbortNote> = MessageKind::abort;
template <>
inline constexpr MessageKind kKindOf<SignalNote> = MessageKind::signal;
template <>
inline constexpr MessageKind kKindOf<AddressNote> = MessageKind::address;
template <>
inline constexpr MessageKind kKindOf<EndedNote> = MessageKind::ended;
template <>
inline constexpr MessageKind kKindOf<NodeCard> = MessageKind::card;
template <>
inline constexpr MessageKind kKindOf<NodeHello> = MessageKind::hello;

template <class Message>
Message make_message(std::uint32_t rank) {
  Message message{};
  message.head = {kBootstrapMagic, kBootstrapVersion, static_cast<std::uint16_t>(kKindOf<Message>),
                  sizeof(Message), rank};
  return message;
}

// Copies `text` into a field, zero-filled and NUL-terminated. False: it did not fit and was cut.
bool set_text(std::span<char> field, std::string_view text);
// The text of a field. Error: no NUL in it.
Result<std::string_view> get_text(std::span<const char> field, const char* name);

// Check what a peer sent, before any of it is used.
Result<Welcome> parse_welcome(std::span<const std::byte> bytes);
Result<AbortNote> parse_abort(std::span<const std::byte> bytes);
Result<SignalNote> parse_signal(std::span<const std::byte> bytes);
Result<AddressNote> parse_address(std::span<const std::byte> bytes);
Result<EndedNote> parse_ended(std::span<const std::byte> bytes);
Result<NodeCard> parse_card(std::span<const std::byte> bytes);
Result<NodeHello> parse_hello(std::span<const std::byte> bytes);
// Whether this is a message of the job with that secret, of whatever version.
bool has_secret(std::span<const std::byte> bytes, const JobSecret& secret);

}  // namespace fairlead::run
