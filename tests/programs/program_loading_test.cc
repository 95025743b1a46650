#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/run/launch/launcher.h"
#include "fairlead/run/rank/elf_image.h"
#include "fairlead/run/rank/program.h"

namespace fairlead::run {
namespace {

std::string program(const std::string& name) { return FAIRLEAD_TEST_PROGRAMS "/program_" + name; }

int call(const LoadedProgram& loaded, std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  return loaded.main()(static_cast<int>(arguments.size()), argv.data(), environ);
}

std::string refusal(const std::string& path) {
  const auto loaded = load_program(path);
  EXPECT_FALSE(loaded.ok());
  return loaded.ok() ? "" : loaded.error().text;
}

TEST(LoadProgram, MainRunsAsOftenAsCalledAndPrints) {
  const auto loaded = load_program(program("clean"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  for (int i = 0; i < 2; ++i) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = call(loaded.value(), {"me", "x"});
    std::fflush(nullptr);
    // Expect: through this process's own streams, and the exit code of main
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "me: 2 arguments, seven, sum 17\n");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "and an error line\n");
    EXPECT_EQ(code, 2);
  }
}

TEST(LoadProgram, CppWithExceptionsAndVirtualFunctions) {
  const auto loaded = load_program(program("clean_cpp"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  testing::internal::CaptureStdout();
  const int code = call(loaded.value(), {"me"});
  std::fflush(nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "caught with 4 corners\n");
  EXPECT_EQ(code, 4);
}

TEST(LoadProgram, TwoProgramsAtOnceDoNotGetMixedUp) {
  const auto first = load_program(program("clean_cpp"));
  const auto second = load_program(program("marked"));
  ASSERT_TRUE(first.ok() && second.ok());
  // Expect: each main is its own
  testing::internal::CaptureStdout();
  EXPECT_EQ(call(first.value(), {"me"}), 4);
  std::fflush(nullptr);
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(call(second.value(), {"me"}), 1);
}

TEST(LoadProgram, WhatRanksWouldShareIsNamedWithTheWayOut) {
  const std::pair<const char*, const char*> cases[] = {
      {"with_global", "global variable iterations_done (4 bytes)"},
      {"with_static_cpp", "solver::next_id()::last_id"},
      {"with_tls", "thread-local variable depth_of_recursion"},
      {"with_getopt", "library variable optarg"},
  };
  for (const auto& [name, symbol] : cases) {
    // Expect: the symbol, readable, and --body process
    const std::string text = refusal(program(name));
    EXPECT_NE(text.find(symbol), std::string::npos) << text;
    EXPECT_NE(text.find("--body process"), std::string::npos) << text;
  }
}

TEST(LoadProgram, WhatIsNoSuchProgramIsSaid) {
  EXPECT_NE(refusal(program("static")).find("position-independent"), std::string::npos);
  EXPECT_NE(refusal(program("stripped")).find("stripped"), std::string::npos);
  EXPECT_NE(refusal("/no/such/file").find("cannot read"), std::string::npos);
  EXPECT_NE(refusal(FAIRLEAD_TEST_SOURCES "/clean.c").find("not an ELF"), std::string::npos);
}

TEST(LoadProgram, TheMarkOfAFiberProgram) {
  EXPECT_TRUE(is_fiber_program(program("marked")).value());
  EXPECT_FALSE(is_fiber_program(program("clean")).value());
  // Expect: a script is no fiber program, a missing file is an error
  EXPECT_FALSE(is_fiber_program(FAIRLEAD_TEST_SOURCES "/clean.c").value());
  EXPECT_FALSE(is_fiber_program("/no/such/file").ok());
}

TEST(ElfImage, DamagedFilesAreReadWithoutHarm) {
  std::ifstream file(program("with_tls"), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  Prng random(11);
  int parsed = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad =
        good.substr(0, random.below(4) == 0 ? random.below(good.size()) : good.size());
    // Half of the damage hits the headers, where it matters most.
    for (int hits = 0; hits < 8 && !bad.empty(); ++hits) {
      const std::uint64_t range =
          hits % 2 == 0 ? std::min<std::uint64_t>(bad.size(), 1024) : bad.size();
      bad[random.below(range)] = static_cast<char>(random.next());
    }
    const auto image = ElfImage::parse(std::as_bytes(std::span(bad)));
    if (!image.ok()) continue;
    ++parsed;
    // Expect: nothing that was read points outside the file
    for (const ElfImage::Symbol& symbol : image.value().symbols()) {
      if (symbol.name.empty()) continue;
      ASSERT_GE(symbol.name.data(), bad.data());
      ASSERT_LE(symbol.name.data() + symbol.name.size(), bad.data() + bad.size());
    }
    (void)image.value().dynamic_strings(DT_NEEDED);
    (void)image.value().dynamic_value_offset(DT_FLAGS_1);
  }
  EXPECT_GT(parsed, 100);
}

TEST(LaunchFibers, AMarkedProgramRunsOnLoopOncePerRank) {
  LaunchOptions options;
  options.world.ranks = 5;
  options.world.on = "loop";
  options.command = {program("ranks")};
  const auto report = launch(options);
  ASSERT_TRUE(report.ok()) << report.error().text;
  // Expect: five ranks passed a packet around the ring
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
  EXPECT_EQ(report.value().ranks.size(), 5u);
  EXPECT_EQ(report.value().counters.packets_sent, 5u);
}

TEST(LaunchFibers, TheSameBinaryRunsAsProcesses) {
  LaunchOptions options;
  options.world.ranks = 3;
  options.command = {program("ranks")};
  const auto report = launch(options);
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
  EXPECT_EQ(report.value().counters.packets_sent, 3u);
}

TEST(LaunchFibers, WhatNeedsProcessesIsRefused) {
  LaunchOptions options;
  options.world.on = "loop";
  options.command = {program("clean")};
  const auto unmarked = launch(options);
  // Expect: an unmarked program is not run as fibers unasked
  ASSERT_FALSE(unmarked.ok());
  EXPECT_NE(unmarked.error().text.find("--body fiber"), std::string::npos);
  options.command = {program("marked")};
  options.label = true;
  const auto labelled = launch(options);
  ASSERT_FALSE(labelled.ok());
  EXPECT_NE(labelled.error().text.find("--label"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::run
