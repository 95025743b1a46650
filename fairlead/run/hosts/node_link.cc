#include "fairlead/run/hosts/node_link.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fairlead::run {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

bool ready(int fd, short events) {
  pollfd one{fd, events, 0};
  return ::poll(&one, 1, 0) > 0;
}

}  // namespace

void survive_broken_pipes() {
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &nothing, nullptr);
}

NodeLink::NodeLink(Fd in, Fd out, bool skip)
    : in_(std::move(in)), out_(std::move(out)), messages_(skip) {
  for (const int fd : {in_.get(), out_.get()}) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  }
}

void NodeLink::send(NodeKind kind, std::uint32_t rank, std::string_view body) {
  if (!out_.valid()) return;
  waiting_ += node_message(kind, rank, body);
  pump();
}

void NodeLink::pump() {
  while (!waiting_.empty() && out_.valid()) {
    const ssize_t sent = ::write(out_.get(), waiting_.data(), waiting_.size());
    if (sent > 0) {
      waiting_.erase(0, static_cast<std::size_t>(sent));
    } else if (sent < 0 && would_block()) {
      break;
    } else {
      out_.reset();
      waiting_.clear();
    }
  }
  char bytes[kReadBytes];
  while (in_.valid()) {
    const ssize_t got = ::read(in_.get(), bytes, sizeof bytes);
    if (got < 0 && would_block()) return;
    if (got <= 0) return in_.reset();
    heard_ = Clock::now();
    messages_.add({bytes, static_cast<std::size_t>(got)});
    if (static_cast<std::size_t>(got) < sizeof bytes) return;
  }
}

void NodeLink::close() {
  in_.reset();
  out_.reset();
  waiting_.clear();
}

void NodeLink::append_polls(std::vector<pollfd>& polls) const {
  if (in_.valid()) polls.push_back({in_.get(), POLLIN, 0});
  if (out_.valid() && !waiting_.empty()) polls.push_back({out_.get(), POLLOUT, 0});
}

bool DataSource::pass_on(NodeLink& link) {
  // What is read from may be shared with others, and so is not made non-blocking.
  if (!hungry() || !ready(from_, POLLIN)) return false;
  char bytes[kNodeDataMax];
  const ssize_t got = ::read(from_, bytes, sizeof bytes);
  if (got < 0 && would_block()) return false;
  if (got <= 0) {
    from_ = -1;
    return false;
  }
  under_way_ += static_cast<std::size_t>(got);
  link.send(NodeKind::data, stream_, {bytes, static_cast<std::size_t>(got)});
  return true;
}

void DataSink::pump(NodeLink& told) {
  std::size_t done = 0;
  while (done < pending_.size()) {
    std::size_t size = pending_.size() - done;
    if (to_ >= 0) {
      if (!ready(to_, POLLOUT)) break;
      // A pipe that is ready takes so much without blocking.
      const ssize_t sent =
          ::write(to_, pending_.data() + done, std::min<std::size_t>(size, PIPE_BUF));
      if (sent < 0 && would_block()) break;
      if (sent > 0) {
        size = static_cast<std::size_t>(sent);
      } else {
        to_ = -1;
        error_ = errno;
      }
    }
    done += size;
  }
  if (done == 0) return;
  pending_.erase(0, done);
  told.send(NodeKind::taken, stream_, number_body(static_cast<std::uint32_t>(done)));
}

}  // namespace fairlead::run
