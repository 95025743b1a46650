// The PMI-1 wire protocol as text: lines of "cmd=NAME key=value ...". What comes from outside is
// checked here, without any I/O.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::run {

constexpr std::size_t kPmi1LineMax = 64 * 1024;
constexpr std::size_t kPmi1FieldsMax = 64;

// One line, split. The views are of the text that was parsed.
struct Pmi1Line {
  std::vector<std::pair<std::string_view, std::string_view>> fields;

  // Value of the first field of that name; empty where there is none.
  std::string_view get(std::string_view name) const;
  std::optional<std::int64_t> number(std::string_view name) const;
};

// `line` without its newline. Words without '=' are passed over: launchers write free text into
// messages. Error: too long, too many fields, a NUL, or no cmd.
Result<Pmi1Line> parse_pmi1_line(std::string_view line);

// Makes lines of a stream.
class Pmi1Lines {
 public:
  // Error: a line of more than kPmi1LineMax bytes.
  Result<void> append(std::string_view bytes);
  // The next whole line without its newline.
  std::optional<std::string> next();

 private:
  std::string waiting_;
};

// "(vector,(FIRST,NODES,RANKS)...)": node of each of `ranks` ranks. Each block puts RANKS ranks in
// turn on each of NODES nodes from number FIRST; the blocks repeat until every rank has its node.
Result<std::vector<std::uint32_t>> parse_process_mapping(std::string_view text,
                                                         std::uint32_t ranks);

// Any bytes as letters and digits, and back. Error: not what to_hex makes.
std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view text);

}  // namespace fairlead::run
