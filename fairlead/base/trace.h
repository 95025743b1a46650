// Traces in the Chrome/Perfetto trace-event format (JSON): intervals, instants and arrows on named
// lanes, streamed to a file through two buffers of fixed size. Open them in ui.perfetto.dev.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/background_file.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"

namespace fairlead {

// A lane of the picture: a line of a node's or rank's part of it.
struct TracePlace {
  std::uint32_t node;
  std::uint32_t line;
};
// One number shown with an interval; `name` nullptr: none.
struct TraceDetail {
  const char* name = nullptr;
  std::uint64_t value = 0;
};

// Thread: one at a time. Times are since the World started; the picosecond shows in the file.
class TraceWriter {
 public:
  enum class Form {
    whole,  // a JSON document once closed; readable by the viewers even when it never was
    part,   // lines for merge_traces()
  };
  static constexpr std::size_t kBufferBytes = 128 * 1024;  // each of both
  static constexpr std::size_t kNameBytes = 120;           // longer names are cut

  // Error: the file cannot be written; names it.
  static Result<std::unique_ptr<TraceWriter>> create(const std::string& path, Form form);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  ~TraceWriter();

  void name_node(std::uint32_t node, std::string_view name);
  void name_lane(TracePlace lane, std::string_view name);
  // Intervals of one lane nest or follow each other.
  void interval(TracePlace lane, Ps from, Ps to, std::string_view name, TraceDetail first = {},
                TraceDetail second = {});
  void instant(TracePlace lane, Ps at, std::string_view name);
  // An arrow from the interval that encloses `at` to the one where it ends; `id` ties the two.
  void arrow_begins(TracePlace lane, Ps at, std::uint64_t id);
  void arrow_ends(TracePlace lane, Ps at, std::uint64_t id);
  // On its way, through the interval that encloses `at`.
  void arrow_passes(TracePlace lane, Ps at, std::uint64_t id);
  // A number of the node that is `value` from `at` on, drawn as a curve.
  void counter(std::uint32_t node, Ps at, std::string_view name, std::uint64_t value);
  // An interval on no lane of its own, which may overlap others of its node: something that is
  // under way from lane to lane. `id` is its alone.
  void journey(std::uint32_t node, Ps from, Ps to, std::uint64_t id, std::string_view name,
               std::span<const TraceDetail> details);

  // Returns when what is buffered has been written; what comes later is for the next flush.
  void flush();
  // Ends the document. Error: something could not be written (a full disk), the file is cut.
  Result<void> close();

 private:
  TraceWriter(int fd, std::string path, Form form);
  void end_event() {
    if (filled_ >= kBufferBytes) hand_over();
  }
  void arrow(std::string_view begin, TracePlace lane, Ps at, std::uint64_t id);
  // What is full is written while the next buffer is filled.
  void hand_over();
  // How much of the buffer is for the file now: not the end of a document's last line, as it may be
  // the last of all.
  std::size_t due() const;
  void keep_line_end();

  BackgroundFile file_;
  bool open_ = true;
  std::string path_;
  Form form_;
  std::vector<char> buffer_;
  std::size_t filled_ = 0;  // of the buffer
};

// A lane of a writer, or none: what traced parts hold. Off, it costs a test of a null pointer.
class TraceLane {
 public:
  TraceLane() = default;
  // `writer` outlives the lane.
  TraceLane(TraceWriter& writer, TracePlace lane) : writer_(&writer), lane_(lane) {}

  bool on() const { return writer_ != nullptr; }
  // Only when on().
  void interval(Ps from, Ps to, std::string_view name, TraceDetail first = {},
                TraceDetail second = {}) const {
    writer_->interval(lane_, from, to, name, first, second);
  }
  void instant(Ps at, std::string_view name) const { writer_->instant(lane_, at, name); }
  void arrow_begins(Ps at, std::uint64_t id) const { writer_->arrow_begins(lane_, at, id); }
  void arrow_ends(Ps at, std::uint64_t id) const { writer_->arrow_ends(lane_, at, id); }

 private:
  TraceWriter* writer_ = nullptr;
  TracePlace lane_{0, 0};
};

// Joins parts into the document `path`. A part that does not exist is left out, a line that its
// writer did not live to end is dropped. Error: `path` cannot be written.
Result<void> merge_traces(const std::string& path, std::span<const std::string> parts);

}  // namespace fairlead
