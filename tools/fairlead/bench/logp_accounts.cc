#include "tools/fairlead/bench/logp_accounts.h"

#include <functional>

namespace fairlead::tools {

namespace {

using Body = int (*)(run::Context& context, const BenchOptions& options, Rows& rows);

struct Busy {
  run::NodeBusy sender;
  run::NodeBusy receiver;
};

Result<Busy> busy_of(const run::WorldOptions& world, const BenchOptions& options, Body body) {
  Rows rows;
  auto report =
      run::run_world(world, [&](run::Context& context) { return body(context, options, rows); });
  if (!report.ok()) return report.error();
  if (!report.value().failure.empty()) return Error{report.value().failure};
  const auto& ranks = report.value().ranks;
  return Busy{ranks[0].busy, ranks[options.partner].busy};
}

struct PerMessage {
  Busy longer;
  Busy shorter;
  std::uint32_t messages;

  double us(run::NodeBusy Busy::*node, Ps run::NodeBusy::*part) const {
    return to_us((longer.*node).*part - (shorter.*node).*part) / messages;
  }
};

Result<PerMessage> per_message(const run::WorldOptions& world, BenchOptions options, Body body,
                               std::uint32_t messages_each) {
  const std::uint32_t count = options.repetitions;
  auto shorter = busy_of(world, options, body);
  if (!shorter.ok()) return shorter.error();
  options.repetitions = 3 * count;
  auto longer = busy_of(world, options, body);
  if (!longer.ok()) return longer.error();
  return PerMessage{longer.value(), shorter.value(), 2 * count * messages_each};
}

}  // namespace

Result<std::vector<Account>> logp_accounts(const run::WorldOptions& world,
                                           const BenchOptions& options, const Row& measured) {
  const auto single = per_message(world, options, logp_single_body, 1);
  if (!single.ok()) return single.error();
  const auto stream = per_message(world, options, logp_stream_body, kLogpStream);
  if (!stream.ok()) return stream.error();
  const double overheads = measured.figures[0] + measured.figures[1];
  const double gap = measured.figures[3];
  const PerMessage& one = single.value();
  const PerMessage& many = stream.value();
  using run::NodeBusy;
  return std::vector<Account>{
      {"host_rank0", "o_s + o_r: host of rank 0", overheads,
       one.us(&Busy::sender, &NodeBusy::library)},
      {"host_partner", "o_s + o_r: host of its partner", overheads,
       one.us(&Busy::receiver, &NodeBusy::library)},
      {"ni_sender", "g: sending NI", gap, many.us(&Busy::sender, &NodeBusy::ni)},
      {"ni_receiver", "g: receiving NI", gap, many.us(&Busy::receiver, &NodeBusy::ni)},
      {"bus_sender", "g: sender's bus", gap, many.us(&Busy::sender, &NodeBusy::bus)},
      {"bus_receiver", "g: receiver's bus", gap, many.us(&Busy::receiver, &NodeBusy::bus)},
      {"host_sender", "g: sender's host", gap, many.us(&Busy::sender, &NodeBusy::library)},
      {"host_receiver", "g: receiver's host", gap, many.us(&Busy::receiver, &NodeBusy::library)}};
}

}  // namespace fairlead::tools
