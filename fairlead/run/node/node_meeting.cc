#include "fairlead/run/node/node_meeting.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

namespace fairlead::run {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A rank says hello as soon as it is connected; who is silent among so many gives way to the next.
constexpr std::size_t kSilentMax = 256;
// Taken before those that are there are heard.
constexpr std::size_t kAcceptedAtOnce = 64;
// Between two calls of a rank that gave way.
constexpr int kCallAgainMs = 5;

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};

Address abstract_address(std::string_view name) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::size_t fits = std::min(name.size(), sizeof address.name.sun_path - 1);
  std::memcpy(address.name.sun_path + 1, name.data(), fits);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + fits);
  return address;
}

std::optional<ucred> peer_of(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

int left_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

double seconds(milliseconds limit) { return std::chrono::duration<double>(limit).count(); }

}  // namespace

std::string rank_list(std::span<const std::uint32_t> ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == i ? fmt::format("{}", ascending[i])
                      : fmt::format("{}-{}", ascending[i], ascending[last]);
    i = last + 1;
  }
  return text;
}

Result<NodeLeader> NodeLeader::listen(std::uint32_t rank, const std::string& job,
                                      const std::string& host) {
  auto card = make_message<NodeCard>(rank);
  std::uint64_t number = 0;
  if (::getrandom(&card.secret, sizeof card.secret, 0) != sizeof card.secret ||
      ::getrandom(&number, sizeof number, 0) != sizeof number) {
    return Error{fmt::format("no random numbers for the job's secret: {}", std::strerror(errno))};
  }
  constexpr std::size_t kJobBytes = 56;
  set_text(card.socket,
           fmt::format("fairlead/{}/{}/{:016x}", job.substr(0, kJobBytes), rank, number));
  set_text(card.host, host);
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const Address address = abstract_address(card.socket);
  if (!socket.valid() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return Error{fmt::format("rank {}: cannot listen for the other ranks of its node: {}", rank,
                             std::strerror(errno))};
  }
  return NodeLeader(std::move(socket), card);
}

Result<std::vector<NodeLeader::Member>> NodeLeader::gather(const std::vector<std::uint32_t>& ranks,
                                                           milliseconds limit) {
  Gathering gathering{ranks, {}};
  const Clock::time_point deadline = Clock::now() + limit;
  while (gathering.come.size() < ranks.size()) {
    wait(gathering, left_ms(deadline));
    const Result<void> accepted = accept_callers();
    if (!accepted.ok()) return accepted.error();
    const Result<void> heard = hear(gathering);
    if (!heard.ok()) return heard.error();
    if (gathering.come.size() < ranks.size() && Clock::now() >= deadline) {
      return late(gathering, limit);
    }
  }
  socket_.reset();
  callers_.clear();
  return std::move(gathering.come);
}

void NodeLeader::wait(const Gathering& gathering, int limit_ms) const {
  std::vector<pollfd> polls{{socket_.get(), POLLIN, 0}};
  for (const Caller& caller : callers_) polls.push_back({caller.socket.get(), POLLIN, 0});
  for (const Member& member : gathering.come) polls.push_back({member.socket.get(), POLLIN, 0});
  (void)::poll(polls.data(), polls.size(), limit_ms);
}

Result<void> NodeLeader::accept_callers() {
  for (std::size_t accepted = 0; accepted < kAcceptedAtOnce; ++accepted) {
    Fd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return {};
      return Error{
          fmt::format("rank {}: cannot take the calls of its node's ranks: {}; raise "
                      "ulimit -n",
                      card_.head.rank, std::strerror(errno))};
    }
    const std::optional<ucred> peer = peer_of(socket);
    if (!peer.has_value() || peer->uid != ::geteuid()) {
      ++refused_;
      continue;
    }
    if (callers_.size() == kSilentMax) {
      callers_.erase(callers_.begin());
      ++refused_;
    }
    callers_.push_back({peer->pid, std::move(socket)});
  }
  return {};
}

Result<void> NodeLeader::hear(Gathering& gathering) {
  std::byte bytes[sizeof(NodeHello) + 1];
  for (const Member& member : gathering.come) {
    // A rank that has said hello only listens.
    const ssize_t got = ::recv(member.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    return Error{fmt::format("rank {} (process {}) ended before the job was complete",
                             member.hello.head.rank, member.pid)};
  }
  std::vector<Caller> callers = std::move(callers_);
  callers_.clear();
  for (Caller& caller : callers) {
    const ssize_t got = ::recv(caller.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      callers_.push_back(std::move(caller));
    } else if (got <= 0) {
      ++refused_;
    } else {
      const Result<void> judged =
          judge(gathering, std::move(caller), {bytes, static_cast<std::size_t>(got)});
      if (!judged.ok()) return judged;
    }
  }
  return {};
}

Result<void> NodeLeader::judge(Gathering& gathering, Caller caller,
                               std::span<const std::byte> message) {
  if (!has_secret(message, card_.secret)) {
    ++refused_;
    return {};
  }
  const Result<NodeHello> hello = parse_hello(message);
  if (!hello.ok()) {
    MessageHead head{};
    std::memcpy(&head, message.data(), sizeof head);
    return Error{fmt::format("rank {} (process {}) cannot join: {}", head.rank, caller.pid,
                             hello.error().text)};
  }
  const std::uint32_t rank = hello.value().head.rank;
  const bool wanted =
      std::find(gathering.ranks.begin(), gathering.ranks.end(), rank) != gathering.ranks.end();
  const bool here =
      std::any_of(gathering.come.begin(), gathering.come.end(),
                  [rank](const Member& member) { return member.hello.head.rank == rank; });
  if (!wanted || here) {
    ++refused_;
    return {};
  }
  gathering.come.push_back({hello.value(), caller.pid, std::move(caller.socket)});
  return {};
}

Error NodeLeader::late(const Gathering& gathering, milliseconds limit) const {
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t rank : gathering.ranks) {
    const bool here =
        std::any_of(gathering.come.begin(), gathering.come.end(),
                    [rank](const Member& member) { return member.hello.head.rank == rank; });
    if (!here) missing.push_back(rank);
  }
  return Error{fmt::format(
      "rank {}: {} of {} ranks of this node did not come within {:g} s: {}{}", card_.head.rank,
      missing.size(), gathering.ranks.size(), seconds(limit), rank_list(missing),
      refused_ > 0 ? fmt::format(" ({} other connections were refused)", refused_) : "")};
}

Result<Fd> call_leader(const NodeCard& card, const NodeHello& hello, milliseconds limit) {
  const auto failed = [&](const char* why) {
    return Error{
        fmt::format("rank {}: cannot reach rank {}, which leads its node: {}. Do all ranks "
                    "of the node share one network namespace?",
                    hello.head.rank, card.head.rank, why)};
  };
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  // The limit of connect() too, where the leader's queue is full. Zero would be without end.
  const auto ms = std::max<std::int64_t>(limit.count(), 1);
  const timeval patience{ms / 1000, ms % 1000 * 1000};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const Address address = abstract_address(get_text(card.socket, "socket").value());
  int connected = 0;
  do {
    connected =
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.name), address.size);
  } while (connected != 0 && errno == EINTR);
  if (connected != 0) return failed(std::strerror(errno));
  const std::optional<ucred> peer = peer_of(socket);
  if (!peer.has_value() || peer->uid != ::geteuid()) return failed("another user listens there");
  if (::send(socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof hello)) {
    return failed(std::strerror(errno));
  }
  return socket;
}

Result<std::optional<Joined>> await_welcome(const Fd& socket, milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  pollfd answer{socket.get(), POLLIN, 0};
  while (::poll(&answer, 1, left_ms(deadline)) < 0 && errno == EINTR) {
  }
  if (answer.revents == 0) {
    return Error{
        fmt::format("the rank that leads its node did not answer within {:g} s", seconds(limit))};
  }
  constexpr std::size_t kJobAndBoard = 2;
  return take_welcome(socket.get(), kJobAndBoard);
}

Result<Joined> join_leader(const NodeCard& card, const NodeHello& hello, milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  for (;;) {
    const Result<Fd> socket = call_leader(card, hello, milliseconds(left_ms(deadline)));
    if (!socket.ok()) return socket.error();
    Result<std::optional<Joined>> answer =
        await_welcome(socket.value(), milliseconds(left_ms(deadline)));
    if (!answer.ok())
      return Error{fmt::format("rank {}: {}", hello.head.rank, answer.error().text)};
    if (answer.value().has_value()) return std::move(*answer.value());
    (void)::poll(nullptr, 0, kCallAgainMs);
  }
}

}  // namespace fairlead::run
