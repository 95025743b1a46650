// What passes between `fairlead run` and the agent that it starts on each host (node_agent.h), over
// the remote shell's standard input and output: a stream of messages, each a head and as many bytes
// as the head says. Versioned; every length and number is checked by the reader.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/udp/seal.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {

constexpr std::uint32_t kNodeMagic = 0x31'6e'6c'66;  // "fln1" as its bytes travel
constexpr std::uint16_t kNodeVersion = 7;
// The largest message, head included.
constexpr std::size_t kNodeMessageMax = 8 << 20;
// The largest `data` message, and what a side sends before the other has said that it took some.
constexpr std::size_t kNodeDataMax = 64 << 10;
constexpr std::size_t kNodeDataWindow = 256 << 10;

enum class NodeKind : std::uint16_t {
  hello = 1,    // agent: AgentHello
  setup = 2,    // command: AgentSetup
  address = 3,  // both: where `rank` is on the network, an AddressNote's card
  signal = 4,   // command: NodeNumber, for every rank
  abort = 5,    // command: NodeFailure, end the ranks
  data = 6,     // both: bytes of the standard stream `rank`: 0 to the agent, 1 and 2 from it
  end = 7,      // command: standard input has ended
  taken = 8,    // both: NodeNumber, so many bytes of data were passed on
  beat = 9,     // both: alive
  report = 10,  // agent: AgentReport; the ranks are gone
  ended = 11,   // agent: its ranks have ended, its NI engine serves others; command: all have
  clock = 12,   // command: what does your clock show? agent: NodeClock
  trace = 13,   // agent, after its report: more of what `rank` wrote; the stream's end ends it
};

// Agent to command, first: which machine and network it is on.
struct AgentHello {
  std::string host;     // what it calls itself
  std::string machine;  // the same for agents of one running kernel
  std::string network;  // and of one network namespace of it
};

// Command to agent: the job, and this node's part of it.
struct AgentSetup {
  WorldOptions world;  // of the whole job; --timeout stays with the command, and the trace's path
  std::uint32_t first = 0, count = 0;  // its ranks
  // The ranks on its machine, of which its own begin with the n-th: for where they are bound.
  std::uint32_t machine_ranks = 0, machine_first = 0;
  // The nodes on its machine, of which it is the n-th.
  std::uint32_t machine_nodes = 1, machine_node = 0;
  bool one_network = false;  // every rank of the job is in the same network namespace
  bool label = false;
  bool traced = false;
  std::int64_t epoch_ns = 0;  // of the ranks' times, by the agent's clock
  fabric::JobKey key{};
  std::string directory;  // where the command was started
  std::string program;
  std::string working_directory;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

// Agent to command: how its ranks ended, in their order.
struct AgentReport {
  std::int32_t exit_code = 0;
  std::string failure;  // empty: none
  std::vector<RankEnd> ranks;
};

struct NodeFailure {
  std::int32_t code = 0;
  std::string reason;
};

struct NodeMessage {
  NodeKind kind;
  std::uint32_t rank = 0;
  std::string body;
};

// A message as it travels.
std::string node_message(NodeKind kind, std::uint32_t rank, std::string_view body);

std::string body_of(const AgentHello& hello);
std::string body_of(const AgentSetup& setup);
std::string body_of(const AgentReport& report);
std::string body_of(const NodeFailure& failure);
std::string number_body(std::uint32_t number);
Result<AgentHello> parse_agent_hello(std::string_view body);
Result<AgentSetup> parse_agent_setup(std::string_view body);
Result<AgentReport> parse_agent_report(std::string_view body);
Result<NodeFailure> parse_node_failure(std::string_view body);
Result<std::uint32_t> parse_number(std::string_view body);
// Nanoseconds of CLOCK_MONOTONIC.
std::string clock_body(std::int64_t ns);
Result<std::int64_t> parse_clock(std::string_view body);

// Cuts what came into messages.
class NodeMessages {
 public:
  // `skip`: text may come before the first message, as shells print when they start; it is kept.
  explicit NodeMessages(bool skip) : skip_(skip) {}
  void add(std::string_view bytes) { bytes_.append(bytes); }
  // The next whole message. nullopt: it is not there yet. Error: what came is none, or is of
  // another version; nothing more can be taken.
  Result<std::optional<NodeMessage>> next();
  // What came before the first message, as far as it was kept.
  std::string skipped() const { return skip_ ? skipped_ + bytes_ : skipped_; }

 private:
  void skip_text();

  bool skip_;
  std::string bytes_;
  std::string skipped_;
};

}  // namespace fairlead::run
