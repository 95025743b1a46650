#include "fairlead/base/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace fairlead {
namespace {

// What ends an event's line; the last one of a document goes without.
constexpr std::string_view kLineEnd = ",\n";
// Room for an event whatever its names.
constexpr std::size_t kEventBytesMax = 8 * TraceWriter::kNameBytes;

// A JSON string's inside. Bytes that are not ASCII pass: names are UTF-8 already.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text.substr(0, TraceWriter::kNameBytes)) {
    if (c == '"' || c == '\\') {
      safe += '\\';
      safe += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      safe += c;
    }
  }
  return safe;
}

// The format's microseconds, exact: no rounding of large virtual times.
std::string us(Ps t) {
  const char* sign = t.count < 0 ? "-" : "";
  const auto ps =
      t.count < 0 ? 0 - static_cast<std::uint64_t>(t.count) : static_cast<std::uint64_t>(t.count);
  return fmt::format("{}{}.{:06}", sign, ps / 1'000'000, ps % 1'000'000);
}

std::string place(TracePlace lane) {
  return fmt::format(R"("pid":{},"tid":{})", lane.node, lane.line);
}

std::string details_text(std::span<const TraceDetail> details) {
  std::string text;
  for (const TraceDetail& detail : details) {
    if (detail.name == nullptr) continue;
    text += fmt::format(R"({}"{}":{})", text.empty() ? "" : ",", detail.name, detail.value);
  }
  return text;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

Error cannot_write(const std::string& path, int error) {
  return Error{fmt::format("cannot write the trace {}: {}", path, std::strerror(error))};
}

}  // namespace

Result<std::unique_ptr<TraceWriter>> TraceWriter::create(const std::string& path, Form form) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return cannot_write(path, errno);
  return std::unique_ptr<TraceWriter>(new TraceWriter(fd, path, form));
}

TraceWriter::TraceWriter(int fd, std::string path, Form form)
    : fd_(fd), path_(std::move(path)), form_(form) {
  buffer_.reserve(kBufferBytes + kEventBytesMax);
  if (form == Form::whole) buffer_ = "[\n";
}

TraceWriter::~TraceWriter() { (void)close(); }

void TraceWriter::event(std::string_view line) {
  buffer_ += line;
  buffer_ += kLineEnd;
  if (buffer_.size() >= kBufferBytes) flush();
}

void TraceWriter::name_node(std::uint32_t node, std::string_view name) {
  event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", node,
                    escaped(name)));
}

void TraceWriter::name_lane(TracePlace lane, std::string_view name) {
  event(fmt::format(R"({{"ph":"M","name":"thread_name",{},"args":{{"name":"{}"}}}})", place(lane),
                    escaped(name)));
  event(fmt::format(R"({{"ph":"M","name":"thread_sort_index",{},"args":{{"sort_index":{}}}}})",
                    place(lane), lane.line));
}

void TraceWriter::interval(TracePlace lane, Ps from, Ps to, std::string_view name,
                           TraceDetail first, TraceDetail second) {
  const TraceDetail details[] = {first, second};
  event(fmt::format(R"({{"ph":"X","name":"{}",{},"ts":{},"dur":{},"args":{{{}}}}})", escaped(name),
                    place(lane), us(from), us(to - from), details_text(details)));
}

void TraceWriter::instant(TracePlace lane, Ps at, std::string_view name) {
  event(fmt::format(R"({{"ph":"i","s":"t","name":"{}",{},"ts":{}}})", escaped(name), place(lane),
                    us(at)));
}

void TraceWriter::arrow(const char* phase, TracePlace lane, Ps at, std::uint64_t id) {
  event(fmt::format(R"({{"ph":{},"cat":"packet","name":"packet","id":"{:#x}",{},"ts":{}}})", phase,
                    id, place(lane), us(at)));
}

void TraceWriter::arrow_begins(TracePlace lane, Ps at, std::uint64_t id) {
  arrow(R"("s")", lane, at, id);
}

void TraceWriter::arrow_passes(TracePlace lane, Ps at, std::uint64_t id) {
  arrow(R"("t")", lane, at, id);
}

void TraceWriter::arrow_ends(TracePlace lane, Ps at, std::uint64_t id) {
  arrow(R"("f","bp":"e")", lane, at, id);
}

void TraceWriter::counter(std::uint32_t node, Ps at, std::string_view name, std::uint64_t value) {
  event(fmt::format(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"value":{}}}}})",
                    escaped(name), node, us(at), value));
}

void TraceWriter::journey(std::uint32_t node, Ps from, Ps to, std::uint64_t id,
                          std::string_view name, std::span<const TraceDetail> details) {
  const std::string common =
      fmt::format(R"("cat":"journey","name":"{}","id":"{:#x}","pid":{})", escaped(name), id, node);
  event(fmt::format(R"({{"ph":"b",{},"ts":{},"args":{{{}}}}})", common, us(from),
                    details_text(details)));
  event(fmt::format(R"({{"ph":"e",{},"ts":{}}})", common, us(to)));
}

void TraceWriter::write_out(std::size_t keep) {
  if (fd_ < 0 || buffer_.size() <= keep) return;
  const std::string_view whole = buffer_;
  if (error_ == 0 && !write_all(fd_, whole.substr(0, whole.size() - keep))) error_ = errno;
  buffer_.erase(0, buffer_.size() - keep);
}

void TraceWriter::flush() { write_out(form_ == Form::whole ? kLineEnd.size() : 0); }

Result<void> TraceWriter::close() {
  if (fd_ < 0) return {};
  if (form_ == Form::whole) {
    if (buffer_.ends_with(kLineEnd)) buffer_.resize(buffer_.size() - kLineEnd.size());
    buffer_ += "\n]\n";
  }
  write_out(0);
  if (::close(fd_) != 0 && error_ == 0) error_ = errno;
  fd_ = -1;
  if (error_ != 0) return cannot_write(path_, error_);
  return {};
}

Result<void> merge_traces(const std::string& path, std::span<const std::string> parts) {
  std::ofstream whole(path, std::ios::trunc | std::ios::binary);
  const char* before = "[\n";
  for (const std::string& name : parts) {
    std::ifstream part(name, std::ios::binary);
    for (std::string line; std::getline(part, line);) {
      // The last line of a killed writer has no end.
      if (part.eof() || !line.ends_with("},")) continue;
      line.pop_back();
      whole << before << line;
      before = ",\n";
    }
  }
  if (before[0] == '[') whole << before;
  whole << "\n]\n";
  whole.close();
  if (!whole) return cannot_write(path, errno);
  return {};
}

}  // namespace fairlead
