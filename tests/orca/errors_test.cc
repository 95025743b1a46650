// What a program does wrong, and ranks that are lost, end the job with the rank, the object and the
// operation.
#include <csignal>

#include "tests/expect_words.h"
#include "tests/orca/orca_worlds.h"

namespace fairlead::orca_test {
namespace {

struct Box {
  std::vector<std::byte> bytes;
  auto fields() { return std::tie(bytes); }
  void put(const std::vector<std::byte>& value) { bytes = value; }
  std::size_t size() const { return bytes.size(); }
  bool full() const { return !bytes.empty(); }
  std::size_t await() const { return bytes.size(); }
  std::size_t undeclared() const { return 0; }
};

struct Nested {
  Orca* me = nullptr;
  Object<Box> box;
  std::size_t ask() const { return me->invoke<&Box::size>(box); }
};

void kills_itself(Orca& me, Object<Report> report) {
  if (me.self() == 2) (void)std::raise(SIGKILL);
  me.invoke<&Report::done>(report, true);
}
void asks(Orca& me, Object<Report> report, Object<Box> box) {
  me.invoke<&Report::done>(report, me.invoke<&Box::size>(box) == 0);
}
void waits(Orca& me, Object<Report> report, Object<Box> box) {
  me.invoke<&Report::done>(report, me.invoke<&Box::await>(box) == 0);
}
void undeclared(Orca&) {}

Program boxes() {
  Program program = with_report();
  program.type<Box>("box")
      .operation<&Box::put>("put")
      .operation<&Box::size>("size")
      .operation<&Box::await, &Box::full>("await");
  program.process<&kills_itself>("kills itself").process<&asks>("asks").process<&waits>("waits");
  return program;
}

std::string failure_of(const run::WorldOptions& world, const Program& program,
                       const std::function<void(Job&)>& main) {
  const run::RunReport report = run_bare(world, program, [&](Orca& me) {
    Job job(me);
    main(job);
    return true;
  });
  EXPECT_NE(report.exit_code, 0);
  return report.failure;
}

// One world of each kind: what is tested is the system's own.
class OrcaErrors : public ::testing::TestWithParam<std::string> {
 protected:
  std::string failure(const std::function<void(Job&)>& main) const {
    return failure_of(port_test::options_of(GetParam(), 3), boxes(), main);
  }
};
INSTANTIATE_PORT_TESTS_IN(OrcaErrors, ::testing::Values("loop", "shm", "udp", "myrinet-p3/pio"));

TEST_P(OrcaErrors, ADeletedObject) {
  for (const Placement placement : {Placement::single, Placement::replicated}) {
    for (const Rank rank : {0u, 2u}) {
      expect_words(
          failure([placement, rank](Job& job) {
            const Object<Box> box = job.me.create<Box>(placement);
            job.me.destroy(box);
            job.fork<&asks>(rank, box);
            (void)job.all_good();
          }),
          {"rank " + std::to_string(rank), "operation box.size on object 1 of rank 0", "deleted"});
    }
  }
}

TEST_P(OrcaErrors, AnObjectDeletedUnderAGuard) {
  expect_words(failure([](Job& job) {
                 const Object<Box> box = job.me.create<Box>(Placement::single);
                 job.fork<&waits>(2, box);
                 // Until it waits there.
                 while (job.me.counts().waited == 0) job.me.yield();
                 job.me.destroy(box);
                 (void)job.all_good();
               }),
               {"rank 2", "operation box.await on object 1 of rank 0", "deleted"});
}

TEST_P(OrcaErrors, AnObjectThatNeverWas) {
  expect_words(failure([](Job& job) {
                 job.fork<&asks>(1, Object<Box>{std::uint64_t{2} << 32 | 7});
                 (void)job.all_good();
               }),
               {"rank 1", "operation box.size on object 7 of rank 2", "rank 2 knows no such"});
}

TEST_P(OrcaErrors, ParametersTooLarge) {
  expect_words(failure([](Job& job) {
                 const Object<Box> box = job.me.create<Box>(Placement::single);
                 const std::vector<std::byte> large(orca::kValueBytesMax + 1);
                 for (Rank rank = 0; rank < job.me.size(); ++rank) job.fork<&waits>(rank, box);
                 // By the way that every guarded or remote operation goes.
                 const Object<Box> replica = job.me.create<Box>(Placement::replicated);
                 job.me.invoke<&Box::put>(replica, large);
               }),
               {"rank 0", "operation box.put on object 2 of rank 0", "at most 16777216"});
}

TEST_P(OrcaErrors, UndeclaredOnes) {
  expect_words(failure([](Job& job) {
                 (void)job.me.invoke<&Box::undeclared>(job.me.create<Box>(Placement::single));
               }),
               {"rank 0", "type box was not declared with", "Program::TypeOf::operation"});
  expect_words(failure([](Job& job) { job.me.create<Nested>(Placement::single); }),
               {"rank 0", "not declared with", "Program::type"});
  expect_words(failure([](Job& job) { job.me.fork<&undeclared>(1); }),
               {"rank 0", "not declared with", "Program::process"});
  expect_words(failure([](Job& job) { job.fork<&kills_itself>(3); }), {"rank 0", "rank 3 of 3"});
}

TEST_P(OrcaErrors, AnOperationInsideOfAnother) {
  Program program = boxes();
  program.type<Nested>("nested").operation<&Nested::ask>("ask");
  expect_words(failure_of(port_test::options_of(GetParam(), 2), program,
                          [](Job& job) {
                            const Nested nested{&job.me, job.me.create<Box>(Placement::single)};
                            const auto outer = job.me.create<Nested>(Placement::single, nested);
                            (void)job.me.invoke<&Nested::ask>(outer);
                          }),
               {"rank 0", "an operation inside of an operation (operation nested.ask)"});
}

TEST_P(OrcaErrors, OtherProgramsOnOneRank) {
  const Program right = boxes();
  Program wrong = boxes();
  wrong.process<&undeclared>("undeclared");
  const Result<run::RunReport> report =
      run::run_world(port_test::options_of(GetParam(), 3), [&](run::Context& context) {
        const bool odd = context.port().self() == 2;
        return orca::run(context, odd ? wrong : right, {}, [](Orca&) {}).ok() ? 0 : 1;
      });
  ASSERT_TRUE(report.ok());
  expect_words(report.value().failure, {"rank 2 declared other types"});
}

// Expect: the model finds that nothing can go on, and names the guards that all wait for.
TEST(OrcaGuards, ThatCanNeverHoldAreNamed) {
  for (const Placement placement : {Placement::single, Placement::replicated}) {
    expect_words(failure_of(port_test::options_of("myrinet-p3/pio", 3), boxes(),
                            [placement](Job& job) {
                              const Object<Box> box = job.me.create<Box>(placement);
                              job.fork_everywhere<&waits>(1, box);
                              (void)job.all_good();
                            }),
                 {"operation box.await, whose guard has to hold",
                  "operation report.all good, whose guard has to hold"});
  }
}

class OrcaLostRanks : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(OrcaLostRanks, ::testing::Values("shm", "udp", "lossy", "nirx"));

TEST_P(OrcaLostRanks, EndTheJobWithTheirNumber) {
  expect_words(failure_of(port_test::options_of(GetParam(), 3), boxes(),
                          [](Job& job) {
                            job.fork_everywhere<&kills_itself>(1);
                            (void)job.all_good();
                          }),
               {"rank 2"});
}

}  // namespace
}  // namespace fairlead::orca_test
