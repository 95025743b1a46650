// How the ranks of a node find each other where another launcher started them: the lowest one, the
// leader, listens on an abstract socket, publishes its name and the job's secret through the
// launcher, and answers each rank with the descriptors of the job.
//
// Any process of the machine can see the name and call. Only one of the same user that knows the
// secret is a rank; everybody else is refused and counted, and never waited for.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/run/wire/bootstrap.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {

class NodeLeader {
 public:
  struct Member {
    NodeHello hello;  // the rank is in its head
    pid_t pid = 0;    // as the kernel tells it; 0: of another process namespace
    Fd socket;        // the welcome goes here
  };

  // Listens under a name of the job (any text), the rank and 64 random bits.
  static Result<NodeLeader> listen(std::uint32_t rank, const std::string& job,
                                   const std::string& host);

  const NodeCard& card() const { return card_; }
  // Waits until each of `ranks` has come. Error: the limit passed (names who did not come), one of
  // them went away, or is of another version of Fairlead.
  Result<std::vector<Member>> gather(const std::vector<std::uint32_t>& ranks,
                                     std::chrono::milliseconds limit);
  // Connections that were no rank of the job.
  std::uint32_t refused() const { return refused_; }

 private:
  // Connected, of the right user, has said nothing yet.
  struct Caller {
    pid_t pid = 0;
    Fd socket;
  };
  struct Gathering {
    const std::vector<std::uint32_t>& ranks;
    std::vector<Member> come;
  };

  NodeLeader(Fd socket, const NodeCard& card) : socket_(std::move(socket)), card_(card) {}
  Result<void> accept_callers();
  // Takes what a caller says; callers that said something leave callers_.
  Result<void> hear(Gathering& gathering);
  Result<void> judge(Gathering& gathering, Caller caller, std::span<const std::byte> message);
  void wait(const Gathering& gathering, int limit_ms) const;
  Error late(const Gathering& gathering, std::chrono::milliseconds limit) const;

  Fd socket_;
  NodeCard card_;
  std::vector<Caller> callers_;
  std::uint32_t refused_ = 0;
};

// The other side. Calls the leader and says hello. Error: nobody listens there, or another user
// does.
Result<Fd> call_leader(const NodeCard& card, const NodeHello& hello,
                       std::chrono::milliseconds limit);
// The leader's answer; nullopt: it hung up.
Result<std::optional<Joined>> await_welcome(const Fd& socket, std::chrono::milliseconds limit);
// Both, and again where the call had to give way to others, until the leader listens no more.
Result<Joined> join_leader(const NodeCard& card, const NodeHello& hello,
                           std::chrono::milliseconds limit);

// "3", "1-3", "0, 2-5, 9".
std::string rank_list(std::span<const std::uint32_t> ascending);

}  // namespace fairlead::run
