#include "tools/fairlead/host_options.h"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <filesystem>

#include "fairlead/run/host_list.h"

namespace fairlead::tools {
namespace {
// `ip netns exec NODE PROGRAM`: a node is a network namespace of this machine.
constexpr const char kNodeShell[] = "ip netns exec";
}  // namespace

void add_host_options(CLI::App& app, HostChoice& choice) {
  app.add_option("--hosts", choice.hosts,
                 "Hosts, and how many ranks each takes: a:4,b:4; started by ssh, Fairlead and "
                 "the program must have the same paths there")
      ->type_name("HOST[:RANKS],...");
  app.add_option("--hostfile", choice.hostfile,
                 "The same from a file: a line per host, as 'a:4' or 'a slots=4'")
      ->type_name("FILE");
  app.add_option("--nodes", choice.nodes,
                 "Several nodes on this machine: network namespaces by name, as 'ip netns' lists "
                 "them")
      ->type_name("NAME[:RANKS],...");
  app.add_option("--rsh", choice.shell,
                 fmt::format("What starts a program on a host: RSH HOST PROGRAM; without it {}",
                             run::HostOptions::kDefaultShell))
      ->type_name("COMMAND");
}

Result<run::HostOptions> HostChoice::options(std::uint32_t& ranks) const {
  run::HostOptions made;
  const int given = (hosts.empty() ? 0 : 1) + (hostfile.empty() ? 0 : 1) + (nodes.empty() ? 0 : 1);
  if (given > 1) return Error{"--hosts, --hostfile and --nodes exclude each other"};
  if (given == 0) {
    if (!shell.empty()) return Error{"--rsh is for hosts: give some with --hosts"};
    return made;
  }
  Result<std::vector<run::HostSlots>> list = !hostfile.empty() ? run::read_hostfile(hostfile)
                                             : !hosts.empty()  ? run::parse_hosts(hosts)
                                                               : run::parse_hosts(nodes);
  if (!list.ok()) {
    return Error{hostfile.empty() ? fmt::format("{}: {}", nodes.empty() ? "--hosts" : "--nodes",
                                                list.error().text)
                                  : list.error().text};
  }
  if (ranks == 0) ranks = run::slots_of(list.value());
  list = run::place_ranks(list.value(), ranks);
  if (!list.ok()) return list.error();
  made.list = std::move(list.value());
  if (!nodes.empty()) {
    made.shell = kNodeShell;
    made.noun = "node";
  }
  if (!shell.empty()) made.shell = shell;
  std::error_code error;
  made.agent = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return Error{fmt::format("where this program is: {}", error.message())};
  return made;
}

}  // namespace fairlead::tools
