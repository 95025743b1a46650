#include "fairlead/systems/rsm/segment_ranges.h"

#include <fstream>
#include <sstream>

#include "fairlead/systems/rsm/rsmapi.h"

namespace fairlead::rsm {
namespace {

// All of `text` as a number of that base below 2^32.
bool read_number(const std::string& text, int base, std::uint32_t* number) {
  std::size_t used = 0;
  unsigned long long value = 0;
  if (text.empty() || text[0] == '-' || text[0] == '+') return false;
  for (const char c : text.substr(base == 16 && text.starts_with("0x") ? 2 : 0)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
    if (digit >= base) return false;
    value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
    if (value > 0xffffffffu) return false;
    ++used;
  }
  *number = static_cast<std::uint32_t>(value);
  return used > 0;
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
