// An Active Message on the wire. A packet's four words and the beginning of its body say all that
// there is to know beside the data; a message longer than a packet goes on in pieces, which follow
// it in order on its lane. What comes from another rank is believed only as far as decode() checks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "fairlead/lci/port.h"
#include "fairlead/systems/am/am.h"

namespace fairlead::am {

// request, get: on Lane::request; reply: on Lane::reply. returned: a message that its receiver
// could not take, on the lane behind its own; piece: more of the message before it, on the same
// lane.
enum class Kind : std::uint8_t { request, reply, get, returned, piece };
constexpr std::uint32_t kKinds = 5;
// What the handler gets: arguments, a buffer too, a part of the segment.
enum class Form : std::uint8_t { plain, medium, xfer };
constexpr std::uint32_t kForms = 3;
// As am.h calls it.
constexpr op_t form_code(Form form) {
  return form == Form::plain ? AM_OP_SHORT : form == Form::medium ? AM_OP_MEDIUM : AM_OP_XFER;
}

constexpr std::size_t kMediumMax = 65536;
constexpr std::size_t kLongMax = std::size_t{1} << 30;

// Everything of a message but its data.
struct Head {
  Kind kind = Kind::request;
  Form form = Form::plain;
  std::uint8_t argc = 0;
  handler_t handler = 0;
  std::uint16_t to = 0;     // endpoint
  std::uint16_t from = 0;   // endpoint
  std::uint32_t bytes = 0;  // of data; of a get: that are asked for
  Rank rank = 0;            // for whom it is, which what comes back is known by
  std::uint64_t tag = 0;
  std::uint64_t offset = 0;         // of xfer and get: in the segment of the data
  std::uint64_t source_offset = 0;  // of get
  std::uint32_t status = 0;         // of returned: why
  Kind was = Kind::request;         // of returned: its kind
  std::int32_t args[AM_ARGUMENTS_MAX] = {};

  // Bytes that travel.
  std::size_t data_bytes() const {
    return (kind == Kind::returned ? was : kind) == Kind::get ? 0 : bytes;
  }
};

// Largest size of the head in a packet's body, beside the words.
constexpr std::size_t kHeadBytesMax = 3 * 8 + 8 + 4 * AM_ARGUMENTS_MAX;

inline lci::Lane lane_of(const Head& head) {
  if (head.kind == Kind::reply) return lci::Lane::reply;
  if (head.kind != Kind::returned) return lci::Lane::request;
  return head.was == Kind::reply ? lci::Lane::control : lci::Lane::reply;
}

inline std::uint32_t first_word(const Head& head) {
  return static_cast<std::uint32_t>(head.kind) | static_cast<std::uint32_t>(head.form) << 4 |
         std::uint32_t{head.argc} << 8 | std::uint32_t{head.handler} << 16 |
         static_cast<std::uint32_t>(head.was) << 24;
}

// Which of the fields that not every message has are in the body.
inline bool has_offset(const Head& head) { return head.form == Form::xfer; }
inline bool has_source_offset(const Head& head) {
  return head.kind == Kind::get || (head.kind == Kind::returned && head.was == Kind::get);
}

// A request or reply of arguments alone, as most messages are.
struct Short {
  handler_t handler;
  std::uint8_t argc;
  std::uint16_t from;  // endpoint
  std::uint64_t tag;
  std::int32_t args[AM_ARGUMENTS_MAX];  // argc of them are set
};
constexpr bool is_short(const Head& head) {
  return head.form == Form::plain && (head.kind == Kind::request || head.kind == Kind::reply);
}
constexpr std::size_t short_bytes(std::size_t argc) {
  return sizeof(std::uint64_t) + argc * sizeof(std::int32_t);
}
// As encode() of such a head.
inline void encode_short(const Head& head, std::byte* to) {
  std::memcpy(to, &head.tag, sizeof head.tag);
  std::memcpy(to + sizeof head.tag, head.args, head.argc * sizeof head.args[0]);
}
// What a packet that came on `lane` says, where it is such a message; decode() says the same of it.
// False: decode() is to look at it.
inline bool read_short(const std::uint32_t (&words)[4], lci::Lane lane,
                       std::span<const std::byte> body, Short& to) {
  constexpr std::uint32_t kKindFormWas = 0xff0000ff;  // the others are 0 in such a message
  const Kind kind = lane == lci::Lane::request ? Kind::request : Kind::reply;
  to.argc = static_cast<std::uint8_t>(words[0] >> 8);
  const bool good = (words[0] & kKindFormWas) == static_cast<std::uint32_t>(kind) &&
                    lane != lci::Lane::control && words[2] == 0 && to.argc <= AM_ARGUMENTS_MAX &&
                    body.size() == short_bytes(to.argc);
  if (!good) return false;
  to.handler = static_cast<handler_t>(words[0] >> 16);
  to.from = static_cast<std::uint16_t>(words[1] >> 16);
  std::memcpy(&to.tag, body.data(), sizeof to.tag);
  std::memcpy(to.args, body.data() + sizeof to.tag, to.argc * sizeof to.args[0]);
  return true;
}

// Behind an odd number of arguments, so that a handler finds the data of a message at a multiple of
// 8 bytes, as what holds the message begins at one, and the rest of its head takes as many.
inline std::size_t pad_bytes(const Head& head) {
  const bool is_seen = head.form == Form::medium && head.bytes > 0 && head.argc % 2 == 1 &&
                       (head.kind == Kind::request || head.kind == Kind::reply);
  return is_seen ? sizeof(std::int32_t) : 0;
}

// Writes the head's part of the body; returns its bytes.
std::size_t encode(const Head& head, std::byte* to);
// The head of a packet, and how many bytes of its body that was. Nothing: no message looks so.
struct Decoded {
  Head head;
  std::size_t head_bytes = 0;
};
std::optional<Decoded> decode(const std::uint32_t (&words)[4], std::span<const std::byte> body);

}  // namespace fairlead::am
