#include "fairlead/run/hosts/node_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <type_traits>
#include <variant>

#include "fairlead/base/check.h"
#include "fairlead/base/node_map.h"
#include "fairlead/fabric/shm/layout.h"
#include "fairlead/run/option_table.h"

namespace fairlead::run {
namespace {

constexpr std::size_t kSkippedMax = 64 << 10;
constexpr std::size_t kStringsMax = 1 << 16;

class Writer {
 public:
  template <class T>
  Writer& number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  Writer& texts(const std::vector<std::string>& list) {
    number(static_cast<std::uint32_t>(list.size()));
    for (const std::string& one : list) text(one);
    return *this;
  }
  Writer& numbers(const std::vector<std::uint32_t>& list) {
    number(static_cast<std::uint32_t>(list.size()));
    for (const std::uint32_t one : list) number(one);
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// After something that does not read, everything is empty and complete() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <class T>
  void number(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (left_.size() < sizeof value) return fail();
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
  }
  void flag(bool& value) {
    std::uint8_t byte = 0;
    number(byte);
    if (byte > 1) fail();
    value = byte == 1;
  }
  // Without NUL: what it becomes ends with one.
  void text(std::string& text) {
    std::uint32_t size = 0;
    number(size);
    if (size > left_.size()) return fail();
    text = left_.substr(0, size);
    left_.remove_prefix(size);
    if (text.find('\0') != std::string::npos) fail();
  }
  void texts(std::vector<std::string>& list) {
    std::uint32_t count = 0;
    number(count);
    if (count > kStringsMax) return fail();
    for (std::uint32_t i = 0; i < count && good_; ++i) text(list.emplace_back());
  }
  void numbers(std::vector<std::uint32_t>& list) {
    std::uint32_t count = 0;
    number(count);
    if (count > left_.size() / sizeof count) return fail();
    list.resize(count);
    for (std::uint32_t& one : list) number(one);
  }
  bool complete() const { return good_ && left_.empty(); }
  bool good() const { return good_; }

 private:
  void fail() {
    good_ = false;
    left_ = {};
  }

  std::string_view left_;
  bool good_ = true;
};

Error wrong(const char* what) { return Error{fmt::format("{} that does not read", what)}; }

template <class Io, class World>
void world_fields(Io&& io, World& world) {
  for (const JobOption& option : job_options()) {
    if (!option.travels) continue;
    std::visit([&](auto member) { io(world.*member); }, option.field);
  }
  io(world.node_of);
}

struct Put {
  Writer& to;
  void operator()(const std::string& text) { to.text(text); }
  void operator()(const std::vector<std::uint32_t>& list) { to.numbers(list); }
  template <std::integral T>
  void operator()(const T& number) {
    to.number(number);
  }
  template <class Other>
  void operator()(const Other&) {
    FAIRLEAD_CHECK(false, "an option of this type does not travel");
  }
};
struct Get {
  Reader& from;
  void operator()(std::string& text) { from.text(text); }
  void operator()(std::vector<std::uint32_t>& list) { from.numbers(list); }
  template <std::integral T>
  void operator()(T& number) {
    from.number(number);
  }
  template <class Other>
  void operator()(Other&) {
    FAIRLEAD_CHECK(false, "an option of this type does not travel");
  }
};

// Where a host is a node with an NI engine, its ranks are that engine's.
bool fits_engines(const AgentSetup& setup) {
  if (setup.world.node_of.empty()) return true;
  if (setup.world.node_of.size() != setup.world.ranks) return false;
  const NodeMap nodes(setup.world.node_of);
  const std::span<const Rank> own = nodes.ranks_of(nodes.node_of(setup.first));
  return own.size() == setup.count && own.front() == setup.first &&
         own.back() == setup.first + setup.count - 1;
}

}  // namespace

std::string node_message(NodeKind kind, std::uint32_t rank, std::string_view body) {
  const MessageHead head{kNodeMagic, kNodeVersion, static_cast<std::uint16_t>(kind),
                         static_cast<std::uint32_t>(sizeof head + body.size()), rank};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  return bytes.append(body);
}

std::string body_of(const AgentHello& hello) {
  return Writer().text(hello.host).text(hello.machine).text(hello.network).take();
}
Result<AgentHello> parse_agent_hello(std::string_view body) {
  AgentHello hello;
  Reader reader(body);
  reader.text(hello.host);
  reader.text(hello.machine);
  reader.text(hello.network);
  if (!reader.complete()) return wrong("an agent's greeting");
  return hello;
}

std::string body_of(const AgentSetup& setup) {
  Writer writer;
  world_fields(Put{writer}, setup.world);
  writer.number(setup.first).number(setup.count);
  writer.number(setup.machine_ranks).number(setup.machine_first);
  writer.number(setup.machine_nodes).number(setup.machine_node);
  writer.number(static_cast<std::uint8_t>(setup.one_network));
  writer.number(static_cast<std::uint8_t>(setup.label));
  writer.number(static_cast<std::uint8_t>(setup.traced));
  writer.number(setup.epoch_ns);
  writer.number(setup.key);
  writer.text(setup.directory).text(setup.program).text(setup.working_directory);
  return writer.texts(setup.arguments).texts(setup.environment).take();
}
Result<AgentSetup> parse_agent_setup(std::string_view body) {
  AgentSetup setup;
  Reader reader(body);
  world_fields(Get{reader}, setup.world);
  reader.number(setup.first);
  reader.number(setup.count);
  reader.number(setup.machine_ranks);
  reader.number(setup.machine_first);
  reader.number(setup.machine_nodes);
  reader.number(setup.machine_node);
  reader.flag(setup.one_network);
  reader.flag(setup.label);
  reader.flag(setup.traced);
  reader.number(setup.epoch_ns);
  reader.number(setup.key);
  reader.text(setup.directory);
  reader.text(setup.program);
  reader.text(setup.working_directory);
  reader.texts(setup.arguments);
  reader.texts(setup.environment);
  const std::uint32_t ranks = setup.world.ranks;
  setup.world.several_nodes = true;
  if (!reader.complete() || ranks > fabric::kShmRanksMax || setup.count == 0 ||
      setup.count > ranks || setup.first > ranks - setup.count || setup.machine_ranks > ranks ||
      setup.count > setup.machine_ranks ||
      setup.machine_first > setup.machine_ranks - setup.count || setup.machine_nodes > ranks ||
      setup.machine_node >= setup.machine_nodes || setup.arguments.empty() || setup.epoch_ns < 0 ||
      !fits_engines(setup)) {
    return wrong("a node's settings");
  }
  return setup;
}

std::string body_of(const AgentReport& report) {
  Writer writer;
  writer.number(report.exit_code).text(report.failure);
  writer.number(static_cast<std::uint32_t>(report.ranks.size()));
  for (const RankEnd& end : report.ranks) {
    writer.number(end.exit_code).number(end.signal).text(end.reason).number(end.counters);
  }
  return writer.take();
}
Result<AgentReport> parse_agent_report(std::string_view body) {
  AgentReport report;
  Reader reader(body);
  std::uint32_t ranks = 0;
  reader.number(report.exit_code);
  reader.text(report.failure);
  reader.number(ranks);
  for (std::uint32_t i = 0; i < ranks && reader.good(); ++i) {
    RankEnd& end = report.ranks.emplace_back();
    reader.number(end.exit_code);
    reader.number(end.signal);
    reader.text(end.reason);
    reader.number(end.counters);
  }
  if (!reader.complete()) return wrong("a node's report");
  return report;
}

std::string body_of(const NodeFailure& failure) {
  return Writer().number(failure.code).text(failure.reason).take();
}
Result<NodeFailure> parse_node_failure(std::string_view body) {
  NodeFailure failure;
  Reader reader(body);
  reader.number(failure.code);
  reader.text(failure.reason);
  if (!reader.complete()) return wrong("the end of a job");
  return failure;
}

std::string number_body(std::uint32_t number) { return Writer().number(number).take(); }
Result<std::uint32_t> parse_number(std::string_view body) {
  std::uint32_t number = 0;
  Reader reader(body);
  reader.number(number);
  if (!reader.complete()) return wrong("a number");
  return number;
}

std::string clock_body(std::int64_t ns) { return Writer().number(ns).take(); }
Result<std::int64_t> parse_clock(std::string_view body) {
  std::int64_t ns = 0;
  Reader reader(body);
  reader.number(ns);
  if (!reader.complete() || ns < 0) return wrong("a clock");
  return ns;
}

void NodeMessages::skip_text() {
  const std::string_view magic(reinterpret_cast<const char*>(&kNodeMagic), sizeof kNodeMagic);
  std::size_t at = bytes_.find(magic);
  if (at == std::string::npos) {
    // Its first bytes may be there.
    at = bytes_.size() - std::min(bytes_.size(), magic.size() - 1);
  } else {
    skip_ = false;
  }
  if (skipped_.size() < kSkippedMax) skipped_.append(bytes_, 0, at);
  bytes_.erase(0, at);
}

Result<std::optional<NodeMessage>> NodeMessages::next() {
  if (skip_) skip_text();
  MessageHead head{};
  if (skip_ || bytes_.size() < sizeof head) return std::optional<NodeMessage>();
  std::memcpy(&head, bytes_.data(), sizeof head);
  if (head.magic != kNodeMagic) return Error{"what came is not Fairlead's"};
  if (head.version != kNodeVersion) {
    return Error{
        fmt::format("it speaks version {} of the agents' protocol, and this `fairlead` "
                    "version {}: install the same Fairlead on every host",
                    head.version, kNodeVersion)};
  }
  if (head.kind < static_cast<std::uint16_t>(NodeKind::hello) ||
      head.kind > static_cast<std::uint16_t>(NodeKind::trace) || head.bytes < sizeof head ||
      head.bytes > kNodeMessageMax) {
    return Error{fmt::format("a message of kind {} and {} bytes, and there is none such", head.kind,
                             head.bytes)};
  }
  if (bytes_.size() < head.bytes) return std::optional<NodeMessage>();
  NodeMessage message{static_cast<NodeKind>(head.kind), head.rank,
                      bytes_.substr(sizeof head, head.bytes - sizeof head)};
  bytes_.erase(0, head.bytes);
  return std::optional<NodeMessage>(std::move(message));
}

}  // namespace fairlead::run
