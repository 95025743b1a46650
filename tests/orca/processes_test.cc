// Processes, their objects and their end.
#include "tests/orca/orca_worlds.h"

namespace fairlead::orca_test {
namespace {

class OrcaProcesses : public port_test::PerWorld {};
INSTANTIATE_PORT_TESTS(OrcaProcesses);

struct Tree {
  std::vector<std::uint32_t> leaves;  // by rank
  auto fields() { return std::tie(leaves); }
  void leaf(std::uint32_t rank) {
    if (leaves.size() <= rank) leaves.resize(rank + 1);
    ++leaves[rank];
  }
  std::uint32_t sum() const {
    std::uint32_t all = 0;
    for (const std::uint32_t each : leaves) all += each;
    return all;
  }
};

// Forks two of its kind on the ranks behind its own; the leaves count themselves.
void branch(Orca& me, std::uint32_t depth, Object<Tree> tree, const std::string& path) {
  if (!ORCA_TEST_CHECK(path.size() == 5 - depth, me, depth)) return;
  if (depth == 0) return me.invoke<&Tree::leaf>(tree, me.self());
  for (const char* way : {"l", "r"}) {
    me.fork<&branch>((me.self() + 1 + (way[0] == 'r' ? 1 : 0)) % me.size(), depth - 1, tree,
                     path + way);
  }
}

// Expect: the job ends when the last grandchild has, long after the first process.
TEST_P(OrcaProcesses, EndWhenTheLastOneDoes) {
  Program program;
  program.type<Tree>("tree").operation<&Tree::leaf>("leaf").operation<&Tree::sum>("sum");
  program.process<&branch>("branch");
  for (const unsigned ranks : {1u, 3u}) {
    for (const Placement placement : {Placement::single, Placement::replicated}) {
      const run::RunReport report =
          run::run_world(port_test::options_of(GetParam(), ranks), [&](run::Context& context) {
            Object<Tree> tree;
            Orca* first = nullptr;
            const Result<void> done = orca::run(context, program, {}, [&](Orca& me) {
              first = &me;
              tree = me.create<Tree>(placement);
              me.fork<&branch>(me.size() - 1, 5u, tree, std::string());
            });
            // Its own copy, after the end: rank 0 is the owner.
            return done.ok() && (first == nullptr || first->invoke<&Tree::sum>(tree) == 32) ? 0 : 1;
          }).value();
      EXPECT_EQ(report.exit_code, 0) << report.failure;
    }
  }
}

}  // namespace
}  // namespace fairlead::orca_test
