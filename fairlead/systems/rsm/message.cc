#include "fairlead/systems/rsm/message.h"

#include <cstring>

namespace fairlead::rsm {

Encoded encode(const Message& message) {
  Encoded out{{std::uint32_t{static_cast<std::uint8_t>(message.kind)} |
                   std::uint32_t{message.flags} << 8 | std::uint32_t{message.code} << 16,
               message.request, static_cast<std::uint32_t>(message.handle),
               static_cast<std::uint32_t>(message.handle >> 32)},
              {message.importer, message.size, message.id, message.segment, message.mapped, 0},
              false};
  out.has_rest = message.importer != 0 || message.size != 0 || message.id != 0 ||
                 message.segment != 0 || message.mapped != 0;
  return out;
}

std::optional<Message> decode(const std::uint32_t (&words)[4], std::span<const std::byte> data) {
  Message message;
  if ((words[0] & 0xff) >= static_cast<std::uint32_t>(Kind::count)) return std::nullopt;
  message.kind = static_cast<Kind>(words[0] & 0xff);
  message.flags = static_cast<std::uint8_t>(words[0] >> 8);
  message.code = static_cast<std::uint16_t>(words[0] >> 16);
  message.request = words[1];
  message.handle = Handle{words[2]} | Handle{words[3]} << 32;
  if (data.empty()) return message;
  Encoded::Rest rest;
  if (data.size() != sizeof rest) return std::nullopt;
  std::memcpy(&rest, data.data(), sizeof rest);
  message.importer = rest.importer;
  message.size = rest.size;
  message.id = rest.id;
  message.segment = rest.segment;
  message.mapped = rest.mapped;
  return message;
}

lci::Lane lane_of(Kind kind) {
  const bool replies =
      kind == Kind::answer || kind == Kind::aborted_seen || kind == Kind::exporter_listens;
  return replies ? lci::Lane::reply : lci::Lane::request;
}

}  // namespace fairlead::rsm
