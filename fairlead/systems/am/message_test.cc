// The head of a message in a packet's body.
#include "fairlead/systems/am/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace fairlead::am {
namespace {

Head medium(Kind kind, std::uint8_t argc) {
  Head head;
  head.kind = kind;
  head.form = Form::medium;
  head.argc = argc;
  head.handler = 1;
  head.bytes = 8;
  head.tag = 77;
  for (std::uint8_t i = 0; i < argc; ++i) head.args[i] = i + 1;
  return head;
}
std::optional<Decoded> decoded(const Head& head, std::span<const std::byte> body) {
  const std::uint32_t words[4] = {first_word(head), head.to | std::uint32_t{head.from} << 16,
                                  head.bytes, head.rank};
  return decode(words, body);
}

TEST(Message, data_begins_at_a_multiple_of_8_bytes_whatever_the_number_of_arguments) {
  for (const Kind kind : {Kind::request, Kind::reply}) {
    for (std::uint8_t argc = 0; argc <= AM_ARGUMENTS_MAX; ++argc) {
      const Head head = medium(kind, argc);
      std::array<std::byte, kHeadBytesMax + 8> body{};
      const std::size_t bytes = encode(head, body.data());
      EXPECT_EQ(bytes % 8, 0u) << int{argc};
      const auto read = decoded(head, std::span(body).first(bytes + 8));
      ASSERT_TRUE(read.has_value());
      EXPECT_EQ(read->head_bytes, bytes);
      EXPECT_TRUE(std::equal(head.args, head.args + argc, read->head.args));
      // Expect: a body that ends before its data might begin is no message's.
      EXPECT_FALSE(decoded(head, std::span(body).first(bytes - 1)).has_value());
    }
  }
}

}  // namespace
}  // namespace fairlead::am
