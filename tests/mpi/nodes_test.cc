// Collectives where several ranks share a node (collectives/nodes.h), on modelled machines: results
// on every kind of communicator, what crosses the network, and times.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/fabric/model/figures.h"
#include "tests/mpi/mpi_worlds.h"
#include "tests/mpi/node_collectives.h"
#include "tests/mpi/variable.h"

namespace fairlead::mpi_test {
namespace {

// A machine with so many ranks a node, the last node maybe with fewer.
struct Machine {
  const char* name;
  const char* on;
  int ranks;
  int each;
  const char* device = "";
};
const Machine kMachines[] = {
    {"myrinet", "myrinet-p3", 12, 4},
    {"myrinetUneven", "myrinet-p3", 8, 3},
    {"firelink", "firelink", 8, 4},
    {"firelinkStores", "firelink", 9, 3, "rsm"},
    {"adapters", "generic-hca", 10, 4},
    {"myrinetPanda", "myrinet-p3", 6, 2, "panda"},
    {"interfacesOfQsnet", "qsnet-es40", 8, 4},
};
const Machine& kMyrinet = kMachines[0];

run::RunReport run_on(const Machine& machine, const std::function<bool(int, int)>& program) {
  run::WorldOptions options;
  options.ranks = static_cast<unsigned>(machine.ranks);
  options.on = machine.on;
  options.ranks_per_node = static_cast<std::uint32_t>(machine.each);
  options.timeout = seconds(100);
  options.fiber_stack_kib = 256;
  options.figures = true;
  const Variable device("FAIRLEAD_MPI_DEVICE", machine.device);
  const Result<run::RunReport> report =
      run::run_world(options, [&program](run::Context&) { return run_between(program); });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

class Nodes : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Machines, Nodes, testing::ValuesIn(kMachines),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(Nodes, ResultsAreThoseOfMessagesStraightToAll) {
  const int each = GetParam().each;
  const run::RunReport report =
      run_on(GetParam(), [each](int, int) { return node_collectives(each); });
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.failure, "");
}

// Nobody leaves a barrier before the last has come, whether it leads its node or not. Modelled
// ranks have one clock.
TEST_P(Nodes, ABarrierWaitsForTheLast) {
  for (const int late : {0, 1, GetParam().each, GetParam().ranks - 1}) {
    const run::RunReport report = run_on(GetParam(), [late](int rank, int) {
      bool good = true;
      for (int i = 0; i < 3; ++i) {
        const double from = MPI_Wtime();
        while (rank == late && MPI_Wtime() < from + 2e-3) {
        }
        double came = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        const double left = MPI_Wtime();
        MPI_Bcast(&came, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
        good &= MPI_TEST_CHECK(left >= came, rank, (left - came) * 1e6);
      }
      return good;
    });
    EXPECT_EQ(report.exit_code, 0) << report.failure;
  }
}

// A member's call that goes another way is told to it, also where the two share a node.
TEST_P(Nodes, ARankInAnotherCallIsTold) {
  if (GetParam().on == std::string("qsnet-es40")) GTEST_SKIP() << "the network does barriers there";
  for (const int other : {0, 1, GetParam().ranks - 1}) {
    const run::RunReport report = run_on(GetParam(), [other](int rank, int) {
      int value = rank;
      int sum = 0;
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == other) {
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      } else {
        MPI_Barrier(MPI_COMM_WORLD);
      }
      return true;
    });
    EXPECT_NE(report.exit_code, 0);
    EXPECT_NE(report.failure.find("the ranks do not agree"), std::string::npos) << report.failure;
    EXPECT_NE(report.failure.find("MPI_Barrier"), std::string::npos) << report.failure;
    EXPECT_NE(report.failure.find("MPI_Allreduce"), std::string::npos) << report.failure;
  }
}

// What network interfaces were given to send: packets to ranks of the same node are not.
std::uint64_t packets_between_nodes(const run::RunReport& report) {
  for (const auto& handler : report.figures->handlers) {
    if (handler.name == std::string("descriptor")) return handler.count;
  }
  return 0;
}

TEST(NodesOfMyrinet, OneMessageOfEachNodeCrossesTheNetwork) {
  const auto packets = [](const std::function<void()>& call) {
    const auto of = [&](int calls) {
      return packets_between_nodes(run_on(kMyrinet, [&](int, int) {
        for (int i = 0; i < calls; ++i) call();
        return true;
      }));
    };
    return (of(11) - of(1)) / 10;
  };
  // Expect: three nodes in two rounds, whose leaders send in each
  EXPECT_EQ(packets([] { MPI_Barrier(MPI_COMM_WORLD); }), 6u);
  // Expect: pairs of two of the nodes, and the third before and after
  EXPECT_EQ(packets([] {
              double sum = 1;
              MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            }),
            4u);
  EXPECT_EQ(packets([] {
              std::array<int, 12> all{};
              MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
            }),
            6u);
  // Expect: one between each node and the root's, wherever that is
  for (const int root : {0, 3, 6}) {
    EXPECT_EQ(packets([root] {
                std::array<int, 12> all{};
                int own = 0;
                MPI_Gather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, root, MPI_COMM_WORLD);
              }),
              2u);
    EXPECT_EQ(packets([root] {
                std::array<int, 12> all{};
                int own = 0;
                MPI_Scatter(all.data(), 1, MPI_INT, &own, 1, MPI_INT, root, MPI_COMM_WORLD);
              }),
              2u);
  }
  // Expect: one to each node but the root's, wherever that is (blocking, it is one to all)
  for (const int root : {0, 3, 6}) {
    EXPECT_EQ(packets([root] {
                double value = root;
                MPI_Request request;
                MPI_Ibcast(&value, 1, MPI_DOUBLE, root, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
              }),
              2u);
  }
}

// Us that `call` takes on average, on the world or on its ranks dealt out to one node after the
// other.
double us_of(bool dealt_out, const std::function<void(MPI_Comm)>& call) {
  constexpr int kRounds = 10;
  double us = 0;
  const run::RunReport report = run_on(kMyrinet, [&](int rank, int size) {
    MPI_Comm comm = MPI_COMM_NULL;
    const int key = dealt_out ? rank % kMyrinet.each * size + rank : rank;
    MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
    call(comm);
    const double from = MPI_Wtime();
    for (int i = 0; i < kRounds; ++i) call(comm);
    if (rank == 0) us = (MPI_Wtime() - from) * 1e6 / kRounds;  // ranks are fibers of this process
    MPI_Comm_free(&comm);
    return true;
  });
  EXPECT_EQ(report.exit_code, 0) << report.failure;
  return us;
}

// Where the ranks of a node are far apart in the communicator, messages still cross the network
// once.
TEST(NodesOfMyrinet, HowRanksAreDealtOutHardlyMatters) {
  static std::vector<double> data(20'000);
  static std::vector<double> sums(20'000);
  static std::vector<double> all(12 * 20'000);
  const auto allreduce = [](int count) {
    return [count](MPI_Comm comm) {
      MPI_Allreduce(data.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, comm);
    };
  };
  const auto bcast = [](int count) {
    return [count](MPI_Comm comm) {
      MPI_Bcast(data.data(), count, MPI_DOUBLE, 0, comm);
      MPI_Barrier(comm);
    };
  };
  const auto allgather = [](int count) {
    return [count](MPI_Comm comm) {
      MPI_Allgather(data.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, comm);
    };
  };
  const auto gather = [](int count) {
    return [count](MPI_Comm comm) {
      MPI_Gather(data.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm);
      MPI_Barrier(comm);
    };
  };
  const auto scatter = [](int count) {
    return [count](MPI_Comm comm) {
      MPI_Scatter(all.data(), count, MPI_DOUBLE, data.data(), count, MPI_DOUBLE, 0, comm);
      MPI_Barrier(comm);
    };
  };
  const std::function<void(MPI_Comm)> calls[] = {
      allreduce(1),    allreduce(20'000), bcast(1),    bcast(20'000), allgather(1),
      allgather(5000), gather(1),         gather(500), scatter(1),    scatter(500)};
  for (const auto& call : calls) {
    const double in_order = us_of(false, call);
    const double dealt_out = us_of(true, call);
    EXPECT_LT(dealt_out, 1.15 * in_order) << "call " << &call - calls;
  }
}

}  // namespace
}  // namespace fairlead::mpi_test
