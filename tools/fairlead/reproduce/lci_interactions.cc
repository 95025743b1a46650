// Section 5.5 of the LCI paper, how the aspects of an implementation act on each other, and the
// all-to-all benchmark that section 7.1 tells of. The paper gives words, no values: all numbers are
// predictions.
#include <fmt/format.h>

#include "tools/fairlead/reproduce/lci_studies.h"

namespace fairlead::tools {

namespace {

constexpr std::uint64_t kSmall = 16;
constexpr std::uint64_t kLarge = 64 * 1024;
constexpr std::uint64_t kUnicast = 1024 * 1024;  // far beyond the second-level caches
constexpr double kNearly = 1.05;

// --- What is measured, by implementation.

Measurement messages(const std::string& platform, const std::string& lci) {
  std::vector<std::string> arguments = {"--sizes", fmt::format("{}", kUnicast)};
  if (lci.starts_with("rcpy")) arguments.emplace_back("--put");
  return {"throughput", platform, lci, arguments};
}
Measurement broadcasts(const std::string& platform, const std::string& lci) {
  return {
      "multicast", platform, lci, {"--sizes", fmt::format("{},{},{}", kSmall, 16 * 1024, kLarge)}};
}
Measurement logp(const std::string& platform, const std::string& lci) {
  return {"logp", platform, lci, {}};
}

Quantity throughput(const std::string& platform, const std::string& lci) {
  return figure_at(paper_name(lci), messages(platform, lci), "MBps", kUnicast);
}
Quantity broadcast_us(const std::string& platform, const std::string& lci, std::uint64_t size) {
  return figure_at(paper_name(lci), broadcasts(platform, lci), "latency_us", size);
}
Quantity broadcast_rate(const std::string& platform, const std::string& lci) {
  return figure_at(paper_name(lci), broadcasts(platform, lci), "throughput_MBps", kLarge);
}
Quantity latency(const std::string& platform, const std::string& lci) {
  return figure_of(paper_name(lci), logp(platform, lci), "end_to_end_us");
}
Quantity gap(const std::string& platform, const std::string& lci) {
  return figure_of(paper_name(lci), logp(platform, lci), "g_us");
}
// Packets of acknowledgments for each packet of data.
Quantity acknowledgments(const std::string& platform, const std::string& lci) {
  return {paper_name(lci), {logp(platform, lci)}, [](auto measured) -> std::optional<double> {
            const Json& packets = measured[0]->packets;
            return packets.at("acks_explicit").number() / packets.at("data").number();
          }};
}
// What `more` brings over `less`.
Quantity gain(const std::string& platform, const std::string& more, const std::string& less) {
  return ratio_of(fmt::format("{} / {}", paper_name(more), paper_name(less)),
                  throughput(platform, more), throughput(platform, less));
}

std::string on(const PaperPlatform& platform, const char* text) {
  return fmt::format("{}: {}", platform.label, text);
}

// --- Section 5.5, aspect by aspect.

void transfer_and_reliability(Study& study, const PaperPlatform& platform) {
  const char* const name = platform.name;
  // What DMA adds to the latency of a small message, under a scheme ("-nirx").
  const auto added = [&](const std::string& scheme) {
    return difference_of("sdma" + scheme + " - pio" + scheme, latency(name, "sdma" + scheme),
                         latency(name, "pio" + scheme));
  };
  std::vector<Order> alike;
  for (const char* scheme : {"-nirx", "-hrx"}) {
    alike.push_back({added(""), added(scheme), 1.25});
    alike.push_back({added(scheme), added(""), 1.25});
  }
  study.statements.push_back(
      says(on(platform, "what DMA costs a small message does not depend on who retransmits (25 %)"),
           "5.5", alike));
  std::vector<Order> same;
  for (const char* scheme : {"-nirx", "-hrx"}) {
    const std::string end = scheme;
    same.push_back({throughput(name, "pio" + end), throughput(name, "sdma" + end), 1});
  }
  study.statements.push_back(says(
      on(platform, "whether PIO or DMA has the higher throughput does not depend on it either"),
      "5.5", same));
}

void transfer_and_mtu(Study& study, const PaperPlatform& platform) {
  const char* const name = platform.name;
  const auto reaches = [&](const char* transfer) {
    const std::string base = transfer;
    return std::vector<Order>{{throughput(name, base + "-1k"), throughput(name, base + "-4k"), 1},
                              {throughput(name, base + "-2k"), throughput(name, base + "-4k"), 1}};
  };
  study.statements.push_back(
      says(on(platform, "I-sdma takes packets of a page for its highest throughput"), "5.5",
           reaches("sdma")));
  study.statements.push_back(
      says(on(platform, "I-rcpy takes packets of a page for its highest throughput"), "5.5",
           reaches("rcpy")));
  study.statements.push_back(
      says(on(platform, "by PIO packets of 2 Kbyte have almost the throughput of a page's (5 %)"),
           "5.5", {{throughput(name, "pio-4k"), throughput(name, "pio"), kNearly}}));
  study.statements.push_back(
      says(on(platform, "a page brings DMA more than PIO"), "5.5",
           {{gain(name, "pio-4k", "pio-1k"), gain(name, "sdma-4k", "sdma-1k"), 1}}));
}

void transfer_and_multicast(Study& study, const PaperPlatform& platform) {
  const char* const name = platform.name;
  const auto added = [&](const char* more, const char* less) {
    return difference_of(fmt::format("{} - {}", more, less), broadcast_us(name, more, kSmall),
                         broadcast_us(name, less, kSmall));
  };
  study.statements.push_back(
      says(on(platform, "who forwards has more impact on multicast than how data are moved"), "5.5",
           {{added("sdma", "pio"), added("sdma-hmc", "sdma"), 1},
            {added("sdma", "pio"), added("pio-hmc", "pio"), 1}}));
  std::vector<Order> lowest;
  for (const char* other : {"sdma", "pio-hmc", "sdma-hmc"}) {
    lowest.push_back({broadcast_us(name, "pio", kSmall), broadcast_us(name, other, kSmall), 1});
  }
  study.statements.push_back(
      says(on(platform, "forwarding by the NI and PIO give small broadcasts the lowest latency"),
           "5.5", lowest));
  const auto disadvantage = [&](std::uint64_t size) {
    return ratio_of(fmt::format("I-sdma / I-pio at {} bytes", size),
                    broadcast_us(name, "sdma", size), broadcast_us(name, "pio", size));
  };
  study.statements.push_back(
      says(on(platform, "in large broadcasts DMA makes up for what it loses in small ones"), "5.5",
           {{disadvantage(kLarge), disadvantage(kSmall), 1}}));
}

void multicast_and_others(Study& study, const PaperPlatform& platform) {
  const char* const name = platform.name;
  study.statements.push_back(
      says(on(platform,
              "reliability in the NI leaves multicast to it: I-nirx broadcasts faster than "
              "hosts that forward, I-hrx does not"),
           "5.5",
           {{broadcast_us(name, "nirx", kSmall), broadcast_us(name, "sdma-hmc", kSmall), 1},
            {broadcast_us(name, "sdma-hmc", kSmall), broadcast_us(name, "hrx", kSmall), 1}}));
  // The paper says that it can be so, not where.
  study.statements.push_back(
      says(on(platform,
              "a larger MTU can improve multicast throughput (hosts that forward, to 4 Kbyte)"),
           "5.5",
           {{broadcast_rate(name, "pio-1k-hmc"), broadcast_rate(name, "pio-4k-hmc"), 1},
            {broadcast_rate(name, "sdma-1k-hmc"), broadcast_rate(name, "sdma-4k-hmc"), 1}}));
  study.statements.push_back(
      says(on(platform,
              "too large an MTU can lower multicast throughput (NIs that forward, 2 to 4 Kbyte)"),
           "5.5",
           {{broadcast_rate(name, "pio-4k"), broadcast_rate(name, "pio"), 1},
            {broadcast_rate(name, "sdma-4k"), broadcast_rate(name, "sdma"), 1}}));
  // A page's packets halve the window of credits, not that of retransmission, whose buffers all
  // senders share.
  study.statements.push_back(
      says(on(platform,
              "with packets of a page buffers kept for each sender cost more acknowledgments, "
              "those that all share do not"),
           "5.5",
           {{acknowledgments(name, "sdma"), acknowledgments(name, "sdma-4k"), 1 / 1.5},
            {acknowledgments(name, "nirx-4k"), acknowledgments(name, "nirx"), kNearly}}));
}

void add_rows(Study& study, const PaperPlatform& platform) {
  const auto column = [&](const std::string& lci) {
    return fmt::format("{} {}", platform.label, paper_name(lci));
  };
  for (const char* lci : {"pio", "sdma", "pio-nirx", "sdma-nirx", "pio-hrx", "sdma-hrx"}) {
    add_cell(study, "Latency of 16 bytes", column(lci), "us", latency(platform.name, lci));
  }
  for (const char* transfer : {"pio", "sdma", "rcpy"}) {
    for (const char* mtu : {"-1k", "-2k", "-4k"}) {
      const std::string lci = std::string(transfer) + mtu;
      add_cell(study, "Throughput of 1 MiB", column(lci), "MB/s", throughput(platform.name, lci));
    }
  }
  for (const char* lci : {"pio", "sdma", "nirx", "pio-hmc", "sdma-hmc", "nirx-hmc", "hrx"}) {
    add_cell(study, "Broadcast of 16 bytes", column(lci), "us",
             broadcast_us(platform.name, lci, kSmall));
  }
  for (const char* transfer : {"pio", "sdma"}) {
    for (const char* end : {"-1k", "", "-4k", "-1k-hmc", "-hmc", "-4k-hmc"}) {
      const std::string lci = std::string(transfer) + end;
      add_cell(study, "Broadcast of 64 KiB", column(lci), "us",
               broadcast_us(platform.name, lci, kLarge));
      add_cell(study, "Broadcast throughput", column(lci), "MB/s",
               broadcast_rate(platform.name, lci));
    }
  }
  for (const char* lci : {"sdma", "sdma-4k", "nirx", "nirx-4k"}) {
    add_cell(study, "Acknowledgments a message", column(lci), "packets",
             acknowledgments(platform.name, lci));
  }
}

Study interactions() {
  Study study{
      "interactions", "How the aspects of an implementation act on each other", false, {}, {}, {}};
  for (const PaperPlatform& platform : kLciPlatforms) {
    add_rows(study, platform);
    transfer_and_reliability(study, platform);
    transfer_and_mtu(study, platform);
    transfer_and_multicast(study, platform);
    multicast_and_others(study, platform);
  }
  return study;
}

// --- Section 7.1: the all-to-all benchmark.

Study alltoall() {
  Study study{"alltoall", "All-to-all throughput on 64 processors: retransmission on the NI",
              false,      {},
              {},         {}};
  const auto exchange = [](const char* platform, const std::string& lci) {
    return figure_at(paper_name(lci),
                     Measurement{"alltoall", platform, lci, {"--sizes", fmt::format("{}", kSmall)}},
                     "us", kSmall);
  };
  for (const PaperPlatform& platform : kLciPlatforms) {
    const char* const name = platform.name;
    const Quantity all = ratio_of("all-to-all", exchange(name, "nirx"), exchange(name, "sdma"));
    const Quantity unicast = ratio_of("g", gap(name, "nirx"), gap(name, "sdma"));
    const Quantity multicast =
        ratio_of("multicast", broadcast_rate(name, "sdma"), broadcast_rate(name, "nirx"));
    const std::string column = fmt::format("{} I-nirx", platform.label);
    add_cell(study, "Exchange of 16 bytes, all with all", column, "x I-sdma", all);
    add_cell(study, "Gap (g)", column, "x I-sdma", unicast);
    add_cell(study, "Time a byte of a multicast of 64 KiB", column, "x I-sdma", multicast);
    study.statements.push_back(
        says(on(platform,
                "all-to-all traffic shows an overhead of the NI that g and the "
                "throughput of one-to-all multicast hide"),
             "7.1", {{unicast, all, 1}, {multicast, all, 1}}));
  }
  return study;
}

}  // namespace

std::vector<Study> lci_paper_interactions() { return {interactions(), alltoall()}; }

}  // namespace fairlead::tools
