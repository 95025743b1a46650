#include "fairlead/run/option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "fairlead/base/check.h"

namespace fairlead::run {
namespace {

using Group = OptionGroup;

// A hundred days is the longest that Ps holds, and nobody's job.
constexpr Range<double> kTimeoutSeconds{0.001, 8'640'000};
constexpr Places kNetworks = kOnUdp | kOnOfi;
constexpr const char* kOfModels = "it is of modelled platforms; run the job by `fairlead run`";

constexpr std::array kOptions{
    JobOption{.flags = "-n,--ranks",
              .field = &WorldOptions::ranks,
              .group = Group::job,
              .places = kEverywhere,
              .type = "N",
              .help = "Ranks of the job; -np is the same",
              .range = {1, 1U << 20},
              .travels = true},
    JobOption{.flags = "--on",
              .field = &WorldOptions::on,
              .group = Group::job,
              .places = kEverywhere,
              .type = "PLACE",
              .help = "Where: shm (this machine), udp (its network interface), ofi (a network "
                      "through libfabric), loop (one thread, no time), or a modelled platform by "
                      "name or file",
              .travels = true,
              .environment = OptionVariable::refused,
              .instead = "FAIRLEAD_NETWORK says how nodes are joined; models are `fairlead run`'s"},
    JobOption{.flags = "--lci",
              .field = &WorldOptions::lci,
              .group = Group::job,
              .places = kEverywhere,
              .type = "NAME",
              .help = "Implementation of the low-level interface, for example sdma or pio; without "
                      "it the one that suits the place",
              .travels = true,
              .environment = OptionVariable::sets},
    JobOption{.flags = "--seed",
              .field = &WorldOptions::seed,
              .group = Group::job,
              .places = kEverywhere,
              .type = "N",
              .help = "Of the fault plan and of the model",
              .travels = true,
              .environment = OptionVariable::sets},
    JobOption{.flags = "--timeout",
              .field = &WorldOptions::timeout,
              .group = Group::job,
              .places = kEverywhere,
              .type = "SECONDS",
              .help = "End the job after so many seconds (exit code 124)",
              .environment = OptionVariable::refused,
              .instead = "ending the job is the launcher's"},
    JobOption{.flags = "--rank-memory",
              .field = &WorldOptions::rank_memory_mib,
              .group = Group::job,
              .places = kEverywhere,
              .type = "MIB",
              .help = "Memory that a rank may set aside for others to reach (heaps, windows, "
                      "shared pages), in MiB; it is address space until it is touched",
              .range = {1, 1U << 19},
              .travels = true,
              .environment = OptionVariable::sets},
    JobOption{.flags = "--memory",
              .field = &WorldOptions::memory,
              .group = Group::real,
              .places = kOnShm,
              .type = "FILE[,software]",
              .help = "File in memory that all hosts of the job share (DAX, famfs on CXL): their "
                      "ranks reach each other by it, and need no network. software: the hosts' "
                      "caches are not coherent there, and are flushed by hand",
              .travels = true,
              .environment = OptionVariable::refused,
              .instead = "only `fairlead run` starts ranks in a file"},
    JobOption{.flags = "--bind",
              .field = &WorldOptions::bind,
              .group = Group::real,
              .places = kEverywhere,
              .type = "CPUS",
              .help = "Processors of the ranks, and after them of NI engines, real world: auto, "
                      "none, or a list such as 0,2-3",
              .travels = true,
              .environment = OptionVariable::refused,
              .instead = "placing the ranks is the launcher's"},
    JobOption{.flags = "--auth",
              .field = &WorldOptions::auth,
              .group = Group::real,
              .places = kOnUdp,
              .type = "HOW",
              .help = "How datagrams are sealed on udp: header (tag over the headers), full (over "
                      "the data too), or encrypt",
              .words = "header, full, encrypt",
              .travels = true,
              .environment = OptionVariable::sets},
    JobOption{.flags = "--address",
              .field = &WorldOptions::address,
              .group = Group::real,
              .places = kNetworks,
              .type = "IP",
              .help = "Address of this host that udp and ofi use, or its network (10.1.0.0/24); "
                      "two, with a comma, are two rails",
              .travels = true},
    JobOption{.flags = "--mtu",
              .field = &WorldOptions::mtu,
              .group = Group::real,
              .places = kOnUdp,
              .type = "BYTES",
              .help = "Largest IP packet of udp, in bytes; without it the interface's",
              .range = {640, 65535},
              .travels = true,
              .environment = OptionVariable::sets},
    JobOption{.flags = "--provider",
              .field = &WorldOptions::provider,
              .group = Group::real,
              .places = kOnOfi,
              .type = "NAME",
              .help = "Provider of libfabric that ofi uses, for example tcp, shm, verbs or efa; "
                      "without it the best that is here (--show-paths says which, and why)",
              .travels = true,
              .environment = OptionVariable::sets},
    JobOption{.flags = "--faults",
              .field = &WorldOptions::faults,
              .group = Group::faults,
              .places = kEverywhere,
              .type = "PLAN",
              .help = "Drop, duplicate, reorder, delay or corrupt packets, of all links or of one, "
                      "or take a link down: drop=0.01,dup=0.001 link=3-7:drop=0.1 down=5@10ms+2ms "
                      "(commas between parts)",
              .travels = true,
              .environment = OptionVariable::sets},
    JobOption{.flags = "--topology",
              .field = &WorldOptions::topology,
              .group = Group::modelled,
              .places = kOnModel,
              .type = "NAME|FILE",
              .help = "Network of a modelled platform instead of its own: grid, clos, fat-tree, "
                      "single-switch, or a file (.toml) that lists switches and links",
              .environment = OptionVariable::refused,
              .instead = kOfModels},
    JobOption{.flags = "--set",
              .field = &WorldOptions::set,
              .group = Group::modelled,
              .places = kOnModel,
              .type = "SECTION.KEY=NUMBER",
              .help = "Another number than a modelled platform's file has, for example "
                      "ni.receive_buffers=2048; may be repeated, and is shown with the results",
              .environment = OptionVariable::refused,
              .instead = kOfModels},
    JobOption{.flags = "--stack-kib",
              .field = &WorldOptions::fiber_stack_kib,
              .group = Group::modelled,
              .places = kEverywhere,
              .type = "KIB",
              .help = "Stack of a rank that runs as a fiber, in KiB",
              .range = {16, 1U << 20}},
    // What it asks of udp is more than the place (welcome.cc).
    JobOption{.flags = "--ranks-per-node",
              .field = &WorldOptions::ranks_per_node,
              .group = Group::modelled,
              .places = kEverywhere,
              .type = "N",
              .help = "Ranks that share a node of a modelled platform, or an NI engine with --on "
                      "udp --lci nirx; without it each has one of its own, and on several hosts "
                      "those of a host have one engine. With --memory: so many behave as if they "
                      "had a host of their own",
              .range = {1, 1U << 20},
              .environment = OptionVariable::refused,
              .instead = "a node's ranks share one NI engine"},
    JobOption{.flags = "--compute",
              .field = &WorldOptions::compute,
              .group = Group::modelled,
              .places = kOnModel,
              .type = "HOW",
              .help = "Modelled computing time: declared (by the program), none, or measured (and "
                      "scaled to the platform)",
              .words = "declared, none, measured",
              .environment = OptionVariable::refused,
              .instead = kOfModels},
    JobOption{.flags = "--faster",
              .field = &WorldOptions::faster,
              .group = Group::modelled,
              .places = kOnModel,
              .type = "RESOURCE=FACTOR,...",
              .help = "A modelled platform with resources so many times as fast, for example "
                      "ni=2,link=1.5: host, bus, dma, ni, link, visibility"},
};

// "--mtu 12", but "FAIRLEAD_MTU=12".
std::string as_written(std::string_view written, std::string_view text) {
  return fmt::format("{}{}{}", written, written.ends_with('=') ? "" : " ", text);
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 2, list.size()));
  }
  return words;
}

// Which of the option's words it is.
Result<std::size_t> word_number(const JobOption& option, std::string_view written,
                                std::string_view text) {
  const std::vector<std::string_view> words = words_of(option.words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == text) return i;
  }
  return Error{fmt::format("{}: unknown; valid: {}", as_written(written, text), option.words)};
}

// Sets one member; an overload for each type of JobOption::Field.
struct Reading {
  const JobOption& option;
  std::string_view written;
  std::string_view text;

  Result<void> into(std::string& value) const {
    if (*option.words != '\0') {
      const Result<std::size_t> word = word_number(option, written, text);
      if (!word.ok()) return word.error();
    }
    value = text;
    return {};
  }
  template <std::unsigned_integral Whole>
  Result<void> into(Whole& value) const {
    const Range<Whole> limits{static_cast<Whole>(option.range.least),
                              static_cast<Whole>(std::min<std::uint64_t>(
                                  option.range.most, std::numeric_limits<Whole>::max()))};
    const Result<Whole> read = read_whole<Whole>(written, text, limits);
    if (!read.ok()) return read.error();
    value = read.value();
    return {};
  }
  Result<void> into(std::vector<std::string>& value) const {
    value.emplace_back(text);
    return {};
  }
  Result<void> into(Ps& value) const {
    const Result<double> read = read_real(written, text, "a number of seconds", kTimeoutSeconds);
    if (!read.ok()) return read.error();
    value = microseconds_rounded(read.value() * 1e6);
    return {};
  }
  Result<void> into(Compute& value) const {
    const Result<std::size_t> word = word_number(option, written, text);
    if (!word.ok()) return word.error();
    value = static_cast<Compute>(word.value());
    return {};
  }
};

struct Writing {
  const JobOption& option;

  std::vector<std::string> of(const std::string& value) const { return {value}; }
  template <std::unsigned_integral Whole>
  std::vector<std::string> of(Whole value) const {
    return {fmt::format("{}", value)};
  }
  std::vector<std::string> of(const std::vector<std::string>& value) const { return value; }
  std::vector<std::string> of(Ps value) const { return {fmt::format("{}", to_us(value) / 1e6)}; }
  std::vector<std::string> of(Compute value) const {
    return {std::string(words_of(option.words)[static_cast<std::size_t>(value)])};
  }
};

// "udp", "ofi", "networks", "shm".
std::string text_of(Places places) {
  if (places == kNetworks) return "networks";
  if (places == kOnShm) return "shm";
  return places == kOnUdp ? "udp" : "ofi";
}

const char* one_of(Places places) {
  return places == kNetworks ? "--on udp or --on ofi"
         : places == kOnShm  ? "--on shm"
         : places == kOnUdp  ? "--on udp"
                             : "--on ofi";
}

}  // namespace

std::string_view JobOption::name() const {
  const std::string_view all = flags;
  return all.substr(all.find("--") + 2);
}

std::string JobOption::variable() const {
  std::string made = "FAIRLEAD_";
  for (const char c : name()) {
    made += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return made;
}

std::span<const JobOption> job_options() { return kOptions; }

const JobOption& job_option(std::string_view name) {
  for (const JobOption& option : kOptions) {
    if (option.name() == name) return option;
  }
  FAIRLEAD_CHECK(false, "no option --{}", name);
}

Result<void> read_option(const JobOption& option, std::string_view written, std::string_view text,
                         WorldOptions& options) {
  const Reading reading{option, written, text};
  return std::visit([&](auto member) { return reading.into(options.*member); }, option.field);
}

std::vector<std::string> option_texts(const JobOption& option, const WorldOptions& options) {
  static const WorldOptions plain;
  return std::visit(
      [&](auto member) -> std::vector<std::string> {
        if (options.*member == plain.*member) return {};
        return Writing{option}.of(options.*member);
      },
      option.field);
}

std::string default_text(const JobOption& option) {
  static const WorldOptions plain;
  return std::visit(
      [&](auto member) -> std::string {
        using Value = std::remove_cvref_t<decltype(plain.*member)>;
        // None of these is a value that a user could ask for.
        if constexpr (std::is_same_v<Value, Ps>) return "";
        if (plain.*member == Value{} && *option.words == '\0') return "";
        return Writing{option}.of(plain.*member).front();
      },
      option.field);
}

Error not_modelled(std::string_view what, std::string_view place, std::string_view example) {
  return Error{fmt::format("{} works on modelled platforms only, and not on {}: try --on {}", what,
                           place, example)};
}

Result<void> check_options(const WorldOptions& options) {
  const Places used = places_of(options);
  constexpr std::uint64_t kAddressesMib = 1ULL << 26;
  const std::uint64_t mib = options.rank_memory_mib;
  if (mib > WorldOptions{}.rank_memory_mib && mib * options.ranks > kAddressesMib) {
    return Error{fmt::format(
        "--rank-memory {}: {} ranks of so much need more than the 64 TiB of address space that "
        "there are; try {}",
        mib, options.ranks, kAddressesMib / options.ranks)};
  }
  for (const JobOption& option : kOptions) {
    if (option.places == kEverywhere) continue;
    const std::string written = fmt::format("--{}", option.name());
    for (const std::string& text : option_texts(option, options)) {
      if ((option.places & used) == 0) {
        if (option.places == kOnModel) return not_modelled(written, options.on);
        return Error{fmt::format("{} is of {}, and not of {}: try {}", written,
                                 text_of(option.places), options.on, one_of(option.places))};
      }
      WorldOptions ignored;
      if (Result<void> r = read_option(option, written, text, ignored); !r.ok()) return r;
    }
  }
  return {};
}

}  // namespace fairlead::run
