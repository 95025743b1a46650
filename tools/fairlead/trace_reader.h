// Reads the traces that this program writes, one event a line, in bounded memory: what comes from
// a file is checked, number by number.
#pragma once
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

struct TraceEvent {
  char phase = 0;  // 'X' 'M' 'b' 'e' 's' 't' 'f' 'i'
  std::uint32_t node = 0;
  std::uint32_t line = 0;
  Ps at{};
  Ps length{};  // of an 'X'
  std::string name;
  std::uint64_t id = 0;  // of an arrow or a journey
  Json args;             // an object or null
};

class TraceReader {
 public:
  static constexpr std::size_t kLineBytesMax = 64 * 1024;
  static constexpr std::uint32_t kNodesMax = 1u << 20;
  static constexpr std::uint32_t kLinesMax = 1u << 10;  // of a node

  // Error: no such file, or none that begins as a trace does.
  Result<void> open(const std::string& path);
  // The next event, or none after the last. Error: names file and line; also for a file that ends
  // before its end.
  Result<std::optional<TraceEvent>> next();
  // Where the event that next() gave last begins, and going back to it.
  std::uint64_t offset() const { return offset_; }
  Result<TraceEvent> at(std::uint64_t offset);

 private:
  Error bad(const std::string& what) const;
  Result<void> read_line(std::string& line);
  Result<TraceEvent> event_of(std::string line) const;

  std::string path_;
  std::ifstream file_;
  std::uint64_t offset_ = 0;
  std::uint64_t number_ = 0;
  bool last_ = false;  // no comma behind the event before
};

}  // namespace fairlead::tools
