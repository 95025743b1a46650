// The head of a message in a packet's body.
#include "fairlead/systems/am/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fairlead/base/prng.h"

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

bool same(const Short& its, const Head& head) {
  return its.handler == head.handler && its.argc == head.argc && its.from == head.from &&
         its.tag == head.tag && std::equal(its.args, its.args + its.argc, head.args);
}

TEST(Message, of_arguments_alone_are_read_the_short_way_as_by_decode) {
  for (const Kind kind : {Kind::request, Kind::reply}) {
    for (std::uint8_t argc = 0; argc <= AM_ARGUMENTS_MAX; ++argc) {
      Head head = medium(kind, argc);
      head.form = Form::plain;
      head.bytes = 0;
      head.from = 513;
      ASSERT_TRUE(is_short(head));
      std::array<std::byte, kHeadBytesMax> body{};
      std::array<std::byte, kHeadBytesMax> as_short{};
      ASSERT_EQ(encode(head, body.data()), short_bytes(argc));
      encode_short(head, as_short.data());
      EXPECT_EQ(body, as_short) << int{argc};
      const std::uint32_t words[4] = {first_word(head), std::uint32_t{head.from} << 16, 0, 0};
      const auto whole = std::span(body).first(short_bytes(argc));
      Short its;
      ASSERT_TRUE(read_short(words, lane_of(head), whole, its));
      EXPECT_TRUE(same(its, head));
      // Expect: on another lane it is none, nor with a byte more or less
      const lci::Lane other = kind == Kind::request ? lci::Lane::reply : lci::Lane::request;
      EXPECT_FALSE(read_short(words, other, whole, its));
      EXPECT_FALSE(read_short(words, lci::Lane::control, whole, its));
      EXPECT_FALSE(read_short(words, lane_of(head), whole.first(whole.size() - 1), its));
      EXPECT_FALSE(read_short(words, lane_of(head), std::span(body).first(whole.size() + 1), its));
    }
  }
}

// Whatever comes: what the short way takes, decode() takes, and says the same of it.
TEST(Message, of_any_bytes_are_no_other_messages_the_short_way) {
  Prng random(26);
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::array<std::byte, kHeadBytesMax> body{};
    for (std::byte& each : body) each = static_cast<std::byte>(random.below(256));
    const auto any = [&] { return static_cast<std::uint32_t>(random.below(1u << 31)) << 1; };
    const auto few = static_cast<std::uint32_t>(random.below(20));
    const std::uint32_t first =
        random.below(2) == 0 ? any() : few << 8 | static_cast<std::uint32_t>(random.below(8));
    const std::uint32_t words[4] = {first, any(), random.below(4) == 0 ? any() : 0, any()};
    const auto lane = static_cast<lci::Lane>(random.below(3));
    const std::size_t bytes = random.below(2) == 0 ? short_bytes(few) : random.below(body.size());
    const auto data = std::span(body).first(std::min(bytes, body.size()));
    Short its;
    if (!read_short(words, lane, data, its)) continue;
    ++taken;
    const auto read = decode(words, data);
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(same(its, read->head) && lane_of(read->head) == lane && is_short(read->head));
  }
  EXPECT_GT(taken, 200);
}

}  // namespace
}  // namespace fairlead::am
