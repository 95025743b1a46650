// fairlead platforms: the places a job can run on.
#include <fmt/format.h>

#include <memory>

#include "fairlead/hw/lanai/lanai_params.h"
#include "fairlead/hw/platform.h"
#include "fairlead/lci/ni/implementations.h"
#include "fairlead/run/platform_files.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/json.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead platforms                       names for --on\n"
    "  fairlead platforms --json                one object a line, with the files\n"
    "  fairlead platforms --lci                 which implementations exist, and on how many "
    "nodes\n"
    "  FAIRLEAD_PLATFORMS=$HOME/clusters fairlead platforms    your own ones as well\n"
    "\n"
    "A platform file holds every number of a modelled machine with its source; --on takes the\n"
    "path of one as well as a name.";

struct Place {
  std::string name;
  std::string kind;  // real, modelled
  std::string description;
  std::string file;
};

std::vector<Place> places() {
  std::vector<Place> found = {
      {"shm", "real", "this machine: processes on shared memory", ""},
      {"udp", "real", "this machine: processes on its network, 127.0.0.1 or --address", ""},
      {"ofi", "real", "this machine: processes on a network through libfabric", ""},
      {"loop", "real", "this process: fibers of one thread, for tests; has no time", ""}};
  for (const run::PlatformFile& one : run::list_platforms()) {
    const auto platform = hw::load_platform(one.path);
    found.push_back({one.name, "modelled",
                     platform.ok() ? platform.value().description : platform.error().text,
                     one.path});
  }
  return found;
}

void print_json(const std::vector<Place>& found) {
  for (const Place& one : found) {
    Json line = {{"name", one.name},
                 {"kind", one.kind},
                 {"description", one.description},
                 {"lci", implementations_on(one.name)}};
    if (!one.file.empty()) line["file"] = one.file;
    fmt::print("{}\n", line.dump());
  }
}

void print_table(const std::vector<Place>& found) {
  Table table({"--on", "world", "--lci", "what"});
  for (const Place& one : found) {
    table.add({one.name, one.kind, fmt::format("{}", fmt::join(implementations_on(one.name), ", ")),
               one.description});
  }
  fmt::print("{}", table.text());
}

// The platform whose NI memory the numbers of nodes are of, and the matrix of implementations.
struct Matrix {
  hw::Platform platform;
  std::vector<lci::Combination> combinations = lci::combinations();
};

Result<Matrix> matrix_on(const std::string& on) {
  for (const run::PlatformFile& one : run::list_platforms()) {
    if (one.name != on && one.path != on) continue;
    Result<hw::Platform> platform = hw::load_platform(one.path);
    if (!platform.ok()) return platform.error();
    if (platform.value().ni.find<hw::LanaiParams>() != nullptr) {
      return Matrix{std::move(platform.value())};
    }
    return Error{
        fmt::format("--on {}: its network interfaces run no control program; --lci may be: {}", on,
                    fmt::join(implementations_on(one.path), ", "))};
  }
  std::string known;
  for (const run::PlatformFile& one : run::list_platforms()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
  }
  return Error{fmt::format("--on {}: not a modelled platform; known: {}", on, known)};
}

constexpr std::uint32_t kMtus[] = {1024, 2048, 4096};

struct PartNames {
  const char* transfer;
  const char* reliability;
  const char* multicast;
};
PartNames names_of(const lci::Implementation& parts) {
  static constexpr const char* kReliability[] = {"none", "nirx", "hrx"};
  return {lci::transfer_name(parts.transfer),
          kReliability[static_cast<unsigned>(parts.reliability)],
          parts.multicast == lci::MulticastKind::ni ? "NI" : "hmc"};
}

std::uint32_t most_nodes(const Matrix& matrix, lci::Implementation parts, std::uint32_t mtu) {
  parts.mtu_bytes = mtu;
  return lci::most_nodes(parts, matrix.platform.ni.as<hw::LanaiParams>());
}

void print_matrix(const Matrix& matrix) {
  Table table({"transfer", "reliability", "multicast", "--lci", "1k", "2k", "4k", "why not"});
  for (const lci::Combination& one : matrix.combinations) {
    const PartNames names = names_of(one.parts);
    std::vector<std::string> cells = {names.transfer, names.reliability, names.multicast,
                                      one.why_not.empty() ? one.parts.name : "-"};
    for (const std::uint32_t mtu : kMtus) {
      const std::uint32_t most = most_nodes(matrix, one.parts, mtu);
      cells.push_back(!one.why_not.empty() ? "-" : most == 0 ? "any" : fmt::format("{}", most));
    }
    cells.emplace_back(one.why_not);
    table.add(std::move(cells));
  }
  fmt::print(
      "{}\n"
      "1k, 2k, 4k: the most nodes at that MTU on {}, by the receive buffers in NI memory ({} of 2 "
      "Kbyte).\n"
      "Add -1k, -2k or -4k for another MTU than 2 Kbyte (rcpy: 4 Kbyte), -binomial for another "
      "tree\n"
      "than a binary one.\n"
      "--set ni.receive_buffers=N is another NI's memory; it is shown with the results.\n",
      table.text(), matrix.platform.name, matrix.platform.ni.as<hw::LanaiParams>().receive_buffers);
}

void print_matrix_json(const Matrix& matrix) {
  for (const lci::Combination& one : matrix.combinations) {
    const PartNames names = names_of(one.parts);
    Json line = {{"transfer", names.transfer},
                 {"reliability", names.reliability},
                 {"multicast", names.multicast},
                 {"supported", one.why_not.empty()}};
    if (one.why_not.empty()) {
      line["lci"] = one.parts.name;
      for (const std::uint32_t mtu : kMtus) {
        const std::uint32_t most = most_nodes(matrix, one.parts, mtu);
        const std::string key = std::to_string(mtu);
        line["most_nodes"][key] = most == 0 ? Json() : Json(most);
      }
    } else {
      line["why_not"] = one.why_not;
    }
    fmt::print("{}\n", line.dump());
  }
}

}  // namespace

void add_platforms(CLI::App& app, int& exit_code) {
  auto* platforms = app.add_subcommand("platforms", "List the places a job can run on");
  struct Options {
    bool json = false;
    bool lci = false;
    std::string on = "myrinet-ppro";
  };
  auto options = std::make_shared<Options>();
  platforms->add_flag("--json", options->json, "One JSON object a line");
  platforms->add_flag("--lci", options->lci,
                      "The implementations of the low-level interface on modelled platforms: which "
                      "combinations exist, on how many nodes, and why others do not");
  platforms->add_option("--on", options->on, "The platform that --lci is about")
      ->capture_default_str()
      ->type_name("NAME");
  platforms->footer(kExamples);
  platforms->callback([options, &exit_code] {
    exit_code = 0;
    if (!options->lci) return options->json ? print_json(places()) : print_table(places());
    const Result<Matrix> matrix = matrix_on(options->on);
    if (!matrix.ok()) {
      fmt::print(stderr, "fairlead: {}\n", matrix.error().text);
      exit_code = 2;
      return;
    }
    if (options->json) return print_matrix_json(matrix.value());
    print_matrix(matrix.value());
  });
}

}  // namespace fairlead::tools
