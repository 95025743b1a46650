// One end of the stream between the command and an agent: messages in, messages out, never
// blocking.
#pragma once
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/run/hosts/node_messages.h"

namespace fairlead::run {

// A write to who is gone is an error from now on, in this process only: programs that it starts
// have SIGPIPE as it was made.
void survive_broken_pipes();

// What is sent waits without bound: data is bounded by its window (DataSource), the rest by the
// ranks of the job.
class NodeLink {
 public:
  using Clock = std::chrono::steady_clock;

  NodeLink() : messages_(false) {}
  // Both ends become non-blocking. `skip`: of NodeMessages.
  NodeLink(Fd in, Fd out, bool skip);

  void send(NodeKind kind, std::uint32_t rank, std::string_view body);
  // Moves what can be moved.
  void pump();
  // The next message that has come.
  Result<std::optional<NodeMessage>> next() { return messages_.next(); }

  bool open() const { return in_.valid(); }
  bool sent() const { return waiting_.empty(); }
  // When something came last.
  Clock::time_point heard() const { return heard_; }
  std::string skipped() const { return messages_.skipped(); }
  void close();
  void append_polls(std::vector<pollfd>& polls) const;

 private:
  Fd in_, out_;
  NodeMessages messages_;
  std::string waiting_;
  Clock::time_point heard_ = Clock::now();
};

// One standard stream that passes through a link: at most kNodeDataWindow bytes are on their way.
class DataSource {
 public:
  DataSource() = default;
  // `stream` as the messages name it; `from` stays the caller's.
  DataSource(int from, std::uint32_t stream) : from_(from), stream_(stream) {}

  // Reading is worth while.
  bool hungry() const { return from_ >= 0 && under_way_ < kNodeDataWindow; }
  int fd() const { return from_; }
  // Reads once what is there, at most a message's worth, and sends it. False: at its end, or there
  // was nothing; ended() tells which.
  bool pass_on(NodeLink& link);
  bool ended() const { return from_ < 0; }
  void taken(std::uint32_t bytes) { under_way_ -= std::min<std::size_t>(bytes, under_way_); }

 private:
  int from_ = -1;
  std::uint32_t stream_ = 0;
  std::size_t under_way_ = 0;
};

// The other end of one: writes what came, and says that it did.
class DataSink {
 public:
  DataSink() = default;
  // `to` stays the caller's. -1: what comes is dropped.
  DataSink(int to, std::uint32_t stream) : to_(to), stream_(stream) {}

  void add(std::string_view bytes) { pending_.append(bytes); }
  bool empty() const { return pending_.empty(); }
  // What was not written yet.
  std::string take() { return std::move(pending_); }
  int fd() const { return to_; }
  // The error of the write after which fd() is -1; 0: none failed.
  int error() const { return error_; }
  // Writes what is taken without blocking; a reader that is gone takes everything. `told` may be
  // shut.
  void pump(NodeLink& told);

 private:
  int to_ = -1;
  int error_ = 0;
  std::uint32_t stream_ = 0;
  std::string pending_;
};

}  // namespace fairlead::run
