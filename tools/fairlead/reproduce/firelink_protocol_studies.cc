// What section 3 of the Sun Fire Link paper says of its protocols and buffers, by the variables of
// the rsm device: the two protocols, pipelining, a pool for each connection or one for a node, how
// much room helps where receivers are late, and a link that dies.
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/fairlead/reproduce/firelink_studies.h"

namespace fairlead::tools {

namespace {

using Words = std::vector<std::string>;

std::string section(const char* number) {
  return fmt::format("Sun Fire Link paper, section {}", number);
}

std::string kib(std::uint64_t bytes) { return fmt::format("{} KiB", bytes / 1024); }

constexpr std::uint64_t kLargeMessage = 1048576;
constexpr std::uint64_t kMedium = 65536;

// A message of a pair by one protocol alone, as far as it can be.
Study protocols(bool quick) {
  Study study{"protocols", "Short and long protocol, one pair", true, {}, {}, {}};
  std::vector<std::uint64_t> sizes = {256, 1024, 2048, 4096, 8192};
  if (!quick) sizes = {64, 256, 512, 1024, 1536, 2048, 2560, 3072, 4096, 8192, 16384, 32768};
  const auto by = [&](std::uint64_t short_bytes) {
    return firelink_pairs(1, 1, sizes, {fmt::format("MPI_RSM_SHORTMSGSIZE={}", short_bytes)});
  };
  const Measurement in_postboxes = by(32768);
  const Measurement in_blocks = by(0);
  study.panels = {{"protocols-latency",
                   "ping-pong of one pair",
                   {"message size", "bytes", true},
                   {"time", "us", false},
                   {{"in postboxes", in_postboxes, "latency_us"},
                    {"in blocks, behind a barrier", in_blocks, "latency_us"}}}};
  for (const std::uint64_t bytes : sizes) {
    add_cell(study, fmt::format("{} bytes", bytes), "postboxes", "us",
             figure_at("", in_postboxes, "latency_us", bytes));
    add_cell(study, fmt::format("{} bytes", bytes), "blocks", "us",
             figure_at("", in_blocks, "latency_us", bytes));
  }
  study.statements = {
      {"Data in the postboxes themselves is more efficient for messages smaller than a few "
       "thousand bytes",
       section("3.2"),
       {{figure_at("1024 bytes in postboxes", in_postboxes, "latency_us", 1024),
         figure_at("in blocks", in_blocks, "latency_us", 1024), 1},
        {figure_at("8192 bytes in blocks", in_blocks, "latency_us", 8192),
         figure_at("in postboxes", in_postboxes, "latency_us", 8192), 1}}}};
  return study;
}

// How large a part of a message is filled before the receiver is told of it.
Study pipelining(bool quick) {
  Study study{"pipelining", "Parts of a message that its receiver is told of", false, {}, {}, {}};
  std::vector<std::uint64_t> parts = {4096, 16384, 65536};
  if (!quick) parts = {4096, 8192, 16384, 32768, 65536};
  const std::vector<std::uint64_t> sizes = {kMedium, kLargeMessage};
  const auto rate = [&](std::uint64_t part, std::uint64_t bytes) {
    return figure_at(fmt::format("parts of {}", kib(part)),
                     firelink_pairs(1, 1, sizes, {fmt::format("MPI_RSM_PIPESIZE={}", part)}),
                     "MBps", bytes);
  };
  for (const std::uint64_t part : parts) {
    for (const std::uint64_t bytes : sizes) {
      add_cell(study, fmt::format("parts of {}", kib(part)), kib(bytes), "MB/s", rate(part, bytes));
    }
  }
  // A message of 64 KiB in parts of as much is not pipelined: its receiver copies when all of it
  // is there.
  for (const std::uint64_t part : parts) {
    add_cell(study, fmt::format("parts of {}", kib(part)), "1 MiB, of 64 KiB at once", "x",
             ratio_of("", rate(part, kLargeMessage), rate(kMedium, kMedium)));
  }
  return study;
}

// Messages one way, to a receiver that is late.
Measurement burst(std::uint64_t messages, const std::vector<std::uint64_t>& sizes,
                  const Words& variables, std::uint32_t pairs = 1) {
  Measurement made = firelink_pairs(pairs, pairs, sizes, variables);
  made.arguments.insert(made.arguments.end(),
                        {"--burst", fmt::format("{}", messages), "--late", "1000"});
  return made;
}

constexpr std::uint64_t kMessages = 32;
constexpr std::uint64_t kMessageBytes = 8192;

// A receiver that is 1 ms late, and 32 messages of 8 KiB: 256 KiB of room hold all of them.
Study late(bool quick) {
  Study study{"late", "Room at a receiver that is 1 ms late", true, {}, {}, {}};
  std::vector<std::uint64_t> rooms = {65536, 524288};
  if (!quick) rooms = {16384, 32768, 65536, 131072, 262144, 524288};
  std::vector<std::uint64_t> sizes = {kMessageBytes};
  if (!quick) sizes = {1024, 4096, kMessageBytes, 16384};
  PanelPlan panel{"late-held",
                  "32 messages to a receiver that comes 1 ms late",
                  {"message size", "bytes", true},
                  {"time that its sends hold the sender", "us", false},
                  {}};
  const auto with = [&](std::uint64_t room) {
    return burst(kMessages, sizes, {fmt::format("MPI_RSM_CPOOLSIZE={}", room)});
  };
  for (const std::uint64_t room : rooms) {
    panel.series.push_back({kib(room), with(room), "held_us"});
    add_cell(study, fmt::format("room of {}", kib(room)), "sender held", "us",
             figure_at(kib(room), with(room), "held_us", kMessageBytes));
    add_cell(study, fmt::format("room of {}", kib(room)), "all received", "us",
             figure_at(kib(room), with(room), "burst_us", kMessageBytes));
  }
  study.panels = {panel};
  study.statements = {
      {"Large buffer allocations allow senders to deliver their messages and continue, regardless "
       "of whether the receiver is ready (32 messages of 8 KiB; it is 1 ms late)",
       section("3.4"),
       {{figure_at("held by 512 KiB", with(524288), "held_us", kMessageBytes),
         constant("1000 us", 1000), 1},
        {constant("1000 us", 1000),
         figure_at("held by 64 KiB", with(65536), "held_us", kMessageBytes), 1}}}};
  return study;
}

// As much room for the connections to four ranks of a node: a quarter for each, or one pool.
Study pools(bool quick) {
  Study study{"pools", "A pool for each connection, or one for a node", false, {}, {}, {}};
  const std::vector<std::uint64_t> sizes = {kMessageBytes};
  constexpr std::uint64_t kReceivers = 4;
  std::vector<std::uint64_t> rooms = {65536};
  if (!quick) rooms = {65536, 131072, 262144};
  for (const std::uint64_t room : rooms) {
    const Measurement own =
        burst(kMessages, sizes, {fmt::format("MPI_RSM_CPOOLSIZE={}", room)}, kReceivers);
    const Measurement shared = burst(
        kMessages, sizes, {fmt::format("MPI_RSM_SBPOOLSIZE={}", kReceivers * room)}, kReceivers);
    const std::string row = fmt::format("{} for 4 receivers", kib(kReceivers * room));
    const Quantity apart = figure_at("a pool each", own, "held_us", kMessageBytes);
    const Quantity together = figure_at("one pool", shared, "held_us", kMessageBytes);
    add_cell(study, row, "a pool each, sender held", "us", apart);
    add_cell(study, row, "one pool, sender held", "us", together);
    study.statements.push_back(
        {fmt::format("{}: a pool that is shared gives a busy connection what the others do not use",
                     row),
         section("3.4"),
         {{together, apart, 1}}});
  }
  return study;
}

// --- A link dies under load and comes back. In ms of the job; the program's own time begins some 2
// ms later.

constexpr double kDies = 30;
constexpr double kLives = 75;
constexpr double kEnd = 120;

// Eight pairs fill the four links between two nodes.
Measurement stream(bool fails) {
  Measurement made = firelink_pairs(8, 8, {262144});
  made.arguments.insert(made.arguments.end(), {"--stream", fmt::format("{}", kEnd)});
  if (fails) {
    made.options.insert(made.options.end(),
                        {"--faults", fmt::format("down=0-link1@{}ms+{}ms", kDies, kLives - kDies)});
  }
  made.expected_s = 20;
  return made;
}

// The mean of `key` over the lines from one time to another.
Quantity mean_of(const std::string& label, const Measurement& measurement, const char* key,
                 double from_ms, double to_ms) {
  return {label,
          {measurement},
          [key = std::string(key), from_ms, to_ms](std::span<const Measured* const> measured) {
            double sum = 0;
            int count = 0;
            for (const auto& [at, value] : measured[0]->points(key)) {
              if (at < from_ms || at >= to_ms) continue;
              sum += value;
              ++count;
            }
            return count == 0 ? std::nullopt : std::optional<double>(sum / count);
          }};
}

Study failure() {
  Study study{"failure", "A link of four dies under load and comes back", true, {}, {}, {}};
  const Measurement broken = stream(true);
  study.panels = {{"failure-rate",
                   "256 KiB messages of 8 pairs; a link is dead from 30 ms to 75 ms",
                   {"time", "ms", false},
                   {"rate", "MB/s", false},
                   {{"all links", stream(false), "MBps"}, {"one dies", broken, "MBps"}}}};
  const Quantity whole = mean_of("before", broken, "MBps", 5, 25);
  const Quantity living = mean_of("three links", broken, "MBps", 45, 70);
  const Quantity again = mean_of("four again", broken, "MBps", 90, kEnd);
  const Quantity share = ratio_of("three links, of four", living, whole);
  const Quantity gap = peak_of("the longest gap", broken, "gap_ms");
  const Quantity wrong = peak_of("messages lost, twice or wrong", broken, "wrong");
  add_cell(study, "four links", "rate", "MB/s", whole);
  add_cell(study, "three links", "rate", "MB/s", living);
  add_cell(study, "four again", "rate", "MB/s", again);
  add_cell(study, "three links, of four", "rate", "x", share);
  add_cell(study, "longest time without a message", "gap", "ms", gap);
  add_cell(study, "messages lost, twice or wrong", "count", "", wrong);
  study.statements = {
      {"Fail over is transparent to MPI applications: no message is lost, doubled or wrong",
       section("2.3"),
       {{wrong, constant("none", 0), 1}}},
      {"The rate is the living links' (within 10 %), and all of it comes back",
       "ours",
       {{constant("0.75 less 10 %", 0.675), share, 1},
        {share, constant("0.75 and 10 %", 0.825), 1},
        {constant("0.9 of before", 0.9), ratio_of("four again, of before", again, whole), 1}}},
      {"The gap is detection, rerouting (1 and 10 ms, guessed) and what is put again (1.5 ms)",
       "ours",
       {{constant("10 ms", 10), gap, 1}, {gap, constant("12.5 ms", 12.5), 1}}}};
  return study;
}

}  // namespace

std::vector<Study> firelink_protocol_studies(bool quick) {
  return {protocols(quick), pipelining(quick), late(quick), pools(quick), failure()};
}

}  // namespace fairlead::tools
