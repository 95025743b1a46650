#include "fairlead/base/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

// Writes the parts of an event behind what a buffer holds: a traced run of the model writes
// millions, and makes no string on the way.
class EventText {
 public:
  explicit EventText(std::string& out) : out_(out) {}

  EventText& text(std::string_view text) {
    out_ += text;
    return *this;
  }
  EventText& number(std::uint64_t value) {
    const fmt::format_int digits(value);
    out_.append(digits.data(), digits.size());
    return *this;
  }
  EventText& hexadecimal(std::uint64_t value) {
    fmt::format_to(std::back_inserter(out_), "{:#x}", value);
    return *this;
  }
  // A JSON string's inside. Bytes that are not ASCII pass: names are UTF-8 already.
  EventText& escaped(std::string_view text) {
    text = text.substr(0, TraceWriter::kNameBytes);
    const auto plain = [](char c) {
      return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
    };
    if (std::all_of(text.begin(), text.end(), plain)) return this->text(text);
    for (const char c : text) {
      if (plain(c)) {
        out_ += c;
      } else if (c == '"' || c == '\\') {
        (out_ += '\\') += c;
      } else {
        fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
      }
    }
    return *this;
  }
  // The format's microseconds, exact: no rounding of large virtual times.
  EventText& us(Ps t) {
    constexpr std::uint64_t kPsPerUs = 1'000'000;
    auto ps = static_cast<std::uint64_t>(t.count);
    if (t.count < 0) {
      out_ += '-';
      ps = 0 - ps;
    }
    number(ps / kPsPerUs);
    // Six digits, with the zeros in front: those of a number that is seven, without its first.
    const fmt::format_int digits(kPsPerUs + ps % kPsPerUs);
    out_ += '.';
    out_.append(digits.data() + 1, digits.size() - 1);
    return *this;
  }
  // How every event begins, `kind` being the value of "ph" as JSON has it; then its place and time.
  EventText& begin(std::string_view kind, std::string_view name) {
    return text(R"({"ph":)").text(kind).text(R"(,"name":")").escaped(name).text("\",");
  }
  EventText& at(TracePlace lane, Ps time) { return place(lane).text(R"(,"ts":)").us(time); }
  EventText& place(TracePlace lane) {
    return text(R"("pid":)").number(lane.node).text(R"(,"tid":)").number(lane.line);
  }
  EventText& details(std::span<const TraceDetail> details) {
    const char* before = "\"";
    for (const TraceDetail& detail : details) {
      if (detail.name == nullptr) continue;
      text(before).text(detail.name).text("\":").number(detail.value);
      before = ",\"";
    }
    return *this;
  }

 private:
  std::string& out_;
};

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

void TraceWriter::end_event() {
  buffer_ += kLineEnd;
  if (buffer_.size() >= kBufferBytes) flush();
}

void TraceWriter::name_node(std::uint32_t node, std::string_view name) {
  EventText(buffer_)
      .begin(R"("M")", "process_name")
      .text(R"("pid":)")
      .number(node)
      .text(R"(,"args":{"name":")")
      .escaped(name)
      .text("\"}}");
  end_event();
}

void TraceWriter::name_lane(TracePlace lane, std::string_view name) {
  EventText(buffer_)
      .begin(R"("M")", "thread_name")
      .place(lane)
      .text(R"(,"args":{"name":")")
      .escaped(name)
      .text("\"}}");
  end_event();
  EventText(buffer_)
      .begin(R"("M")", "thread_sort_index")
      .place(lane)
      .text(R"(,"args":{"sort_index":)")
      .number(lane.line)
      .text("}}");
  end_event();
}

void TraceWriter::interval(TracePlace lane, Ps from, Ps to, std::string_view name,
                           TraceDetail first, TraceDetail second) {
  const TraceDetail details[] = {first, second};
  EventText(buffer_)
      .begin(R"("X")", name)
      .at(lane, from)
      .text(R"(,"dur":)")
      .us(to - from)
      .text(R"(,"args":{)")
      .details(details)
      .text("}}");
  end_event();
}

void TraceWriter::instant(TracePlace lane, Ps at, std::string_view name) {
  EventText(buffer_).begin(R"("i","s":"t")", name).at(lane, at).text("}");
  end_event();
}

void TraceWriter::arrow(std::string_view kind, TracePlace lane, Ps at, std::uint64_t id) {
  EventText(buffer_)
      .begin(kind, "packet")
      .text(R"("cat":"packet","id":")")
      .hexadecimal(id)
      .text("\",")
      .at(lane, at)
      .text("}");
  end_event();
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
  EventText(buffer_)
      .begin(R"("C")", name)
      .text(R"("pid":)")
      .number(node)
      .text(R"(,"ts":)")
      .us(at)
      .text(R"(,"args":{"value":)")
      .number(value)
      .text("}}");
  end_event();
}

void TraceWriter::journey(std::uint32_t node, Ps from, Ps to, std::uint64_t id,
                          std::string_view name, std::span<const TraceDetail> details) {
  const auto begin = [&](std::string_view kind, Ps at) {
    return EventText(buffer_)
        .begin(kind, name)
        .text(R"("cat":"journey","id":")")
        .hexadecimal(id)
        .text(R"(","pid":)")
        .number(node)
        .text(R"(,"ts":)")
        .us(at);
  };
  begin(R"("b")", from).text(R"(,"args":{)").details(details).text("}}");
  end_event();
  begin(R"("e")", to).text("}");
  end_event();
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
