#include "fairlead/systems/rsm/message.h"

#include <gtest/gtest.h>

#include <array>

namespace fairlead::rsm {
namespace {

TEST(MessageTest, ComesBackAsItWas) {
  Message message;
  message.kind = Kind::connect;
  message.flags = 2;
  message.code = 0600;
  message.request = 77;
  message.id = 0x80000001;
  message.handle = 0xfedcba9876543210;
  message.importer = 0x123456789abcdef0;
  message.size = std::uint64_t{1} << 40;
  message.segment = 5;
  message.mapped = 6;
  const Encoded sent = encode(message);
  const auto got = decode(sent.words, sent.data());
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->kind, Kind::connect);
  EXPECT_EQ(got->flags, 2);
  EXPECT_EQ(got->code, 0600);
  EXPECT_EQ(got->request, 77u);
  EXPECT_EQ(got->id, message.id);
  EXPECT_EQ(got->handle, message.handle);
  EXPECT_EQ(got->importer, message.importer);
  EXPECT_EQ(got->size, message.size);
  EXPECT_EQ(got->segment, 5u);
  EXPECT_EQ(got->mapped, 6u);
  // Expect: what has no rest travels without
  EXPECT_EQ(encode({.kind = Kind::signal_exporter, .handle = 3}).data().size(), 0u);
}

TEST(MessageTest, WhatNobodyOfOursWroteIsNone) {
  const lci::Words unknown = {static_cast<std::uint32_t>(Kind::count), 0, 0, 0};
  EXPECT_FALSE(decode(unknown, {}).has_value());
  const lci::Words known = {0, 0, 0, 0};
  const std::array<std::byte, 31> short_rest{};
  EXPECT_FALSE(decode(known, short_rest).has_value());
  EXPECT_TRUE(decode(known, {}).has_value());
}

}  // namespace
}  // namespace fairlead::rsm
