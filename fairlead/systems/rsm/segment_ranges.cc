#include "fairlead/systems/rsm/segment_ranges.h"

#include <fstream>
#include <sstream>
#include <string_view>

#include "fairlead/base/numbers.h"
#include "fairlead/systems/rsm/rsmapi.h"

namespace fairlead::rsm {
namespace {

// All of `text` as a number of that base below 2^32.
bool read_number(std::string_view text, int base, std::uint32_t* number) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  return take_whole(text, *number, base) && text.empty();
}

}  // namespace

int find_range(std::istream& lines, const std::string& application, SegmentRange* range) {
  bool found = false;
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string keyword, name, base, length, more;
    words >> keyword >> name >> base >> length;
    SegmentRange here;
    // The manual page has it both ways.
    const bool known = keyword == "reserved" || keyword == "reserve";
    if (!known || !read_number(base, 16, &here.base) || !read_number(length, 10, &here.length) ||
        here.length == 0 || words >> more) {
      return RSMERR_BAD_CONF;
    }
    if (name != application || found) continue;
    *range = here;
    found = true;
  }
  return found ? RSM_SUCCESS : RSMERR_BAD_APPID;
}

int find_range(const std::string& file, const std::string& application, SegmentRange* range) {
  std::ifstream lines(file);
  return lines ? find_range(lines, application, range) : RSMERR_BAD_CONF;
}

}  // namespace fairlead::rsm
