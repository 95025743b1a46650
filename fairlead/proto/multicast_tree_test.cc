#include "fairlead/proto/multicast_tree.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::proto {
namespace {

constexpr TreeShape kShapes[] = {TreeShape::binomial, TreeShape::binary};
constexpr std::uint32_t kSizes[] = {1, 2, 3, 5, 8, 13, 64, 100};

std::vector<std::uint32_t> children(TreeShape shape, std::uint32_t position,
                                    std::uint32_t members) {
  std::vector<std::uint32_t> all;
  for_each_child(shape, position, members, [&all](std::uint32_t child) { all.push_back(child); });
  return all;
}

TEST(MulticastTree, EveryMemberHasOneParent) {
  for (TreeShape shape : kShapes) {
    for (std::uint32_t members : kSizes) {
      std::vector<int> parents(members);
      for (std::uint32_t p = 0; p < members; ++p) {
        EXPECT_EQ(child_count(shape, p, members), children(shape, p, members).size());
        for (std::uint32_t child : children(shape, p, members)) {
          ASSERT_LT(child, members);
          ASSERT_GT(child, p);
          ++parents[child];
          EXPECT_EQ(tree_depth(shape, child), tree_depth(shape, p) + 1);
          EXPECT_LE(tree_depth(shape, child), tree_height(shape, members));
        }
      }
      // Expect: all but the root are somebody's child, once; children come after their parent, so
      // there is no cycle.
      EXPECT_EQ(parents[0], 0);
      for (std::uint32_t p = 1; p < members; ++p) {
        EXPECT_EQ(parents[p], 1) << p << " of " << members;
      }
    }
  }
}

TEST(MulticastTree, ShapesAreAsNamed) {
  EXPECT_EQ(children(TreeShape::binomial, 0, 8), (std::vector<std::uint32_t>{4, 2, 1}));
  EXPECT_EQ(children(TreeShape::binomial, 4, 8), (std::vector<std::uint32_t>{6, 5}));
  EXPECT_EQ(children(TreeShape::binary, 1, 8), (std::vector<std::uint32_t>{3, 4}));
  EXPECT_EQ(tree_height(TreeShape::binary, 64), 6u);
  EXPECT_EQ(tree_height(TreeShape::binomial, 64), 6u);
}

// The deadlock argument of the header: a packet leaves over edges of a higher class than the one
// it came over, in every tree whoever is its root.
TEST(MulticastTree, EdgeClassesGrowTowardsTheLeaves) {
  for (TreeShape shape : kShapes) {
    for (std::uint32_t members : kSizes) {
      for (std::uint32_t p = 0; p < members; ++p) {
        for (std::uint32_t child : children(shape, p, members)) {
          const std::uint32_t came = edge_class(shape, child - p, members);
          EXPECT_LT(came, edge_classes(members));
          for (std::uint32_t next : children(shape, child, members)) {
            EXPECT_GT(edge_class(shape, next - child, members), came)
                << p << " to " << child << " to " << next << " of " << members;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fairlead::proto
