// Table VII and figures 11 to 16 of the LCI paper: its applications on 64 nodes. The figures are
// bars, relative to I-sdma; here they are tables of the same numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fairlead/base/check.h"
#include "tools/fairlead/reproduce/lci_studies.h"

namespace fairlead::tools {

namespace {

constexpr std::uint32_t kNodes = 64;
constexpr const char* kBase = "sdma";

struct Application {
  const char* row;
  const char* program;
  std::vector<std::string> arguments;
  bool mpi;
};

const Application kApplications[] = {
    {"ASP", "asp", {"--paper"}, true},
    {"Awari", "awari", {"--paper"}, false},
    {"Barnes", "barnes", {"--paper"}, false},
    {"LEQ", "leq", {"--paper"}, false},
    {"Puzzle-4", "puzzle", {"--paper", "--jobs", "4"}, false},
    {"Puzzle-64", "puzzle", {"--paper", "--jobs", "64"}, false},
    {"QR", "qr", {"--paper"}, true},
    {"Radix", "radix", {"--paper"}, false},
    {"SOR", "sor", {}, true},
};

const Application& application(std::string_view row) {
  const auto found = std::find_if(std::begin(kApplications), std::end(kApplications),
                                  [&](const Application& app) { return row == app.row; });
  FAIRLEAD_CHECK(found != std::end(kApplications), "no application {}", row);
  return *found;
}

// How an application is run: an implementation, and what the program or MPI is told beside it.
struct Way {
  std::string label;  // the paper's name of the bar
  std::string lci;
  std::vector<std::string> arguments = {};
  std::vector<std::string> options = {};
};

Way plain(const std::string& lci) { return {paper_name(lci), lci}; }

Measurement run_of(const Application& app, const char* platform, const Way& way,
                   std::uint32_t ranks) {
  Measurement made{app.program, platform, way.lci, app.arguments, ranks, way.options};
  made.arguments.insert(made.arguments.end(), way.arguments.begin(), way.arguments.end());
  if (app.mpi) made.options.insert(made.options.begin(), {"--mpi-device", "panda"});
  const bool is_base = way.lci == kBase && way.arguments.empty() && way.options.empty();
  if (is_base && ranks > 1) made.options.emplace_back("--explain=path");  // for figure 11
  made.expected_s = ranks > 1 ? 60 : 20;
  return made;
}

Quantity run_time(const Application& app, const char* platform, const Way& way,
                  std::uint32_t ranks = kNodes) {
  return figure_of(app.row, run_of(app, platform, way, ranks), "seconds");
}

Quantity scaled(Quantity one, double factor) {
  one.value = [value = one.value,
               factor](std::span<const Measured* const> measured) -> std::optional<double> {
    const std::optional<double> plain_value = value(measured);
    return plain_value ? std::optional(*plain_value * factor) : std::nullopt;
  };
  return one;
}

// Time by `way`, where I-sdma takes 1.
Quantity relative(const Application& app, const char* platform, const Way& way) {
  return ratio_of(fmt::format("{} {}", app.row, way.label), run_time(app, platform, way),
                  run_time(app, platform, plain(kBase)));
}

Study table(const char* id, const char* title) { return {id, title, false, {}, {}, {}}; }

void add_bars(Study& study, std::string_view row, const Way& way) {
  const Application& app = application(row);
  for (const PaperPlatform& platform : kLciPlatforms) {
    study.cells.push_back({app.row,
                           fmt::format("{} {}", platform.label, way.label),
                           "x I-sdma",
                           relative(app, platform.name, way),
                           {}});
  }
}

// The time of `slow` is at least so many times that of `fast`, for each application.
Order at_least_of(const Application& app, const char* platform, const Way& slow, const Way& fast,
                  double times = 1) {
  return {relative(app, platform, fast), relative(app, platform, slow), 1 / times};
}
Order at_least(const char* platform, const char* row, const Way& slow, const Way& fast,
               double times = 1) {
  return at_least_of(application(row), platform, slow, fast, times);
}

std::vector<Order> slower_everywhere(std::initializer_list<const char*> rows, const Way& slow,
                                     double times = 1) {
  std::vector<Order> orders;
  for (const PaperPlatform& platform : kLciPlatforms) {
    for (const char* row : rows) {
      orders.push_back(at_least(platform.name, row, slow, plain(kBase), times));
    }
  }
  return orders;
}

// What the paper calls a visible difference, and one that is not.
constexpr double kVisible = 1.01;
constexpr double kEqual = 1.05;

// --- Table VII.

// Speed-up divided by the processors.
Quantity efficiency(const Application& app, const char* platform) {
  return scaled(ratio_of(app.row, run_time(app, platform, plain(kBase), 1),
                         run_time(app, platform, plain(kBase))),
                1.0 / kNodes);
}

Study table7() {
  Study study = table("table7", "Applications on I-sdma: time on one processor, efficiency on 64");
  for (const PaperPlatform& platform : kLciPlatforms) {
    for (const Application& app : kApplications) {
      study.cells.push_back({app.row,
                             fmt::format("{} T1", platform.label),
                             "s",
                             run_time(app, platform.name, plain(kBase), 1),
                             {}});
      study.cells.push_back(
          {app.row, fmt::format("{} E64", platform.label), "", efficiency(app, platform.name), {}});
    }
  }
  return study;
}

// --- Figure 11: what a processor receives in a second.

Quantity rate_of(const Application& app, const char* platform, const char* counter,
                 const char* without = nullptr) {
  return {app.row,
          {run_of(app, platform, plain(kBase), kNodes)},
          [=](std::span<const Measured* const> measured) -> std::optional<double> {
            const Json& counts = part_at(measured[0]->packets, "received");
            const auto count = number_at(counts, counter);
            const auto less = without == nullptr ? 0 : number_at(counts, without).value_or(0);
            if (!count) return std::nullopt;
            return (*count - less) / kNodes / measured[0]->figure("seconds");
          }};
}

// What of the critical path is `resource`'s, in per cent.
Quantity share_of(const Application& app, const char* platform, const char* resource) {
  return {app.row,
          {run_of(app, platform, plain(kBase), kNodes)},
          [=](std::span<const Measured* const> measured) -> std::optional<double> {
            double all = 0;
            for (const auto& [name, us] : measured[0]->path.members()) all += us.number();
            const auto mine = number_at(measured[0]->path, resource);
            if (!mine || all == 0) return std::nullopt;
            return 100 * *mine / all;
          }};
}

Study figure11() {
  Study study = table("figure11",
                      "What a processor receives in a second, and what the end waits for, I-sdma");
  for (const PaperPlatform& platform : kLciPlatforms) {
    const auto column = [&](const char* what) {
      return fmt::format("{} {}", platform.label, what);
    };
    for (const Application& app : kApplications) {
      const auto add = [&](const char* what, const char* unit, const Quantity& ours) {
        study.cells.push_back({app.row, column(what), unit, ours, {}});
      };
      add("unicast", "packets/s", rate_of(app, platform.name, "data", "multicasts"));
      add("multicast", "packets/s", rate_of(app, platform.name, "multicasts"));
      add("acknowledgments", "packets/s", rate_of(app, platform.name, "acks"));
      add("data", "kbyte/s", scaled(rate_of(app, platform.name, "bytes"), 1e-3));
      for (const char* resource : {"host", "bus", "ni", "dma", "link"}) {
        add(fmt::format("path: {}", resource).c_str(), "%", share_of(app, platform.name, resource));
      }
    }
    const auto packets = [&](const char* row) {
      return rate_of(application(row), platform.name, "data");
    };
    std::vector<Order> most;
    for (const Application& app : kApplications) {
      if (app.row != std::string_view("LEQ")) most.push_back({packets(app.row), packets("LEQ"), 1});
    }
    study.statements.push_back(
        says(fmt::format("{}: LEQ has the highest packet rate", platform.label), "7.1", most));
    std::vector<Order> dominated;
    for (const char* row : {"ASP", "LEQ", "QR"}) {
      dominated.push_back({rate_of(application(row), platform.name, "data", "multicasts"),
                           rate_of(application(row), platform.name, "multicasts"), 0.25});
    }
    for (const char* row : {"Awari", "Barnes", "Puzzle-4", "Puzzle-64", "Radix", "SOR"}) {
      dominated.push_back({rate_of(application(row), platform.name, "multicasts"),
                           rate_of(application(row), platform.name, "data", "multicasts"), 0.25});
    }
    study.statements.push_back(
        says(fmt::format("{}: each application is dominated by unicast (Awari, Barnes, Puzzle, "
                         "Radix, SOR) or by multicast traffic (ASP, LEQ, QR)",
                         platform.label),
             "7", dominated));
  }
  const Quantity barnes = rate_of(application("Barnes"), "myrinet-ppro", "data");
  study.statements.push_back(
      says("PPro: Barnes receives about 10,000 packets/s (within a factor "
           "of 1.5)",
           "7",
           {{scaled(barnes, 1e-4), scaled(ratio_of("1", barnes, barnes), 1), 1.5},
            {scaled(ratio_of("1", barnes, barnes), 1), scaled(barnes, 1e-4), 1.5}}));
  return study;
}

// --- Figure 12: reliability.

Study figure12() {
  Study study = table("figure12", "Reliability on the network interface and on the host");
  const Way nirx = plain("nirx");
  const Way hrx = plain("hrx");
  for (const Application& app : kApplications) {
    add_bars(study, app.row, nirx);
    add_bars(study, app.row, hrx);
  }
  study.statements = {
      says("Barnes, Radix and LEQ are sensitive to I-nirx", "7.1",
           slower_everywhere({"Barnes", "Radix", "LEQ"}, nirx, kVisible)),
      says(
          "Puzzle, LEQ, and to a lesser extent Awari, Barnes, Radix and SOR are sensitive to I-hrx",
          "7.1", slower_everywhere({"Puzzle-4", "LEQ", "Awari", "Barnes", "Radix", "SOR"}, hrx)),
      says("QR and ASP are sensitive to I-hrx's forwarding by hosts", "7.1",
           slower_everywhere({"QR", "ASP"}, hrx, kVisible))};
  std::vector<Order> leq;
  std::vector<Order> puzzle;
  std::vector<Order> qr;
  for (const PaperPlatform& platform : kLciPlatforms) {
    const auto of = [&](const char* row, const Way& way) {
      return relative(application(row), platform.name, way);
    };
    for (const char* row : {"Barnes", "Radix"}) leq.push_back({of(row, nirx), of("LEQ", nirx), 1});
    puzzle.push_back({of("Puzzle-64", hrx), of("Puzzle-4", hrx), 1});
    qr.push_back({of("QR", nirx), of("QR", hrx), 1});
  }
  study.statements.push_back(says("I-nirx slows LEQ more than Barnes and Radix", "7.1", leq));
  study.statements.push_back(
      says("Puzzle-4 suffers more from I-hrx than Puzzle-64", "7.1", puzzle));
  study.statements.push_back(says("QR suffers more from I-hrx than from I-nirx", "7.1", qr));
  return study;
}

// --- Figure 13: data transfer.

Study figure13() {
  Study study = table("figure13", "Programmed I/O instead of DMA at the sender");
  const Way pio = plain("pio");
  const Way sdma = plain(kBase);
  std::vector<Order> ppro;
  for (const Application& app : kApplications) {
    add_bars(study, app.row, pio);
    ppro.push_back(
        {relative(app, "myrinet-ppro", pio), relative(app, "myrinet-ppro", sdma), 1.005});
  }
  std::vector<Order> efficient;
  for (const char* row : {"ASP", "Puzzle-4", "Puzzle-64", "Radix", "SOR"}) {
    efficient.push_back(at_least("myrinet-p3", row, pio, sdma));
  }
  std::vector<Order> little;
  for (const char* row : {"QR", "Awari"}) {
    const Quantity one = relative(application(row), "myrinet-p3", pio);
    const Quantity base = relative(application(row), "myrinet-p3", sdma);
    little.push_back({one, base, kEqual});
    little.push_back({base, one, kEqual});
  }
  study.statements = {
      says("PPro: no application is faster with I-sdma than with I-pio", "7.2", ppro),
      says("P3: I-sdma is more efficient for most (ASP, Puzzle, Radix, SOR)", "7.2", efficient),
      says("P3: Barnes and LEQ, which send many small messages, are slower with I-sdma", "7.2",
           {at_least("myrinet-p3", "Barnes", sdma, pio), at_least("myrinet-p3", "LEQ", sdma, pio)}),
      says("P3: QR and Awari see little or no difference (within 5 %)", "7.2", little)};
  return study;
}

// --- Figure 14: SOR with columns that grow.

constexpr std::array<int, 4> kColumnFactors = {1, 2, 4, 8};

// As much computation an iteration whatever the columns, and as many iterations.
Application sor_of(int factor) {
  constexpr int kSide = 1536;
  return {"SOR",
          "sor",
          {"--columns", fmt::format("{}", kSide * factor), "--rows",
           fmt::format("{}", kSide / factor), "--iterations", "100", "--tolerance", "1e-200"},
          true};
}

// How often a rank looks while it computes what it need not send: a long message on I-rcpy takes
// steps at both ends before its bytes go.
constexpr const char* kLooks = "16";

Study figure14() {
  Study study = table("figure14", "SOR with longer columns, and with columns sent ahead");
  const Way async{"I-sdma + async", kBase, {"--overlap"}};
  const Way pio = plain("pio");
  const Way pio_async{"I-pio + async", "pio", {"--overlap"}};
  const Way rcpy = plain("rcpy");
  const Way rcpy_async{"I-rcpy + async", "rcpy", {"--overlap", "--looks", kLooks}};
  for (const int factor : kColumnFactors) {
    const Application app = sor_of(factor);
    for (const PaperPlatform& platform : kLciPlatforms) {
      for (const Way& way : {async, pio, pio_async, rcpy, rcpy_async}) {
        study.cells.push_back({fmt::format("columns of {}", 1536 * factor),
                               fmt::format("{} {}", platform.label, way.label),
                               "x I-sdma",
                               relative(app, platform.name, way),
                               {}});
      }
    }
  }
  std::vector<Order> p3;
  std::vector<Order> limited;
  for (const int factor : kColumnFactors) {
    const Application app = sor_of(factor);
    p3.push_back(
        {relative(app, "myrinet-p3", async), relative(app, "myrinet-p3", plain(kBase)), 1});
    limited.push_back(
        {ratio_of("", run_time(app, "myrinet-p3", async),
                  run_time(app, "myrinet-p3", plain(kBase))),
         ratio_of("", run_time(app, "myrinet-p3", pio_async), run_time(app, "myrinet-p3", pio)),
         1});
  }
  const Application square = sor_of(1);
  const Application longest = sor_of(kColumnFactors.back());
  std::vector<Order> better;
  std::vector<Order> more;
  std::vector<Order> ahead;
  for (const PaperPlatform& platform : kLciPlatforms) {
    better.push_back(at_least_of(square, platform.name, plain(kBase), rcpy));
    more.push_back(
        {relative(longest, platform.name, rcpy), relative(square, platform.name, rcpy), 1});
    for (const int factor : kColumnFactors) {
      ahead.push_back(at_least_of(sor_of(factor), platform.name, rcpy, rcpy_async, kVisible));
    }
  }
  study.statements = {
      says("P3: columns sent ahead improve I-sdma", "7.2", p3),
      says("PPro: they help I-sdma at the original size", "7.2",
           {{relative(square, "myrinet-ppro", async),
             relative(square, "myrinet-ppro", plain(kBase)), 1}}),
      says("P3: with I-pio sending ahead brings less than with I-sdma", "7.2", limited),
      says("I-rcpy is better than I-sdma at the original size on both platforms", "7.2", better),
      says("Much more communication makes I-rcpy relatively more beneficial", "7.2", more),
      says("Columns sent ahead improve I-rcpy at every size on both platforms", "7.2", ahead)};
  return study;
}

// --- Figure 15: the size of packets.

Study figure15() {
  Study study = table("figure15", "Packets of 1 and 4 Kbyte instead of 2");
  const Way small = {"I-1k", "sdma-1k"};
  const Way large = {"I-4k", "sdma-4k"};
  std::vector<Order> no_gain;
  for (const Application& app : kApplications) {
    add_bars(study, app.row, small);
    add_bars(study, app.row, large);
    for (const PaperPlatform& platform : kLciPlatforms) {
      no_gain.push_back({relative(app, platform.name, plain(kBase)),
                         relative(app, platform.name, large), kEqual});
    }
  }
  std::vector<Order> worse;
  std::vector<Order> less;
  for (const char* row : {"Barnes", "LEQ", "QR"}) {
    worse.push_back(at_least("myrinet-ppro", row, large, plain(kBase)));
    less.push_back({relative(application(row), "myrinet-p3", large),
                    relative(application(row), "myrinet-ppro", large), 1});
  }
  study.statements = {
      says("No application benefits much from 4-Kbyte packets (within 5 %)", "7.3", no_gain),
      says("PPro: Barnes, LEQ and QR are slower with 4-Kbyte packets", "7.3", worse),
      says("P3: their slowdown is less", "7.3", less),
      says("Radix, whose messages are just over 1 Kbyte, suffers with 1-Kbyte packets", "7.3",
           slower_everywhere({"Radix"}, small))};
  return study;
}

// --- Figure 16: multicast.

Study figure16() {
  Study study = table("figure16", "Multicast by hosts instead of network interfaces");
  const Way hmc = {"I-sdma-hmc", "sdma-hmc"};
  const Way polling = {"I-sdma-hmc", "sdma-hmc", {"--poll"}};
  const auto messages = [](const char* tree) {
    return Way{"I-sdma-mpimc", kBase, {}, {"--mpi-bcast", tree}};
  };
  Way binomial_asp = messages("binomial");
  binomial_asp.label += ", binomial tree";
  add_bars(study, "ASP", polling);
  add_bars(study, "ASP", messages("binary"));
  add_bars(study, "ASP", binomial_asp);
  add_bars(study, "QR", hmc);
  add_bars(study, "QR", messages("binomial"));
  add_bars(study, "LEQ", hmc);
  add_bars(study, "Radix", hmc);

  std::vector<Order> all = slower_everywhere({"QR", "LEQ", "Radix"}, hmc);
  std::vector<Order> similar;
  std::vector<Order> leq;
  std::vector<Order> binomial;
  for (const PaperPlatform& platform : kLciPlatforms) {
    const auto of = [&](const char* row, const Way& way) {
      return relative(application(row), platform.name, way);
    };
    all.push_back(at_least(platform.name, "ASP", polling, plain(kBase)));
    similar.push_back({of("QR", messages("binomial")), of("QR", hmc), 1.25});
    similar.push_back({of("QR", hmc), of("QR", messages("binomial")), 1.25});
    leq.push_back({of("LEQ", hmc), of("QR", hmc), 1});
    binomial.push_back({of("ASP", messages("binary")), of("ASP", binomial_asp), 1});
  }
  study.statements = {
      says("All four applications are faster with multicast on the network interface", "7.4", all),
      says("QR's slowdown with multicast by hosts is larger on P3 than on PPro", "7.4",
           {{relative(application("QR"), "myrinet-ppro", hmc),
             relative(application("QR"), "myrinet-p3", hmc), 1}}),
      says("QR: MPI's broadcast by messages is similar to I-sdma-hmc (within 25 %)", "7.4",
           similar),
      says("LEQ's slowdown is smaller than QR's", "7.4", leq),
      says("ASP by messages is slower with a binomial than with a binary tree", "7.4", binomial)};
  return study;
}

}  // namespace

std::vector<Study> lci_paper_applications() {
  return {table7(), figure11(), figure12(), figure13(), figure14(), figure15(), figure16()};
}

}  // namespace fairlead::tools
