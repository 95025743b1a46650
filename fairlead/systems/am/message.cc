#include "fairlead/systems/am/message.h"

namespace fairlead::am {
namespace {

template <class T>
void put(std::byte* to, std::size_t& at, T value) {
  std::memcpy(to + at, &value, sizeof value);
  at += sizeof value;
}

template <class T>
bool take(std::span<const std::byte> from, std::size_t& at, T& value) {
  if (from.size() - at < sizeof value) return false;
  std::memcpy(&value, from.data() + at, sizeof value);
  at += sizeof value;
  return true;
}

bool makes_sense(const Head& head) {
  if (head.argc > AM_ARGUMENTS_MAX) return false;
  if (head.was == Kind::returned || head.was == Kind::piece) return false;
  const Kind kind = head.kind == Kind::returned ? head.was : head.kind;
  if (kind == Kind::get && head.form != Form::xfer) return false;
  const std::size_t most = head.form == Form::plain    ? 0
                           : head.form == Form::medium ? kMediumMax
                                                       : kLongMax;
  return head.bytes <= most;
}

}  // namespace

std::size_t encode(const Head& head, std::byte* to) {
  std::size_t at = 0;
  if (head.kind == Kind::piece) return at;
  put(to, at, head.tag);
  if (has_offset(head)) put(to, at, head.offset);
  if (has_source_offset(head)) put(to, at, head.source_offset);
  if (head.kind == Kind::returned) put(to, at, head.status);
  for (std::size_t i = 0; i < head.argc; ++i) put(to, at, head.args[i]);
  if (pad_bytes(head) > 0) put(to, at, std::int32_t{0});
  return at;
}

std::optional<Decoded> decode(const std::uint32_t (&words)[4], std::span<const std::byte> body) {
  Decoded made;
  Head& head = made.head;
  const std::uint32_t kind = words[0] & 15;
  const std::uint32_t form = words[0] >> 4 & 15;
  const std::uint32_t was = words[0] >> 24;
  if (kind >= kKinds || form >= kForms || was >= kKinds) return std::nullopt;
  head.kind = static_cast<Kind>(kind);
  head.form = static_cast<Form>(form);
  head.was = static_cast<Kind>(was);
  head.argc = static_cast<std::uint8_t>(words[0] >> 8);
  head.handler = static_cast<handler_t>(words[0] >> 16);
  head.to = static_cast<std::uint16_t>(words[1]);
  head.from = static_cast<std::uint16_t>(words[1] >> 16);
  head.bytes = words[2];
  head.rank = words[3];
  if (head.kind == Kind::piece) return made;
  if (!makes_sense(head)) return std::nullopt;
  std::size_t& at = made.head_bytes;
  bool whole = take(body, at, head.tag);
  if (has_offset(head)) whole = whole && take(body, at, head.offset);
  if (has_source_offset(head)) whole = whole && take(body, at, head.source_offset);
  if (head.kind == Kind::returned) whole = whole && take(body, at, head.status);
  for (std::size_t i = 0; i < head.argc; ++i) whole = whole && take(body, at, head.args[i]);
  std::int32_t pad = 0;
  if (pad_bytes(head) > 0) whole = whole && take(body, at, pad);
  if (!whole || pad != 0 || body.size() - at > head.data_bytes()) return std::nullopt;
  return made;
}

}  // namespace fairlead::am
