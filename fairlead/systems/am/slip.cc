#include "fairlead/systems/am/slip.h"

namespace fairlead::am {
namespace {

bool has_offsets(const Head& head) { return head.form == Form::xfer; }

}  // namespace

std::size_t write_slip(const Head& head, std::byte* to) {
  const std::uint8_t front[4] = {
      static_cast<std::uint8_t>(static_cast<std::uint32_t>(head.kind) |
                                static_cast<std::uint32_t>(head.form) << 4),
      head.argc, head.handler, static_cast<std::uint8_t>(head.was)};
  std::memcpy(to, front, sizeof front);
  std::memcpy(to + 4, &head.bytes, sizeof head.bytes);
  std::memcpy(to + 8, &head.tag, sizeof head.tag);
  std::size_t at = kSlipFrontBytes;
  if (has_offsets(head)) {
    std::memcpy(to + at, &head.offset, sizeof head.offset);
    std::memcpy(to + at + 8, &head.source_offset, sizeof head.source_offset);
    at += 16;
  }
  std::memcpy(to + at, head.args, sizeof(std::int32_t) * head.argc);
  at += sizeof(std::int32_t) * head.argc;
  std::memset(to + at, 0, pad_bytes(head));
  return at + pad_bytes(head);
}

std::optional<Slip> read_slip(std::span<const std::byte> buffer, std::uint32_t immediate) {
  if (buffer.size() < 4) return std::nullopt;
  std::uint8_t front[4];
  std::memcpy(front, buffer.data(), sizeof front);
  Slip made;
  if ((front[0] & 15) == kCreditKind) {
    made.only_credits = true;
    return made;
  }
  if (buffer.size() < kSlipFrontBytes) return std::nullopt;
  Head& head = made.head;
  const bool known =
      (front[0] & 15) < static_cast<std::uint8_t>(Kind::piece) && front[0] >> 4 < kForms &&
      front[3] < static_cast<std::uint8_t>(Kind::returned) && front[1] <= AM_ARGUMENTS_MAX;
  if (!known) return std::nullopt;
  head.kind = static_cast<Kind>(front[0] & 15);
  head.form = static_cast<Form>(front[0] >> 4);
  head.argc = front[1];
  head.handler = front[2];
  head.was = static_cast<Kind>(front[3]);
  head.status = immediate >> 16;
  std::memcpy(&head.bytes, buffer.data() + 4, sizeof head.bytes);
  std::memcpy(&head.tag, buffer.data() + 8, sizeof head.tag);
  const bool is_get = (head.kind == Kind::returned ? head.was : head.kind) == Kind::get;
  if (is_get && head.form != Form::xfer) return std::nullopt;
  if (head.form == Form::plain && head.bytes > 0) return std::nullopt;
  std::size_t at = kSlipFrontBytes;
  const std::size_t rest =
      (has_offsets(head) ? 16 : 0) + sizeof(std::int32_t) * head.argc + pad_bytes(head);
  if (buffer.size() - at < rest || buffer.size() - at - rest != head.data_bytes()) {
    return std::nullopt;
  }
  if (has_offsets(head)) {
    std::memcpy(&head.offset, buffer.data() + at, sizeof head.offset);
    std::memcpy(&head.source_offset, buffer.data() + at + 8, sizeof head.source_offset);
    at += 16;
  }
  std::memcpy(head.args, buffer.data() + at, sizeof(std::int32_t) * head.argc);
  at += sizeof(std::int32_t) * head.argc + pad_bytes(head);
  made.data = buffer.subspan(at);
  return made;
}

}  // namespace fairlead::am
