// The rank's side of start-up and the sockets below it: which descriptor the launcher left for
// this process, and the one message that waits in it.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {

// FAIRLEAD_BOOTSTRAP=<fd>:<inode of that socket>:<rank>. The inode tells the launcher's socket
// from whatever a child of a rank has open under the same number.
inline constexpr const char kBootstrapVariable[] = "FAIRLEAD_BOOTSTRAP";
// What scripts read: the number of this rank, and how many there are.
inline constexpr const char kRankVariable[] = "FAIRLEAD_RANK";
inline constexpr const char kRanksVariable[] = "FAIRLEAD_RANKS";
// Which of several programs of the job this rank runs, from 0 on.
inline constexpr const char kProgramVariable[] = "FAIRLEAD_PROGRAM";

struct BootstrapPlace {
  int fd = -1;
  ino_t inode = 0;
  std::uint32_t rank = 0;
};
std::string bootstrap_text(const BootstrapPlace& place);
Result<BootstrapPlace> parse_bootstrap(const std::string& text);

struct SocketPair {
  Fd ours, theirs;
};
// Both ends close-on-exec, SOCK_SEQPACKET.
Result<SocketPair> socket_pair();
Result<ino_t> socket_inode(int fd);

// Sends a message with up to Welcome::kDescriptorsMax descriptors, never blocking: it must fit the
// empty socket.
Result<void> send_welcome(int socket, const Welcome& welcome, std::span<const int> descriptors);

struct Joined {
  Welcome welcome;
  Fd job, board, life, bell;
};
// Takes the welcome that waits in the socket, with its first `descriptors` descriptors; the others
// stay invalid. nullopt: nothing waits there. Error: what came is no welcome.
Result<std::optional<Joined>> take_welcome(int socket, std::size_t descriptors);
// Takes the one welcome out of the socket and closes it. Error: this process is not a rank's first
// program (its message was taken by another one, or the descriptor is not there).
Result<Joined> receive_welcome(const BootstrapPlace& place);

}  // namespace fairlead::run
