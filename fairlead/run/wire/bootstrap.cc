#include "fairlead/run/wire/bootstrap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "fairlead/base/numbers.h"

namespace fairlead::run {
namespace {

// A number and what follows it; '\0': nothing does.
template <class Number>
bool take_number(std::string_view& text, char stop, Number& number) {
  if (!take_whole(text, number)) return false;
  if (stop == '\0') return text.empty();
  if (!text.starts_with(stop)) return false;
  text.remove_prefix(1);
  return true;
}

Error not_this_process(std::uint32_t rank, const char* why) {
  return Error{fmt::format(
      "this process cannot join the job as rank {}: {}. It is probably a child of the rank's "
      "program, or a second program started by the rank's script; one process is one rank. Clear "
      "{} from its environment to run it as a job of its own",
      rank, why, kBootstrapVariable)};
}

// Descriptors of the first SCM_RIGHTS message; all of them, so that none leaks on an error.
std::array<Fd, Welcome::kDescriptorsMax> take_descriptors(msghdr& message) {
  std::array<Fd, Welcome::kDescriptorsMax> taken;
  const cmsghdr* control = CMSG_FIRSTHDR(&message);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
    return taken;
  }
  const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count && i < taken.size(); ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof fd);
    taken[i] = Fd(fd);
  }
  return taken;
}

}  // namespace

std::string bootstrap_text(const BootstrapPlace& place) {
  return fmt::format("{}:{}:{}", place.fd, place.inode, place.rank);
}

Result<BootstrapPlace> parse_bootstrap(const std::string& text) {
  BootstrapPlace place;
  std::string_view rest = text;
  if (!take_number(rest, ':', place.fd) || !take_number(rest, ':', place.inode) ||
      !take_number(rest, '\0', place.rank) || place.fd < 0) {
    return Error{
        fmt::format("{}={} is not what `fairlead run` sets (descriptor:inode:rank): "
                    "clear it from the environment",
                    kBootstrapVariable, text)};
  }
  return place;
}

Result<SocketPair> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{fmt::format("cannot make a socket pair: {}; try fewer ranks or raise ulimit -n",
                             std::strerror(errno))};
  }
  return SocketPair{Fd(ends[0]), Fd(ends[1])};
}

Result<ino_t> socket_inode(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Error{std::strerror(errno)};
  if (!S_ISSOCK(info.st_mode)) return Error{"not a socket"};
  return info.st_ino;
}

Result<void> send_welcome(int socket, const Welcome& welcome, std::span<const int> descriptors) {
  FAIRLEAD_CHECK(descriptors.size() <= Welcome::kDescriptorsMax, "{} descriptors",
                 descriptors.size());
  alignas(cmsghdr) char control[CMSG_SPACE(Welcome::kDescriptorsMax * sizeof(int))] = {};
  iovec piece{const_cast<Welcome*>(&welcome), sizeof welcome};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  const ssize_t sent = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(sizeof welcome)) {
    return Error{
        fmt::format("cannot hand rank {} its settings: {}; try fewer ranks or raise "
                    "ulimit -n",
                    welcome.head.rank, std::strerror(errno))};
  }
  return {};
}

Result<std::optional<Joined>> take_welcome(int socket, std::size_t descriptors) {
  std::byte bytes[sizeof(Welcome) + 1];
  alignas(cmsghdr) char control[CMSG_SPACE(Welcome::kDescriptorsMax * sizeof(int))] = {};
  iovec piece{bytes, sizeof bytes};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::optional<Joined>();
  std::array<Fd, Welcome::kDescriptorsMax> fds = take_descriptors(message);
  Result<Welcome> welcome = parse_welcome({bytes, static_cast<std::size_t>(got)});
  if (!welcome.ok()) return welcome.error();
  for (std::size_t i = 0; i < descriptors; ++i) {
    if (!fds[i].valid()) {
      return Error{"the start-up message came without its descriptors; raise ulimit -n"};
    }
  }
  return std::optional<Joined>(Joined{welcome.value(), std::move(fds[0]), std::move(fds[1]),
                                      std::move(fds[2]), std::move(fds[3])});
}

Result<Joined> receive_welcome(const BootstrapPlace& place) {
  const Result<ino_t> inode = socket_inode(place.fd);
  if (!inode.ok() || inode.value() != place.inode) {
    return not_this_process(place.rank, "the launcher's socket is not open in it");
  }
  const Fd socket(place.fd);
  Result<std::optional<Joined>> taken = take_welcome(socket.get(), Welcome::kDescriptors);
  if (!taken.ok()) return Error{fmt::format("rank {}: {}", place.rank, taken.error().text)};
  if (!taken.value().has_value()) {
    return not_this_process(place.rank, "another program of this rank has joined already");
  }
  return std::move(*taken.value());
}

}  // namespace fairlead::run
