// What may come through a remote shell: the stream between the command and the agents, and the
// bodies of its messages.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fairlead/run/host_list.h"
#include "fairlead/run/hosts/node_messages.h"

using namespace fairlead::run;  // NOLINT: the functions below

namespace {

void check_bodies(std::string_view body) {
  const auto setup = parse_agent_setup(body);
  if (setup.ok() && setup.value().count > setup.value().world.ranks - setup.value().first) {
    std::abort();
  }
  // What reads is written as it was.
  if (setup.ok() && body_of(setup.value()) != body) std::abort();
  const auto report = parse_agent_report(body);
  if (report.ok() && body_of(report.value()) != body) std::abort();
  const auto hello = parse_agent_hello(body);
  if (hello.ok() && body_of(hello.value()) != body) std::abort();
  const auto failure = parse_node_failure(body);
  if (failure.ok() && body_of(failure.value()) != body) std::abort();
  const auto clock = parse_clock(body);
  if (clock.ok() && clock_body(clock.value()) != body) std::abort();
  const auto number = parse_number(body);
  if (number.ok() && number_body(number.value()) != body) std::abort();
}

void check_stream(std::string_view bytes, bool skip) {
  NodeMessages messages(skip);
  std::size_t step = 1;
  while (!bytes.empty()) {
    messages.add(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    step = step % 37 + 1;
    for (;;) {
      const auto next = messages.next();
      if (!next.ok()) return;
      if (!next.value().has_value()) break;
      check_bodies(next.value()->body);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_bodies(bytes);
  check_stream(bytes, false);
  check_stream(bytes, true);
  // Behind a right head, which random bytes do not find.
  if (size > 0) {
    const auto kind = static_cast<NodeKind>(data[0] % 13 + 1);
    check_stream(node_message(kind, 0, bytes.substr(1)), false);
  }
  (void)parse_hosts(bytes);
  (void)parse_hostfile(bytes);
  return 0;
}
