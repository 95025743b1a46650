#include "fairlead/base/intrusive_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead {
namespace {

struct Element {
  int number = 0;
  ListLink<Element> link;
};
using Elements = IntrusiveList<Element, &Element::link>;

std::vector<int> numbers(const Elements& list) {
  std::vector<int> found;
  for (const Element* at = list.front(); at != nullptr; at = Elements::next(at)) {
    found.push_back(at->number);
  }
  return found;
}

TEST(IntrusiveList, keeps_the_order_and_gives_up_any_element) {
  Element elements[4] = {{0, {}}, {1, {}}, {2, {}}, {3, {}}};
  Elements list;
  EXPECT_TRUE(list.empty());
  for (Element& element : elements) list.push_back(&element);
  EXPECT_EQ(numbers(list), (std::vector<int>{0, 1, 2, 3}));
  // Expect: the middle, the end and the front go, and what stays keeps its order.
  list.remove(&elements[1]);
  EXPECT_EQ(numbers(list), (std::vector<int>{0, 2, 3}));
  list.remove(&elements[3]);
  EXPECT_EQ(numbers(list), (std::vector<int>{0, 2}));
  list.remove_front();
  EXPECT_EQ(numbers(list), (std::vector<int>{2}));
  // Expect: what went may come again, at the end.
  list.push_back(&elements[0]);
  EXPECT_EQ(numbers(list), (std::vector<int>{2, 0}));
  list.remove(&elements[2]);
  list.remove_front();
  EXPECT_TRUE(list.empty());
  list.push_back(&elements[3]);
  EXPECT_EQ(numbers(list), (std::vector<int>{3}));
}

TEST(IntrusiveList, takes_an_element_at_any_place) {
  Element elements[4] = {{0, {}}, {1, {}}, {2, {}}, {3, {}}};
  Elements list;
  list.insert_before(nullptr, &elements[2]);
  list.insert_before(&elements[2], &elements[0]);
  list.insert_before(&elements[2], &elements[1]);
  list.insert_before(nullptr, &elements[3]);
  EXPECT_EQ(numbers(list), (std::vector<int>{0, 1, 2, 3}));
  // Expect: the links back hold, too.
  list.remove(&elements[2]);
  list.remove(&elements[1]);
  list.remove(&elements[3]);
  EXPECT_EQ(numbers(list), (std::vector<int>{0}));
}

}  // namespace
}  // namespace fairlead
