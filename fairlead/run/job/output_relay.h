// Ranks' output, line by line, each line behind "[rank] ": what --label does.
#pragma once
#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/run/exit_text.h"

namespace fairlead::run {

// Bounds: a line longer than kLineBytes is cut into labelled pieces; a sink holds at most
// kPendingBytes (and what one read adds), beyond which ranks are not read and block in write(), as
// they would without the relay.
class OutputRelay {
 public:
  static constexpr std::size_t kLineBytes = 8192;
  static constexpr std::size_t kPendingBytes = 256 * 1024;

  // Writes what came from stream 0 to sinks[0], from stream 1 to sinks[1]; both stay the caller's.
  explicit OutputRelay(std::array<int, 2> sinks);

  // Takes over the read end of a rank's stream; it is non-blocking.
  void add(std::uint32_t rank, int stream, Fd source);
  // Appends what to poll for.
  void append_polls(std::vector<pollfd>& polls) const;
  // Moves what can be moved without blocking.
  void pump();
  // The first sink that could not be written: what was for it is lost.
  const std::optional<OutputLoss>& loss() const { return loss_; }
  // Moves everything until the sources are at their end or `limit` has passed (negative: however
  // long it takes), last lines without a newline included.
  void drain(std::chrono::milliseconds limit);

 private:
  struct Source {
    Fd fd;
    std::uint32_t rank;
    std::size_t sink;
    std::string line;  // begun, not ended
  };
  struct Sink {
    int fd;
    std::string pending;
    bool broken = false;  // its reader is gone, or its disk is full
  };

  void read_source(Source& source);
  void take(Source& source, const char* bytes, std::size_t size);
  void end_line(Source& source);
  void write_sink(Sink& sink);
  bool idle() const;

  std::array<Sink, 2> sinks_;
  std::optional<OutputLoss> loss_;
  std::vector<Source> sources_;
};

}  // namespace fairlead::run
