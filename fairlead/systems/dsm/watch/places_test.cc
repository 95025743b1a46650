#include "fairlead/systems/dsm/watch/places.h"

#include <gtest/gtest.h>

namespace fairlead::dsm {
namespace {

TEST(Places, AreReadFromWhatAddr2linePrints) {
  const std::vector<SourceLine> lines = read_addr2line(
      "0x0000000000001139\n"
      "work\n/home/me/lu.c:57\n"
      "0x0000000000001150\n"
      "??\n??:0\n"
      "0x0000000000001160\n"
      "step(int)\n??:?\n"
      // Functions within functions: the innermost is a header's.
      "0x0000000000001170\n"
      "operator[]\n/usr/include/c++/12/bits/stl_vector.h:1123\n"
      "sum(Grid&)\n/home/me/grid.cc:9 (discriminator 3)\n"
      "main\n/home/me/main.cc:80\n"
      "0x0000000000001180\n"
      "get\n/usr/include/fairlead/systems/dsm/handles.h:51\n");
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], (SourceLine{"work", "/home/me/lu.c", 57}));
  EXPECT_EQ(lines[1], SourceLine{});
  EXPECT_EQ(lines[2], (SourceLine{"step(int)", "", 0}));
  EXPECT_EQ(lines[3], (SourceLine{"sum(Grid&)", "/home/me/grid.cc", 9}));
  EXPECT_EQ(lines[4], (SourceLine{"get", "/usr/include/fairlead/systems/dsm/handles.h", 51}));
  EXPECT_TRUE(read_addr2line("").empty());
  EXPECT_TRUE(read_addr2line("addr2line: no such file\n").empty());
}

TEST(Places, HaveTheBestNameThatIsKnown) {
  const Place place{"/home/me/lu", 0x1139};
  EXPECT_EQ(name_of(place, {"work", "/home/me/lu.c", 57}), "lu.c:57 (work)");
  EXPECT_EQ(name_of(place, {"", "lu.c", 57}), "lu.c:57");
  EXPECT_EQ(name_of(place, {"work", "", 0}), "work in lu");
  EXPECT_EQ(name_of(place, {}), "lu+0x1139");
  EXPECT_EQ(name_of({}, {}), "a place that is not known");
}

TEST(Places, AreOfTheFileThatTheInstructionIsFrom) {
  const auto here = reinterpret_cast<std::uintptr_t>(&read_addr2line);
  const Place place = place_of(here);
  EXPECT_FALSE(place.file.empty());
  EXPECT_EQ(place_of(here + 1), (Place{place.file, place.address + 1}));
  EXPECT_EQ(place_of(0), Place{});
  EXPECT_EQ(place_of(16), Place{});
}

}  // namespace
}  // namespace fairlead::dsm
