#include "fairlead/systems/rsm/directory.h"

#include <gtest/gtest.h>

#include "fairlead/systems/rsm/rsmapi.h"

namespace fairlead::rsm {
namespace {

TEST(DirectoryTest, AnIdHasOneOwner) {
  Directory directory;
  std::uint32_t id = 0x80000001;
  EXPECT_EQ(directory.claim(3, &id), RSM_SUCCESS);
  EXPECT_EQ(directory.claim(4, &id), RSMERR_SEGID_IN_USE);
  EXPECT_EQ(directory.claim(3, &id), RSMERR_SEGID_IN_USE);
  EXPECT_EQ(directory.owner(id), 3u);
  EXPECT_EQ(directory.owner(id + 1), std::nullopt);
  // Expect: only its owner gives it back, once
  EXPECT_EQ(directory.release(4, id), RSMERR_SEG_NOT_PUBLISHED);
  EXPECT_EQ(directory.release(3, id), RSM_SUCCESS);
  EXPECT_EQ(directory.release(3, id), RSMERR_SEG_NOT_PUBLISHED);
  EXPECT_EQ(directory.claim(4, &id), RSM_SUCCESS);
}

TEST(DirectoryTest, ChoosesIdsThatAreFree) {
  Directory directory;
  std::uint32_t taken = Directory::kFirstChosen;
  EXPECT_EQ(directory.claim(1, &taken), RSM_SUCCESS);
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  EXPECT_EQ(directory.claim(2, &first), RSM_SUCCESS);
  EXPECT_EQ(directory.claim(2, &second), RSM_SUCCESS);
  EXPECT_EQ(first, taken + 1);
  EXPECT_EQ(second, taken + 2);
  // Expect: what a lost rank had is free
  directory.drop(2);
  EXPECT_EQ(directory.owner(first), std::nullopt);
  EXPECT_EQ(directory.owner(taken), 1u);
}

TEST(DirectoryTest, IsFullAtItsBound) {
  Directory directory;
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < Directory::kMost; ++i) {
    id = 0;
    ASSERT_EQ(directory.claim(0, &id), RSM_SUCCESS);
  }
  id = 0;
  EXPECT_EQ(directory.claim(0, &id), RSMERR_INSUFFICIENT_RESOURCES);
}

}  // namespace
}  // namespace fairlead::rsm
