// fairlead platforms: the places a job can run on.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <sstream>

#include "fairlead/hw/lanai/lanai_params.h"
#include "fairlead/hw/platform.h"
#include "fairlead/lci/ni/implementations.h"
#include "fairlead/run/platform_files.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/json.h"
#include "tools/fairlead/subprocess.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

namespace fs = std::filesystem;

const char kExamples[] =
    "Examples:\n"
    "  fairlead platforms                       names for --on\n"
    "  fairlead platforms --json                one object a line, with the files\n"
    "  fairlead platforms --lci                 which implementations exist, and on how many "
    "nodes\n"
    "  FAIRLEAD_PLATFORMS=$HOME/clusters fairlead platforms    your own ones as well\n"
    "  fairlead platforms --show myrinet-p3 > mine.toml        a file to start from\n"
    "  fairlead platforms --check mine.toml\n"
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
  fmt::print("{}", table.text(kPageWidth));
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

// A line of a platform file that names a file beside it names it from anywhere.
std::string with_whole_path(const std::string& line, const fs::path& folder) {
  for (const char* const key : {"steps", "topology"}) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find('"');
    const std::size_t end = line.rfind(".toml\"");
    if (begin == std::string::npos || end == std::string::npos) continue;
    const std::string name = line.substr(begin + 1, end + 5 - begin - 1);
    return fmt::format("{}{}{}", line.substr(0, begin + 1), (folder / name).string(),
                       line.substr(end + 5));
  }
  return line;
}

int show(const std::string& name) {
  const Result<std::string> file = run::find_platform(name);
  if (!file.ok()) {
    complain(file.error().text);
    return kUsageExitCode;
  }
  const fs::path path = fs::absolute(file.value());
  fmt::print(
      "# A modelled machine. Begun from {0}; change what is otherwise on yours, and then:\n"
      "#   fairlead platforms --check FILE\n"
      "#   fairlead run -n 16 --on ./FILE ./prog\n"
      "# A number has its source, and a mark: from paper, fitted or guessed. MHz, MBps, us, ns and "
      "KiB in\n"
      "# a key are its unit. `steps` names the file with the costs, in cycles, of the steps that "
      "the network\n"
      "# interface's processor takes: copy that one too, to change them.\n",
      path.stem().string());
  std::istringstream lines(file_text(path.string()));
  for (std::string line; std::getline(lines, line);) {
    fmt::print("{}\n", with_whole_path(line, path.parent_path()));
  }
  return 0;
}

int check(const std::string& file) {
  const Result<hw::Platform> platform = hw::load_platform(file);
  if (!platform.ok()) {
    complain(platform.error().text);
    return kUsageExitCode;
  }
  const hw::Platform& machine = platform.value();
  fmt::print("{}: good. {}\nnetwork interface {} on a bus {}; --lci {}\n", file,
             machine.description, machine.ni->kind().name, machine.bus->kind().name,
             fmt::join(implementations_on(fs::absolute(file).string()), ", "));
  return 0;
}

}  // namespace

void add_platforms(CLI::App& app, int& exit_code) {
  auto* platforms = app.add_subcommand("platforms", "List the places a job can run on");
  struct Options {
    bool json = false;
    bool lci = false;
    std::string on = "myrinet-ppro";
    std::string show;
    std::string check;
  };
  auto options = std::make_shared<Options>();
  platforms->add_flag("--json", options->json, "One JSON object a line");
  platforms->add_flag("--lci", options->lci,
                      "The implementations of the low-level interface on modelled platforms: which "
                      "combinations exist, on how many nodes, and why others do not");
  platforms->add_option("--on", options->on, "The platform that --lci is about")
      ->capture_default_str()
      ->type_name("NAME");
  platforms
      ->add_option("--show", options->show,
                   "Print a modelled platform's file, to start a machine of one's own from")
      ->type_name("NAME");
  platforms
      ->add_option("--check", options->check,
                   "Read a platform file, and say what machine it describes or what is wrong")
      ->type_name("FILE");
  platforms->footer(kExamples);
  platforms->callback([options, &exit_code] {
    exit_code = 0;
    if (!options->show.empty()) {
      exit_code = show(options->show);
      return;
    }
    if (!options->check.empty()) {
      exit_code = check(options->check);
      return;
    }
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
