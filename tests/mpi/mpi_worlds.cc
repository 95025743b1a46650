#include "tests/mpi/mpi_worlds.h"

#include <cctype>
#include <cstdio>
#include <string_view>

#include "fairlead/fabric/ofi/ofi_nic.h"
#include "fairlead/systems/mpi/job_options.h"

namespace fairlead::mpi_test {
namespace {

// Before the name of a world: MPI on that device there.
constexpr const char* kDevices[] = {"panda", "rsm", "tports", "auto"};

}  // namespace

std::vector<std::string> worlds() {
  std::vector<std::string> all = {"loop",         "shm",        "udp",        "lossy",
                                  "nirx",         "lossynirx",  "myrinet-p3", "generic-hca",
                                  "myrinet-p3@2", "firelink@2", "ofitcp",     "ofishm"};
  for (const char* world :
       {"shm", "udp", "lossy", "myrinet-ppro", "myrinet-p3", "myrinet-ppro/rcpy"}) {
    all.push_back(std::string("panda") + world);
  }
  all.push_back("rsmfirelink@2");
  return all;
}

std::vector<std::string> tports_worlds() { return {"tportsshm", "tportsqsnet-es40"}; }

std::string test_name(const std::string& world) {
  std::string name = world;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
}

void PerWorld::SetUp() {
  if (!GetParam().starts_with("ofi")) return;
  const auto here = fabric::ofi_providers(GetParam().substr(3), "127.0.0.1");
  if (!here.ok()) GTEST_SKIP() << here.error().text;
}

run::RunReport run_bare(const std::string& world, unsigned ranks,
                        const std::function<int()>& body) {
  for (const std::string_view device : kDevices) {
    if (!world.starts_with(device)) continue;
    setenv(mpi::JobOptions::kDeviceVariable, device.data(), 1);
    const run::RunReport report = run_bare(world.substr(device.size()), ranks, body);
    unsetenv(mpi::JobOptions::kDeviceVariable);
    return report;
  }
  run::WorldOptions options;
  options.ranks = ranks;
  options.on = world.substr(0, world.find_first_of("@/"));
  const std::string rest = world.substr(options.on.size());
  if (rest.starts_with('@')) {
    options.ranks_per_node = static_cast<std::uint32_t>(std::stoul(rest.substr(1)));
  } else if (rest.starts_with('/')) {
    options.lci = rest.substr(1);
  }
  if (world.ends_with("nirx")) {
    options.on = "udp";
    options.lci = "nirx";
    options.ranks_per_node = 2;
  }
  if (world.starts_with("lossy")) {
    options.on = "udp";
    options.faults = "drop=0.01,dup=0.01,reorder=0.01,corrupt=0.01";
  }
  if (world.rfind("ofi", 0) == 0) {
    options.on = "ofi";
    options.provider = world.substr(3);
  }
  options.timeout = seconds(60);
  options.fiber_stack_kib = 256;
  Result<run::RunReport> report =
      run::run_world(options, [&body](run::Context&) { return body(); });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

int run_between(const std::function<bool(int, int)>& program) {
  MPI_Init(nullptr, nullptr);
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool good = program(rank, size);
  MPI_Finalize();
  return good ? 0 : 1;
}

void run_ranks(const std::string& world, unsigned ranks,
               const std::function<bool(int, int)>& program) {
  const run::RunReport report = run_bare(world, ranks, [&program] { return run_between(program); });
  EXPECT_EQ(report.exit_code, 0) << world << " with " << ranks << " ranks: " << report.failure;
  EXPECT_EQ(report.failure, "");
}

std::vector<unsigned char> patterned(std::size_t size, unsigned seed) {
  std::vector<unsigned char> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = pattern(i, seed);
  return made;
}

bool check(bool ok, const char* what, int rank, long long detail) {
  if (!ok) std::fprintf(stderr, "rank %d: not so: %s (%lld)\n", rank, what, detail);
  return ok;
}

}  // namespace fairlead::mpi_test
