#include "fairlead/run/job/output_relay.h"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fairlead::run {

OutputRelay::OutputRelay(std::array<int, 2> sinks)
    : sinks_{Sink{sinks[0], {}}, Sink{sinks[1], {}}} {}

void OutputRelay::add(std::uint32_t rank, int stream, Fd source) {
  sources_.push_back({std::move(source), rank, static_cast<std::size_t>(stream), {}});
}

void OutputRelay::append_polls(std::vector<pollfd>& polls) const {
  for (const Source& source : sources_) {
    if (sinks_[source.sink].pending.size() < kPendingBytes) {
      polls.push_back({source.fd.get(), POLLIN, 0});
    }
  }
  for (const Sink& sink : sinks_) {
    if (!sink.pending.empty()) polls.push_back({sink.fd, POLLOUT, 0});
  }
}

void OutputRelay::pump() {
  for (Source& source : sources_) {
    if (sinks_[source.sink].pending.size() < kPendingBytes) read_source(source);
  }
  for (Sink& sink : sinks_) write_sink(sink);
  // A closed read end is how the rank learns that nobody reads its output: SIGPIPE, as without us.
  std::erase_if(sources_, [this](const Source& source) {
    return !source.fd.valid() || sinks_[source.sink].broken;
  });
}

void OutputRelay::drain(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    pump();
    if (idle()) return;
    int wait_ms = -1;
    if (limit.count() >= 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) return;
      wait_ms = static_cast<int>(left.count());
    }
    std::vector<pollfd> polls;
    append_polls(polls);
    (void)::poll(polls.data(), polls.size(), wait_ms);
  }
}

bool OutputRelay::idle() const {
  return sources_.empty() &&
         std::all_of(sinks_.begin(), sinks_.end(), [](const Sink& s) { return s.pending.empty(); });
}

void OutputRelay::read_source(Source& source) {
  char bytes[16 * 1024];
  const ssize_t got = ::read(source.fd.get(), bytes, sizeof bytes);
  if (got > 0) return take(source, bytes, static_cast<std::size_t>(got));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (!source.line.empty()) end_line(source);
  source.fd.reset();
}

void OutputRelay::take(Source& source, const char* bytes, std::size_t size) {
  while (size > 0) {
    const char* newline = static_cast<const char*>(std::memchr(bytes, '\n', size));
    const std::size_t room = kLineBytes - source.line.size();
    const std::size_t until_end =
        newline != nullptr ? static_cast<std::size_t>(newline - bytes) : size;
    const std::size_t part = std::min(until_end, room);
    source.line.append(bytes, part);
    bytes += part;
    size -= part;
    if (size > 0 && *bytes == '\n') {
      ++bytes;
      --size;
      end_line(source);
    } else if (source.line.size() == kLineBytes) {
      end_line(source);
    }
  }
}

void OutputRelay::end_line(Source& source) {
  sinks_[source.sink].pending += fmt::format("[{}] {}\n", source.rank, source.line);
  source.line.clear();
}

void OutputRelay::write_sink(Sink& sink) {
  std::size_t done = 0;
  while (done < sink.pending.size() && !sink.broken) {
    // Ready means room for PIPE_BUF bytes: a larger write could block, and with it the watching.
    pollfd ready{sink.fd, POLLOUT, 0};
    if (::poll(&ready, 1, 0) <= 0) break;
    const std::size_t size = std::min<std::size_t>(sink.pending.size() - done, PIPE_BUF);
    const ssize_t wrote = ::write(sink.fd, sink.pending.data() + done, size);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote < 0 && errno != EINTR) {
      sink.broken = true;
      if (!loss_) loss_ = OutputLoss{static_cast<int>(&sink - sinks_.data()), errno};
    }
  }
  sink.pending.erase(0, sink.broken ? std::string::npos : done);
}

}  // namespace fairlead::run
