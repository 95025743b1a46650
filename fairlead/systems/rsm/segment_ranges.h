// The file that reserves segment ids for applications: lines "reserved APPLICATION BASE LENGTH",
// base in hexadecimal, and comments that begin with '#' (manual page rsm_get_segmentid_range).
#pragma once
#include <cstdint>
#include <istream>
#include <string>

namespace fairlead::rsm {

struct SegmentRange {
  std::uint32_t base = 0;
  std::uint32_t length = 0;
};

// RSMERR_BAD_CONF: the file cannot be read, or a line of it; RSMERR_BAD_APPID: it does not name the
// application.
int find_range(const std::string& file, const std::string& application, SegmentRange* range);
int find_range(std::istream& lines, const std::string& application, SegmentRange* range);

}  // namespace fairlead::rsm
