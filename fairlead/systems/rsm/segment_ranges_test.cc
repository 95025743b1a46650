#include "fairlead/systems/rsm/segment_ranges.h"

#include <gtest/gtest.h>

#include <sstream>

#include "fairlead/systems/rsm/rsmapi.h"

namespace fairlead::rsm {
namespace {

TEST(SegmentRangesTest, ReadsLinesAndRefusesWhatIsNone) {
  struct Row {
    const char* text;
    int code;
    std::uint32_t base;
    std::uint32_t length;
  };
  const Row rows[] = {
      {"#keyword appid baseid length\nreserved SUNWfoo 0x600000 1000\n", RSM_SUCCESS, 0x600000,
       1000},
      {"reserve\tother\t10\t1\nreserved SUNWfoo ABC000 16", RSM_SUCCESS, 0xabc000, 16},
      {"", RSMERR_BAD_APPID, 0, 0},
      {"reserved SUNWbar 0x600000 1000\n", RSMERR_BAD_APPID, 0, 0},
      {"kept SUNWfoo 0x600000 1000\n", RSMERR_BAD_CONF, 0, 0},
      {"reserved SUNWfoo 0x6g 1000\n", RSMERR_BAD_CONF, 0, 0},
      {"reserved SUNWfoo 0x 1000\n", RSMERR_BAD_CONF, 0, 0},
      {"reserved SUNWfoo 0x600000 -1\n", RSMERR_BAD_CONF, 0, 0},
      {"reserved SUNWfoo 0x600000 0\n", RSMERR_BAD_CONF, 0, 0},
      {"reserved SUNWfoo 0x600000\n", RSMERR_BAD_CONF, 0, 0},
      {"reserved SUNWfoo 0x600000 10 11\n", RSMERR_BAD_CONF, 0, 0},
      {"reserved SUNWfoo 0x1600000000 10\n", RSMERR_BAD_CONF, 0, 0},
      {"reserved SUNWfoo 0x600000 1\n\n", RSMERR_BAD_CONF, 0, 0},
  };
  for (const Row& row : rows) {
    std::istringstream lines(row.text);
    SegmentRange range;
    EXPECT_EQ(find_range(lines, "SUNWfoo", &range), row.code) << row.text;
    if (row.code != RSM_SUCCESS) continue;
    EXPECT_EQ(range.base, row.base);
    EXPECT_EQ(range.length, row.length);
  }
  SegmentRange range;
  EXPECT_EQ(find_range("/nowhere/rsm.segmentid", "SUNWfoo", &range), RSMERR_BAD_CONF);
}

}  // namespace
}  // namespace fairlead::rsm
