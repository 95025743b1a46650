#include "fairlead/systems/rsm/access_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::rsm {
namespace {

TEST(AccessListTest, RefusesWhatIsNoList) {
  struct Row {
    std::vector<rsmapi_access_entry_t> entries;
    int code;
  };
  const Row rows[] = {
      {{{0, 0400}}, RSM_SUCCESS},
      {{{0, 0400}, {3, 0644}}, RSM_SUCCESS},
      {{{0, 0}}, RSM_SUCCESS},
      {{{4, 0400}}, RSMERR_BAD_ACL},
      {{{1, 01000}}, RSMERR_BAD_ACL},
      {{{1, 0100}}, RSMERR_BAD_ACL},
      {{{1, 0400}, {1, 0200}}, RSMERR_BAD_ACL},
  };
  for (const Row& row : rows) {
    AccessList list;
    EXPECT_EQ(
        AccessList::make(row.entries.data(), static_cast<unsigned>(row.entries.size()), 4, &list),
        row.code);
  }
  AccessList list;
  EXPECT_EQ(AccessList::make(nullptr, 1, 4, &list), RSMERR_BAD_ACL);
}

TEST(AccessListTest, LetsInWhomItNames) {
  const rsmapi_access_entry_t entries[] = {{0, 0400}, {1, 0200}, {2, 0666}, {3, 0066}};
  AccessList list;
  ASSERT_EQ(AccessList::make(entries, 4, 8, &list), RSM_SUCCESS);
  struct Row {
    Peer node;
    rsm_permission_t wanted;
    int code;
  };
  const Row rows[] = {
      {0, 0400, RSM_SUCCESS},        {0, 0200, RSMERR_PERM_DENIED},
      {0, 0600, RSMERR_PERM_DENIED}, {1, 0200, RSM_SUCCESS},
      {1, 0400, RSMERR_PERM_DENIED}, {2, 0600, RSM_SUCCESS},
      {3, 0400, RSMERR_PERM_DENIED}, {4, 0400, RSMERR_SEG_NOT_PUBLISHED_TO_NODE},
      {2, 0, RSMERR_PERM_DENIED},    {2, 0700, RSMERR_PERM_DENIED},
  };
  for (const Row& row : rows) EXPECT_EQ(list.check(row.node, row.wanted), row.code) << row.node;
  // Expect: without a list, everybody
  ASSERT_EQ(AccessList::make(nullptr, 0, 8, &list), RSM_SUCCESS);
  EXPECT_EQ(list.check(7, 0600), RSM_SUCCESS);
}

}  // namespace
}  // namespace fairlead::rsm
