#include "fairlead/systems/sisci/message.h"

#include <gtest/gtest.h>

namespace fairlead::sisci {
namespace {

TEST(SisciMessage, comes_out_as_it_went_in) {
  const Message all[] = {
      {.kind = Kind::connect, .other = 0x1234567823456792, .id = 0xffffffff},
      {.kind = Kind::connected,
       .code = SCI_ERR_NO_SUCH_SEGMENT,
       .handle = 0xfedcba9876543210,
       .other = 4,
       .size = std::uint64_t{1} << 39,
       .segment = 5,
       .mappable = true},
      {.kind = Kind::connect_interrupt, .flags = 1, .other = 7, .id = 9},
      {.kind = Kind::all_left},
  };
  for (const Message& message : all) {
    const Encoded packet = encode(message);
    const auto back = decode(packet.words, packet.data());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->kind, message.kind);
    EXPECT_EQ(back->flags, message.flags);
    EXPECT_EQ(back->code, message.code);
    EXPECT_EQ(back->handle, message.handle);
    EXPECT_EQ(back->other, message.other);
    EXPECT_EQ(back->id, message.id);
    EXPECT_EQ(back->size, message.size);
    EXPECT_EQ(back->segment, message.segment);
    EXPECT_EQ(back->mappable, message.mappable);
  }
}

TEST(SisciMessage, of_nobody_of_ours_is_none) {
  const lci::Words unknown = {static_cast<std::uint32_t>(Kind::count), 0, 0, 0};
  EXPECT_FALSE(decode(unknown, {}));
  const lci::Words known = {0, 0, 0, 0};
  EXPECT_TRUE(decode(known, {}));
  const std::byte data[25] = {};
  for (const std::size_t size : {1u, 23u, 25u}) EXPECT_FALSE(decode(known, {data, size})) << size;
}

}  // namespace
}  // namespace fairlead::sisci
