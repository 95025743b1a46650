// The sizes of a MAP, and messages in its buffers.
#include <gtest/gtest.h>

#include <algorithm>

#include "fairlead/base/prng.h"
#include "fairlead/systems/am/map.h"

namespace fairlead::am {
namespace {

TEST(Map, BuffersAreThoseOfThePaper) {
  // Expect: (4k + 1) M bytes of each queue; "approximately 540KB" (section 7.2), within 5 %.
  EXPECT_NEAR(static_cast<double>(map_buffer_bytes()), 540e3, 27e3);
  EXPECT_NEAR(static_cast<double>(map_buffer_bytes()), 540.0 * 1024, 27.0 * 1024);
}

TEST(Slip, WhatIsWrittenIsRead) {
  for (const Kind kind : {Kind::request, Kind::reply, Kind::get, Kind::returned}) {
    for (const Form form : {Form::plain, Form::medium, Form::xfer}) {
      if (kind == Kind::get && form != Form::xfer) continue;
      Head head;
      head.kind = kind;
      head.form = form;
      head.argc = AM_ARGUMENTS_MAX;
      head.handler = 200;
      head.tag = 0x123456789abcdefull;
      head.was = Kind::reply;
      head.offset = 77;
      head.source_offset = 99;
      head.bytes = form == Form::plain ? 0 : 5;
      for (int i = 0; i < AM_ARGUMENTS_MAX; ++i) head.args[i] = i * i - 50;
      std::byte buffer[kSlipHeadMax + 5] = {};
      const std::size_t front = write_slip(head, buffer);
      const std::size_t bytes = front + head.data_bytes();
      const auto slip = read_slip({buffer, bytes}, immediate_of(3, 0x48));
      ASSERT_TRUE(slip.has_value());
      EXPECT_EQ(slip->head.kind, kind);
      EXPECT_EQ(slip->head.tag, head.tag);
      EXPECT_EQ(slip->head.args[15], 175);
      EXPECT_EQ(slip->head.status, 0x48u);
      EXPECT_EQ(slip->data.size(), head.data_bytes());
      EXPECT_EQ(slip->head.source_offset, form == Form::xfer ? 99u : 0u);
      // Expect: one byte more or less is no message.
      EXPECT_FALSE(read_slip({buffer, bytes - 1}, 0).has_value());
      EXPECT_FALSE(bytes < sizeof buffer && read_slip({buffer, bytes + 1}, 0).has_value());
    }
  }
}

TEST(Slip, DataBeginsAtAMultipleOf8BytesWhateverTheNumberOfArguments) {
  for (const Kind kind : {Kind::request, Kind::reply}) {
    for (std::uint8_t argc = 0; argc <= AM_ARGUMENTS_MAX; ++argc) {
      Head head;
      head.kind = kind;
      head.form = Form::medium;
      head.argc = argc;
      head.bytes = 8;
      for (std::uint8_t i = 0; i < argc; ++i) head.args[i] = i + 1;
      std::byte buffer[kSlipHeadMax + 8] = {};
      const std::size_t front = write_slip(head, buffer);
      EXPECT_EQ(front % 8, 0u) << int{argc};
      const auto slip = read_slip({buffer, front + 8}, 0);
      ASSERT_TRUE(slip.has_value());
      EXPECT_EQ(slip->data.data(), buffer + front);
      EXPECT_TRUE(std::equal(head.args, head.args + argc, slip->head.args));
      // Expect: a buffer that ends before its data might begin is no message.
      EXPECT_FALSE(read_slip({buffer, front - 1}, 0).has_value());
    }
  }
}

TEST(Slip, AnyBytesDoNoHarm) {
  Prng prng(5);
  for (int i = 0; i < 20'000; ++i) {
    std::byte buffer[128];
    for (std::byte& byte : buffer) byte = static_cast<std::byte>(prng.next());
    if (i % 2 == 0) buffer[0] = static_cast<std::byte>(prng.below(0x24));
    if (i % 3 == 0) buffer[4] = buffer[5] = buffer[6] = buffer[7] = std::byte{};
    const std::size_t bytes = prng.below(sizeof buffer + 1);
    const auto slip = read_slip({buffer, bytes}, 0);
    if (slip && !slip->only_credits) {
      ASSERT_LE(slip->data.size(), bytes);
      ASSERT_EQ(slip->data.size(), slip->head.data_bytes());
    }
  }
}

}  // namespace
}  // namespace fairlead::am
