#include "fairlead/run/wire/bootstrap_messages.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "fairlead/fabric/shm/layout.h"
#include "fairlead/fabric/udp/seal.h"
#include "fairlead/run/run_options.h"

namespace fairlead::run {
namespace {

template <class Message>
Result<Message> parse_fixed(std::span<const std::byte> bytes) {
  MessageHead head{};
  if (bytes.size() < sizeof head) {
    return Error{fmt::format("a start-up message of {} bytes is too short", bytes.size())};
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kBootstrapMagic) return Error{"a start-up message that is not Fairlead's"};
  if (head.version != kBootstrapVersion) {
    return Error{
        fmt::format("start-up message of version {}, this library speaks version {}: use "
                    "the `fairlead` command and libfairlead.so of one installation on every rank",
                    head.version, kBootstrapVersion)};
  }
  if (head.kind != static_cast<std::uint16_t>(kKindOf<Message>) || head.bytes != sizeof(Message) ||
      bytes.size() != sizeof(Message)) {
    return Error{
        fmt::format("start-up message of kind {} and {} bytes where kind {} and {} bytes "
                    "were due",
                    head.kind, bytes.size(), static_cast<int>(kKindOf<Message>), sizeof(Message))};
  }
  Message message;
  std::memcpy(&message, bytes.data(), sizeof message);
  return message;
}

}  // namespace

bool set_text(std::span<char> field, std::string_view text) {
  const std::size_t fits = std::min(text.size(), field.size() - 1);
  std::fill(std::copy_n(text.begin(), fits, field.begin()), field.end(), '\0');
  return fits == text.size();
}

Result<std::string_view> get_text(std::span<const char> field, const char* name) {
  const auto end = std::find(field.begin(), field.end(), '\0');
  if (end == field.end()) return Error{fmt::format("start-up message: {} has no end", name)};
  return std::string_view(field.data(), static_cast<std::size_t>(end - field.begin()));
}

Result<Welcome> parse_welcome(std::span<const std::byte> bytes) {
  Result<Welcome> parsed = parse_fixed<Welcome>(bytes);
  if (!parsed.ok()) return parsed;
  const Welcome& welcome = parsed.value();
  if (welcome.ranks == 0 || welcome.ranks > fabric::kShmRanksMax ||
      welcome.head.rank >= welcome.ranks) {
    return Error{fmt::format("start-up message: rank {} of {}", welcome.head.rank, welcome.ranks)};
  }
  if (welcome.near_count > welcome.ranks ||
      welcome.near_first > welcome.ranks - welcome.near_count ||
      (welcome.near_count != 0 && welcome.head.rank - welcome.near_first >= welcome.near_count)) {
    return Error{fmt::format("start-up message: rank {} on a node of {} from {}", welcome.head.rank,
                             welcome.near_count, welcome.near_first)};
  }
  if (welcome.world < static_cast<std::uint16_t>(WorldKind::shm) ||
      welcome.world > static_cast<std::uint16_t>(WorldKind::memory)) {
    return Error{fmt::format("start-up message: unknown world {}", welcome.world)};
  }
  if (welcome.compute > static_cast<std::uint16_t>(Compute::measured)) {
    return Error{fmt::format("start-up message: unknown computing time {}", welcome.compute)};
  }
  if (welcome.wait_yield_ps < 0 || welcome.wait_sleep_ps <= 0) {
    return Error{"start-up message: impossible waiting times"};
  }
  if (welcome.auth > static_cast<std::uint32_t>(fabric::Auth::encrypt)) {
    return Error{fmt::format("start-up message: unknown seal {}", welcome.auth)};
  }
  if (welcome.network > static_cast<std::uint32_t>(Network::lines)) {
    return Error{fmt::format("start-up message: unknown network {}", welcome.network)};
  }
  for (const auto& [field, name] :
       {std::pair{std::span<const char>(welcome.lci), "the implementation"},
        std::pair{std::span<const char>(welcome.faults), "the fault plan"},
        std::pair{std::span<const char>(welcome.trace_path), "the trace's path"},
        std::pair{std::span<const char>(welcome.address), "the address"},
        std::pair{std::span<const char>(welcome.provider), "the provider"},
        std::pair{std::span<const char>(welcome.memory), "the memory's path"}}) {
    const Result<std::string_view> text = get_text(field, name);
    if (!text.ok()) return text.error();
  }
  return parsed;
}

Result<AbortNote> parse_abort(std::span<const std::byte> bytes) {
  Result<AbortNote> parsed = parse_fixed<AbortNote>(bytes);
  if (!parsed.ok()) return parsed;
  const Result<std::string_view> reason = get_text(parsed.value().reason, "the reason");
  if (!reason.ok()) return reason.error();
  return parsed;
}

Result<SignalNote> parse_signal(std::span<const std::byte> bytes) {
  Result<SignalNote> parsed = parse_fixed<SignalNote>(bytes);
  if (parsed.ok() && (parsed.value().number <= 0 || parsed.value().number >= NSIG)) {
    return Error{fmt::format("signal {} does not exist", parsed.value().number)};
  }
  return parsed;
}

Result<AddressNote> parse_address(std::span<const std::byte> bytes) {
  Result<AddressNote> parsed = parse_fixed<AddressNote>(bytes);
  if (parsed.ok() && (parsed.value().size == 0 || parsed.value().size > AddressNote::kCardBytes)) {
    return Error{fmt::format("start-up message: an address of {} bytes", parsed.value().size)};
  }
  return parsed;
}

Result<EndedNote> parse_ended(std::span<const std::byte> bytes) {
  return parse_fixed<EndedNote>(bytes);
}

Result<NodeCard> parse_card(std::span<const std::byte> bytes) {
  Result<NodeCard> parsed = parse_fixed<NodeCard>(bytes);
  if (!parsed.ok()) return parsed;
  const Result<std::string_view> socket = get_text(parsed.value().socket, "the socket's name");
  if (!socket.ok()) return socket.error();
  const Result<std::string_view> host = get_text(parsed.value().host, "the host");
  if (!host.ok()) return host.error();
  if (socket.value().empty()) return Error{"start-up message: a socket without a name"};
  return parsed;
}

Result<NodeHello> parse_hello(std::span<const std::byte> bytes) {
  return parse_fixed<NodeHello>(bytes);
}

bool has_secret(std::span<const std::byte> bytes, const JobSecret& secret) {
  struct {
    MessageHead head;
    JobSecret secret;
  } begin{};
  static_assert(sizeof begin == offsetof(NodeHello, secret) + sizeof(JobSecret));
  if (bytes.size() < sizeof begin) return false;
  std::memcpy(&begin, bytes.data(), sizeof begin);
  return begin.head.magic == kBootstrapMagic && begin.secret == secret;
}

}  // namespace fairlead::run
