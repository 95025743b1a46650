#include "fairlead/lci/software_group.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::lci {
namespace {

TEST(Tree, EveryMemberHasOneParent) {
  for (TreeShape shape : {TreeShape::binomial, TreeShape::binary})
    for (std::uint32_t members : {1u, 2u, 3u, 5u, 8u, 13u, 64u, 100u}) {
      std::vector<int> parents(members);
      for (std::uint32_t p = 0; p < members; ++p)
        for (std::uint32_t child : tree_children(shape, p, members)) {
          ASSERT_LT(child, members);
          ASSERT_GT(child, p);
          ++parents[child];
        }
      // Expect: all but the root are somebody's child, once; children come after their parent, so
      // there is no cycle.
      EXPECT_EQ(parents[0], 0);
      for (std::uint32_t p = 1; p < members; ++p)
        EXPECT_EQ(parents[p], 1) << p << " of " << members;
    }
}

TEST(Tree, ShapesAreAsNamed) {
  EXPECT_EQ(tree_children(TreeShape::binomial, 0, 8), (std::vector<std::uint32_t>{4, 2, 1}));
  EXPECT_EQ(tree_children(TreeShape::binomial, 4, 8), (std::vector<std::uint32_t>{6, 5}));
  EXPECT_EQ(tree_children(TreeShape::binary, 1, 8), (std::vector<std::uint32_t>{3, 4}));
}

}  // namespace
}  // namespace fairlead::lci
