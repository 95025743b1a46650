#include "fairlead/systems/sisci/message.h"

#include <cstring>

namespace fairlead::sisci {

Encoded encode(const Message& message) {
  const std::uint32_t code = static_cast<std::uint32_t>(message.code) & 0xffffu;
  Encoded out{{std::uint32_t{static_cast<std::uint8_t>(message.kind)} |
                   std::uint32_t{message.flags} << 8 | code << 16,
               message.id, static_cast<std::uint32_t>(message.handle),
               static_cast<std::uint32_t>(message.handle >> 32)},
              {message.other, message.size, message.segment, message.mappable ? 1u : 0u},
              false};
  out.has_rest = message.other != 0 || message.size != 0 || message.segment != 0;
  return out;
}

std::optional<Message> decode(const std::uint32_t (&words)[4], std::span<const std::byte> data) {
  Message message;
  if ((words[0] & 0xff) >= static_cast<std::uint32_t>(Kind::count)) return std::nullopt;
  message.kind = static_cast<Kind>(words[0] & 0xff);
  message.flags = static_cast<std::uint8_t>(words[0] >> 8);
  const std::uint32_t code = words[0] >> 16;
  message.code = static_cast<sci_error_t>(code == 0 ? 0 : code | SCI_ERR_MASK);
  message.id = words[1];
  message.handle = Handle{words[2]} | Handle{words[3]} << 32;
  if (data.empty()) return message;
  Encoded::Rest rest;
  if (data.size() != sizeof rest) return std::nullopt;
  std::memcpy(&rest, data.data(), sizeof rest);
  message.other = rest.other;
  message.size = rest.size;
  message.segment = rest.segment;
  message.mappable = rest.mappable != 0;
  return message;
}

lci::Lane lane_of(Kind kind) {
  return kind == Kind::connected || kind == Kind::interrupt_connected || kind == Kind::ended_seen
             ? lci::Lane::reply
             : lci::Lane::request;
}

}  // namespace fairlead::sisci
