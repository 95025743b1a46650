#include "fairlead/base/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

namespace fairlead {
namespace {

// What ends an event's line; the last one of a document goes without.
constexpr std::string_view kLineEnd = ",\n";
constexpr std::string_view kBegin = "[\n";
constexpr std::string_view kEnd = "\n]\n";
// Room for an event's keys and numbers without its name, and for a detail's without its key.
constexpr std::size_t kEventBytes = 200;
constexpr std::size_t kDetailBytes = 24;
constexpr std::size_t kEscapedBytes = 6;  // of one byte of a name

// "000102..99": what is written most are digits of times.
constexpr auto kPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Writes an event behind what a buffer holds, into room that is made once: a traced run of the
// model writes some fifty events a message, each of a dozen parts. The destructor ends the event's
// line.
class EventText {
 public:
  // `name` and `details` are those that it will have; `name` may be escaped. `filled`: so much of
  // the buffer is.
  EventText(std::vector<char>& buffer, std::size_t& filled, std::string_view name,
            std::span<const TraceDetail> details = {})
      : buffer_(buffer), filled_(filled) {
    std::size_t room = kEventBytes + kEscapedBytes * name.size();
    for (const TraceDetail& detail : details) {
      if (detail.name != nullptr) room += kDetailBytes + std::strlen(detail.name);
    }
    if (buffer.size() - filled < room) buffer.resize(filled + room);
    out_ = buffer.data() + filled;
  }
  EventText(const EventText&) = delete;
  EventText& operator=(const EventText&) = delete;
  ~EventText() {
    text(kLineEnd);
    filled_ = static_cast<std::size_t>(out_ - buffer_.data());
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
    } else if (value < 100) {
      pair(out_, static_cast<std::uint32_t>(value));
      out_ += 2;
    } else if (value < 100'000'000) {
      eight_digits(static_cast<std::uint32_t>(value));
    } else {
      out_ = std::to_chars(out_, out_ + 20, value).ptr;
    }
    return *this;
  }
  EventText& hexadecimal(std::uint64_t value) {
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
    const auto rest = static_cast<std::uint32_t>(ps % kPsPerUs);
    if (rest == 0) return *this;
    *out_ = '.';
    pair(out_ + 1, rest / 10'000);
    pair(out_ + 3, rest / 100 % 100);
    pair(out_ + 5, rest % 100);
    out_ += 7;
    while (out_[-1] == '0') --out_;
    return *this;
  }
  // How most events begin, `head` being all up to the name; then where and when.
  EventText& begin(std::string_view head, std::string_view name) {
    return text(head).escaped(name);
  }
  // Behind a string.
  EventText& node(std::uint32_t node) { return text(R"(","pid":)").number(node); }
  EventText& place(TracePlace lane) { return node(lane.node).text(R"(,"tid":)").number(lane.line); }
  EventText& at(TracePlace lane, Ps time) { return place(lane).text(R"(,"ts":)").us(time); }
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
  // Both digits of a number below 100.
  static void pair(char* to, std::uint32_t value) { std::memcpy(to, &kPairs[2 * value], 2); }
  // At least 10, at most 8 digits: two at a time, from the last ones on.
  void eight_digits(std::uint32_t value) {
    const std::size_t digits = value < 1'000        ? 2 + (value >= 100)
                               : value < 100'000    ? 4 + (value >= 10'000)
                               : value < 10'000'000 ? 6 + (value >= 1'000'000)
                                                    : 8;
    out_ += digits;
    char* at = out_;
    for (; value >= 100; value /= 100) pair(at -= 2, value % 100);
    value >= 10 ? pair(at - 2, value) : void(at[-1] = static_cast<char>('0' + value));
  }

  std::vector<char>& buffer_;
  std::size_t& filled_;
  char* out_;
};

std::string_view cut(std::string_view name) { return name.substr(0, TraceWriter::kNameBytes); }

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
    : file_(fd), path_(std::move(path)), form_(form), buffer_(kBufferBytes + 8 * kNameBytes) {
  if (form != Form::whole) return;
  std::memcpy(buffer_.data(), kBegin.data(), kBegin.size());
  filled_ = kBegin.size();
}

TraceWriter::~TraceWriter() { (void)close(); }

void TraceWriter::name_node(std::uint32_t node, std::string_view name) {
  const std::string_view shown = cut(name);
  EventText(buffer_, filled_, shown)
      .text(R"({"ph":"M","name":"process_name)")
      .node(node)
      .text(R"(,"args":{"name":")")
      .escaped(shown)
      .text("\"}}");
  end_event();
}

void TraceWriter::name_lane(TracePlace lane, std::string_view name) {
  const std::string_view shown = cut(name);
  EventText(buffer_, filled_, shown)
      .text(R"({"ph":"M","name":"thread_name)")
      .place(lane)
      .text(R"(,"args":{"name":")")
      .escaped(shown)
      .text("\"}}");
  EventText(buffer_, filled_, "")
      .text(R"({"ph":"M","name":"thread_sort_index)")
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
  EventText(buffer_, filled_, shown, details)
      .begin(R"({"ph":"X","name":")", shown)
      .at(lane, from)
      .text(R"(,"dur":)")
      .us(to - from)
      .details(details)
      .text("}");
  end_event();
}

void TraceWriter::instant(TracePlace lane, Ps at, std::string_view name) {
  const std::string_view shown = cut(name);
  EventText(buffer_, filled_, shown)
      .begin(R"({"ph":"i","s":"t","name":")", shown)
      .at(lane, at)
      .text("}");
  end_event();
}

// Arrows are a quarter of a trace: the importers need no category of them, and chrome://tracing a
// name, but no letter in it.
void TraceWriter::arrow(std::string_view begin, TracePlace lane, Ps at, std::uint64_t id) {
  EventText(buffer_, filled_, "").text(begin).hexadecimal(id).at(lane, at).text("}");
  end_event();
}

void TraceWriter::arrow_begins(TracePlace lane, Ps at, std::uint64_t id) {
  arrow(R"({"ph":"s","name":"","id":"0x)", lane, at, id);
}

void TraceWriter::arrow_passes(TracePlace lane, Ps at, std::uint64_t id) {
  arrow(R"({"ph":"t","name":"","id":"0x)", lane, at, id);
}

void TraceWriter::arrow_ends(TracePlace lane, Ps at, std::uint64_t id) {
  arrow(R"({"ph":"f","bp":"e","name":"","id":"0x)", lane, at, id);
}

void TraceWriter::counter(std::uint32_t node, Ps at, std::string_view name, std::uint64_t value) {
  const std::string_view shown = cut(name);
  EventText(buffer_, filled_, shown)
      .begin(R"({"ph":"C","name":")", shown)
      .node(node)
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
  const auto begin = [&](EventText& event, std::string_view head, Ps at) -> EventText& {
    return event.begin(head, shown)
        .text(R"(","cat":"journey","id":"0x)")
        .hexadecimal(id)
        .node(node)
        .text(R"(,"ts":)")
        .us(at);
  };
  {
    EventText event(buffer_, filled_, shown, details);
    begin(event, R"({"ph":"b","name":")", from).details(details).text("}");
  }
  {
    EventText event(buffer_, filled_, shown);
    begin(event, R"({"ph":"e","name":")", to).text("}");
  }
  end_event();
}

std::size_t TraceWriter::due() const {
  const std::size_t kept = form_ == Form::whole ? kLineEnd.size() : 0;
  return filled_ > kept ? filled_ - kept : 0;
}

// Every event ends so, and the buffer has been taken.
void TraceWriter::keep_line_end() {
  filled_ = form_ == Form::whole ? kLineEnd.size() : 0;
  std::memcpy(buffer_.data(), kLineEnd.data(), filled_);
}

void TraceWriter::hand_over() {
  if (!open_) return void(filled_ = 0);
  file_.hand_over(buffer_, due());
  keep_line_end();
}

void TraceWriter::flush() {
  if (!open_ || due() == 0) return;
  file_.write({buffer_.data(), due()});
  keep_line_end();
}

Result<void> TraceWriter::close() {
  if (!open_) return {};
  if (form_ == Form::whole) {
    const std::string_view text(buffer_.data(), filled_);
    if (text.ends_with(kLineEnd)) filled_ -= kLineEnd.size();
    if (buffer_.size() < filled_ + kEnd.size()) buffer_.resize(filled_ + kEnd.size());
    std::memcpy(buffer_.data() + filled_, kEnd.data(), kEnd.size());
    filled_ += kEnd.size();
  }
  file_.write({buffer_.data(), filled_});
  open_ = false;
  const int error = file_.close();
  if (error != 0) return cannot_write(path_, error);
  return {};
}

namespace {

// Joins what parts hold, in large pieces: the last line of each is looked at, and no other.
class Joined {
 public:
  explicit Joined(const std::string& path) : whole_(path, std::ios::trunc | std::ios::binary) {}

  void add(const std::string& name) {
    std::ifstream part(name, std::ios::binary);
    std::size_t kept = 0;  // of the line whose end has not been read
    while (part) {
      if (text_.size() < kept + kPieceBytes) text_.resize(kept + kPieceBytes);
      part.read(text_.data() + kept, kPieceBytes);
      const std::size_t filled = kept + static_cast<std::size_t>(part.gcount());
      const std::string_view read(text_.data(), filled);
      const std::size_t end = read.rfind('\n');
      const std::size_t whole = end == std::string_view::npos ? 0 : end + 1;
      if (whole > 0) put(read.substr(0, whole));
      kept = filled - whole;
      std::memmove(text_.data(), text_.data() + whole, kept);
    }
    // The last line of a killed writer has no end, and is left out.
  }
  bool close() {
    whole_ << (began_ ? "" : kBegin) << kEnd;
    whole_.close();
    return whole_.good();
  }

 private:
  static constexpr std::size_t kPieceBytes = 256 * 1024;

  // Whole lines.
  void put(std::string_view lines) {
    lines.remove_suffix(kLineEnd.size());
    whole_ << (began_ ? kLineEnd : kBegin) << lines;
    began_ = true;
  }

  std::ofstream whole_;
  std::vector<char> text_;
  bool began_ = false;
};

}  // namespace

Result<void> merge_traces(const std::string& path, std::span<const std::string> parts) {
  Joined whole(path);
  for (const std::string& name : parts) whole.add(name);
  if (!whole.close()) return cannot_write(path, errno);
  return {};
}

}  // namespace fairlead
