#include "tools/fairlead/trace_reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "fairlead/base/numbers.h"

namespace fairlead::tools {
namespace {

// Beyond three virtual months; what is below fits Ps.
constexpr double kUsMax = 9e12;

bool take_number(const Json& event, const char* key, std::uint32_t below, std::uint32_t& to) {
  const Json* const found = event.find(key);
  if (found == nullptr) return true;
  if (!found->is_unsigned() || found->whole() >= below) return false;
  to = static_cast<std::uint32_t>(found->whole());
  return true;
}

bool take_time(const Json& event, const char* key, Ps& to) {
  const Json* const found = event.find(key);
  if (found == nullptr) return true;
  if (!found->is_number()) return false;
  const double us = found->number();
  if (!(us >= 0 && us <= kUsMax)) return false;
  to = Ps{std::llround(us * 1e6)};
  return true;
}

bool take_text(const Json& event, const char* key, std::string& to) {
  const Json* const found = event.find(key);
  if (found == nullptr) return true;
  if (!found->is_text()) return false;
  to = found->text();
  return true;
}

bool take_id(const Json& event, std::uint64_t& to) {
  std::string text;
  if (!take_text(event, "id", text)) return false;
  if (text.empty()) return true;
  if (!text.starts_with("0x")) return false;
  std::string_view digits = std::string_view(text).substr(2);
  return take_whole(digits, to, 16) && digits.empty();
}

}  // namespace

Error TraceReader::bad(const std::string& what) const {
  return Error{fmt::format("{}:{}: {}", path_, number_, what)};
}

Result<void> TraceReader::open(const std::string& path) {
  path_ = path;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Error{fmt::format("{} is a folder, not a trace", path)};
  }
  file_.open(path, std::ios::binary);
  if (!file_) return Error{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  std::string line;
  const Result<void> read = read_line(line);
  if (!read.ok() || line != "[") {
    return Error{
        fmt::format("{} is not a trace of this program; `fairlead run --trace FILE` writes "
                    "them",
                    path)};
  }
  return {};
}

Result<void> TraceReader::read_line(std::string& line) {
  offset_ = static_cast<std::uint64_t>(file_.tellg());
  ++number_;
  line.clear();
  char buffer[4096];
  for (;;) {
    file_.getline(buffer, sizeof buffer);
    line.append(buffer, std::strlen(buffer));
    if (file_.eof()) return bad("the trace ends here, before its end: it is cut, or its run was");
    if (!file_.fail()) return {};
    if (file_.bad()) return bad("cannot be read");
    if (line.size() > kLineBytesMax) return bad("not an event: the line is too long");
    file_.clear();
  }
}

Result<std::optional<TraceEvent>> TraceReader::next() {
  std::string line;
  if (Result<void> read = read_line(line); !read.ok()) return read.error();
  if (line == "]") {
    if (number_ == 2 || last_) return std::optional<TraceEvent>();
    // Traces without an event have an empty line.
    return bad("an event is missing");
  }
  if (line.empty() && number_ == 2) {
    last_ = true;
    return next();
  }
  if (last_) return bad("the trace goes on after its last event");
  if (line.ends_with(',')) {
    line.pop_back();
  } else {
    last_ = true;
  }
  Result<TraceEvent> event = event_of(std::move(line));
  if (!event.ok()) return event.error();
  return std::optional<TraceEvent>(std::move(event.value()));
}

Result<TraceEvent> TraceReader::at(std::uint64_t offset) {
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  std::string line;
  if (Result<void> read = read_line(line); !read.ok()) return read.error();
  if (line.ends_with(',')) line.pop_back();
  return event_of(std::move(line));
}

Result<TraceEvent> TraceReader::event_of(std::string line) const {
  const Result<Json> read = Json::parse(line);
  if (!read.ok() || !read.value().is_object()) return bad("not an event");
  const Json& event = read.value();
  TraceEvent made;
  std::string phase;
  if (!take_text(event, "ph", phase) || phase.size() != 1) return bad("an event without a phase");
  made.phase = phase[0];
  if (!take_number(event, "pid", kNodesMax, made.node) ||
      !take_number(event, "tid", kLinesMax, made.line)) {
    return bad("not a node or a line of one");
  }
  if (!take_time(event, "ts", made.at) || !take_time(event, "dur", made.length)) {
    return bad("not a time");
  }
  if (!take_text(event, "name", made.name)) return bad("not a name");
  if (!take_id(event, made.id)) return bad("not an id");
  if (const Json* const found = event.find("args"); found != nullptr) {
    if (!found->is_object()) return bad("not an event's details");
    made.args = *found;
  }
  return made;
}

}  // namespace fairlead::tools
