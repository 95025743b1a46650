#include "tests/port/port_worlds.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>

#include "fairlead/fabric/ofi/ofi_nic.h"
#include "fairlead/lci/ni/implementations.h"

namespace fairlead::port_test {
namespace {
// Platforms whose network interfaces run no control program.
constexpr const char* kDirectPlatforms[] = {"generic-hca", "firelink", "qsnet-es40"};
}  // namespace

std::vector<std::string> real_worlds() {
  return {"shm", "udp", "lossy", "nirx", "ofitcp", "ofishm"};
}

std::string lacking(const std::string& world) {
  if (!world.starts_with("ofi")) return "";
  const auto here = fabric::ofi_providers(world.substr(3), "127.0.0.1");
  return here.ok() ? "" : here.error().text;
}

std::vector<std::string> worlds() {
  std::vector<std::string> all = real_worlds();
  all.insert(all.begin(), "loop");
  for (const std::string& name : lci::implementation_names()) {
    all.push_back("myrinet-p3/" + name);
    all.push_back("myrinet-p3/" + name + "@2");
  }
  all.insert(all.end(), {"millennium/via", "millennium/via@2"});
  for (const char* const platform : kDirectPlatforms) {
    all.emplace_back(platform);
    all.push_back(std::string(platform) + "@2");
  }
  return all;
}

bool modelled(const std::string& world) {
  return world.find('/') != std::string::npos ||
         std::any_of(std::begin(kDirectPlatforms), std::end(kDirectPlatforms),
                     [&world](const char* platform) { return world.starts_with(platform); });
}

std::string test_name(const std::string& world) {
  std::string name = world;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

run::WorldOptions options_of(const std::string& world, unsigned ranks) {
  run::WorldOptions options;
  options.ranks = ranks;
  const std::size_t at = world.find('@');
  if (at != std::string::npos) {
    options.ranks_per_node = static_cast<std::uint32_t>(std::stoul(world.substr(at + 1)));
  }
  options.on = world.substr(0, at);
  if (const std::size_t slash = options.on.find('/'); slash != std::string::npos) {
    options.lci = options.on.substr(slash + 1);
    options.on.resize(slash);
  } else if (world == "nirx") {
    options.on = "udp";
    options.lci = "nirx";
    options.ranks_per_node = 2;
  } else if (world == "lossy") {
    options.on = "udp";
    options.faults = "drop=0.01,dup=0.01,reorder=0.01,corrupt=0.01";
  } else if (world.starts_with("ofi")) {
    options.on = "ofi";
    options.provider = world.substr(3);
  }
  options.timeout = seconds(60);
  options.fiber_stack_kib = 256;
  return options;
}

run::RunReport run_ranks(const std::string& world, unsigned ranks,
                         const std::function<bool(run::Context&)>& body) {
  Result<run::RunReport> report = run::run_world(
      options_of(world, ranks), [&body](run::Context& rank) { return body(rank) ? 0 : 1; });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  if (!report.ok()) return {};
  EXPECT_EQ(report.value().exit_code, 0) << world << " with " << ranks << " ranks";
  EXPECT_EQ(report.value().failure, "");
  return report.value();
}

bool check(bool ok, const char* what, Rank rank, long long detail) {
  if (!ok) std::fprintf(stderr, "rank %u: not so: %s (%lld)\n", rank, what, detail);
  return ok;
}

Meeting::Meeting(lci::Port& port) : port_(port) {
  const auto came = [](void* self, lci::Packet*, const lci::Arrival&) {
    ++static_cast<Meeting*>(self)->came_.ok;
    return Keep::no;
  };
  port_.bind(kChan, {came, this}, {});
}

bool Meeting::meet() {
  ++met_;
  const lci::Words words{};
  for (Rank rank = 0; rank < port_.size(); ++rank) {
    if (rank == port_.self()) continue;
    if (port_.send_small({rank}, kChan, lci::Lane::request, words, {}, lci::kNoFlags) !=
        Post::done) {
      return false;
    }
  }
  // One packet of the next meeting may be among those counted; but who sent it has seen that all
  // had called this one.
  const std::uint64_t others = port_.size() - 1;
  return port_.wait({.counter = &came_, .at = met_ * others, .what = "the meeting"}) == Post::done;
}

}  // namespace fairlead::port_test
