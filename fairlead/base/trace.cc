#include "fairlead/base/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

namespace fairlead {
namespace {

// What ends an event's line; the last one of a document goes without.
constexpr std::string_view kLineEnd = ",\n";
// Room for an event's keys and numbers without its name, and for a detail's without its key.
constexpr std::size_t kEventBytes = 200;
constexpr std::size_t kDetailBytes = 24;
constexpr std::size_t kEscapedBytes = 6;  // of one byte of a name

// Writes an event behind what a buffer holds, into room that is made once: a traced run of the
// model writes some fifty events a message, each of a dozen parts. The destructor ends the event's
// line.
class EventText {
 public:
  // `name` and `details` are those that it will have; `name` may be escaped.
  EventText(std::string& buffer, std::string_view name, std::span<const TraceDetail> details = {})
      : buffer_(buffer) {
    std::size_t room = kEventBytes + kEscapedBytes * name.size();
    for (const TraceDetail& detail : details) {
      if (detail.name != nullptr) room += kDetailBytes + std::strlen(detail.name);
    }
    const std::size_t filled = buffer.size();
    buffer.resize(filled + room);
    out_ = buffer.data() + filled;
  }
  EventText(const EventText&) = delete;
  EventText& operator=(const EventText&) = delete;
  ~EventText() {
    text(kLineEnd);
    buffer_.resize(static_cast<std::size_t>(out_ - buffer_.data()));
  }

  EventText& text(std::string_view text) {
    std::memcpy(out_, text.data(), text.size());
    out_ += text.size();
    return *this;
  }
  EventText& number(std::uint64_t value) {
    // Nodes, lanes and levels are this small more often than not.
    if (value < 10) {
      *out_++ = static_cast<char>('0' + value);
      return *this;
    }
    out_ = std::to_chars(out_, out_ + 20, value).ptr;
    return *this;
  }
  EventText& hexadecimal(std::uint64_t value) {
    text("0x");
    out_ = std::to_chars(out_, out_ + 16, value, 16).ptr;
    return *this;
  }
  // A JSON string's inside; no longer than what room was made for. Bytes that are not ASCII pass:
  // names are UTF-8 already.
  EventText& escaped(std::string_view text) {
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20) {
        out_ = fmt::format_to(out_, "\\u{:04x}", static_cast<unsigned>(c));
        continue;
      }
      if (c == '"' || c == '\\') *out_++ = '\\';
      *out_++ = c;
    }
    return *this;
  }
  // The format's microseconds, exact: no rounding of large virtual times, nor zeros at the end,
  // which are a large part of what a long trace would be.
  EventText& us(Ps t) {
    constexpr std::uint64_t kPsPerUs = 1'000'000;
    auto ps = static_cast<std::uint64_t>(t.count);
    if (t.count < 0) {
      *out_++ = '-';
      ps = 0 - ps;
    }
    number(ps / kPsPerUs);
    const std::uint64_t rest = ps % kPsPerUs;
    if (rest == 0) return *this;
    // Six digits, with the zeros in front: those of a number that is seven, without its first.
    const fmt::format_int digits(kPsPerUs + rest);
    *out_++ = '.';
    text({digits.data() + 1, 6});
    while (out_[-1] == '0') --out_;
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
  // As a member of the event; where there are none it has none.
  EventText& details(std::span<const TraceDetail> details) {
    std::string_view before = R"(,"args":{")";
    for (const TraceDetail& detail : details) {
      if (detail.name == nullptr) continue;
      text(before).text(detail.name).text("\":").number(detail.value);
      before = ",\"";
    }
    return before == ",\"" ? text("}") : *this;
  }

 private:
  std::string& buffer_;
  char* out_;
};

std::string_view cut(std::string_view name) { return name.substr(0, TraceWriter::kNameBytes); }

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
  buffer_.reserve(kBufferBytes + 8 * kNameBytes);
  if (form == Form::whole) buffer_ = "[\n";
}

TraceWriter::~TraceWriter() { (void)close(); }

void TraceWriter::end_event() {
  if (buffer_.size() >= kBufferBytes) flush();
}

void TraceWriter::name_node(std::uint32_t node, std::string_view name) {
  const std::string_view shown = cut(name);
  EventText(buffer_, shown)
      .begin(R"("M")", "process_name")
      .text(R"("pid":)")
      .number(node)
      .text(R"(,"args":{"name":")")
      .escaped(shown)
      .text("\"}}");
  end_event();
}

void TraceWriter::name_lane(TracePlace lane, std::string_view name) {
  const std::string_view shown = cut(name);
  EventText(buffer_, shown)
      .begin(R"("M")", "thread_name")
      .place(lane)
      .text(R"(,"args":{"name":")")
      .escaped(shown)
      .text("\"}}");
  EventText(buffer_, "")
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
  const std::string_view shown = cut(name);
  EventText(buffer_, shown, details)
      .begin(R"("X")", shown)
      .at(lane, from)
      .text(R"(,"dur":)")
      .us(to - from)
      .details(details)
      .text("}");
  end_event();
}

void TraceWriter::instant(TracePlace lane, Ps at, std::string_view name) {
  const std::string_view shown = cut(name);
  EventText(buffer_, shown).begin(R"("i","s":"t")", shown).at(lane, at).text("}");
  end_event();
}

void TraceWriter::arrow(std::string_view kind, TracePlace lane, Ps at, std::uint64_t id) {
  EventText(buffer_, "")
      .text(R"({"ph":)")
      .text(kind)
      .text(R"(,"name":"packet","cat":"packet","id":")")
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
  const std::string_view shown = cut(name);
  EventText(buffer_, shown)
      .begin(R"("C")", shown)
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
  const std::string_view shown = cut(name);
  const auto begin = [&](EventText& event, std::string_view kind, Ps at) -> EventText& {
    return event.begin(kind, shown)
        .text(R"("cat":"journey","id":")")
        .hexadecimal(id)
        .text(R"(","pid":)")
        .number(node)
        .text(R"(,"ts":)")
        .us(at);
  };
  {
    EventText event(buffer_, shown, details);
    begin(event, R"("b")", from).details(details).text("}");
  }
  {
    EventText event(buffer_, shown);
    begin(event, R"("e")", to).text("}");
  }
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
