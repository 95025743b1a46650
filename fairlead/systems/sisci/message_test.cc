#include "fairlead/systems/sisci/message.h"

#include <gtest/gtest.h>

#include "fairlead/systems/sisci/handles.h"

namespace fairlead::sisci {
namespace {

TEST(SisciMessage, comes_out_as_it_went_in) {
  const Message all[] = {
      {.kind = Kind::connect, .other = 0x12345672, .id = 0xffffffff},
      {.kind = Kind::connected,
       .code = SCI_ERR_NO_SUCH_SEGMENT,
       .handle = 3,
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
  const std::byte data[17] = {};
  for (const std::size_t size : {1u, 15u, 17u}) EXPECT_FALSE(decode(known, {data, size})) << size;
}

TEST(SisciHandles, are_given_out_once) {
  Table<int, HandleKind::map> table;
  const std::uint32_t first = table.add(std::make_unique<int>(1));
  const std::uint32_t second = table.add(std::make_unique<int>(2));
  ASSERT_NE(first, 0u);
  ASSERT_NE(table.find(second), nullptr);
  EXPECT_EQ(*table.find(second), 2);
  table.remove(first);
  EXPECT_EQ(table.find(first), nullptr);
  const std::uint32_t third = table.add(std::make_unique<int>(3));
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
  EXPECT_EQ(table.find(first), nullptr);
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(number_of(pointer_of<void*>(third)), third);
}

}  // namespace
}  // namespace fairlead::sisci
