#include "fairlead/run/option_table.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead::run {
namespace {

// A value other than the default, as a user writes it.
std::string sample_of(const JobOption& option) {
  if (*option.words != '\0') {
    const std::string_view words = option.words;
    return std::string(words.substr(words.rfind(' ') + 1));
  }
  const bool is_text = std::holds_alternative<std::string WorldOptions::*>(option.field);
  return is_text ? "other" : "1000";
}

WorldOptions with(std::string_view name, const std::string& text) {
  WorldOptions options;
  EXPECT_TRUE(read_option(job_option(name), "--x", text, options).ok()) << name;
  return options;
}

std::string refusal(const WorldOptions& options) {
  const Result<void> checked = check_options(options);
  return checked.ok() ? "" : checked.error().text;
}

TEST(JobOptions, EachHasANameAndAMemberOfItsOwn) {
  std::set<std::string_view> names;
  std::set<std::string> variables;
  for (const JobOption& option : job_options()) {
    EXPECT_TRUE(names.insert(option.name()).second) << option.name();
    EXPECT_TRUE(variables.insert(option.variable()).second) << option.name();
    const WorldOptions changed = with(option.name(), sample_of(option));
    for (const JobOption& other : job_options()) {
      // Expect: what was set, and nothing else, has another value than its default
      EXPECT_EQ(option_texts(other, changed).empty(), &other != &option)
          << option.name() << " and " << other.name();
    }
  }
  EXPECT_EQ(job_option("ranks-per-node").variable(), "FAIRLEAD_RANKS_PER_NODE");
}

TEST(JobOptions, AreWrittenAsTheyAreRead) {
  for (const JobOption& option : job_options()) {
    const std::string text = sample_of(option);
    EXPECT_EQ(option_texts(option, with(option.name(), text)), std::vector<std::string>{text});
    // Expect: a default that is shown is one that may be given
    const std::string plain = default_text(option);
    if (plain.empty()) continue;
    EXPECT_TRUE(option_texts(option, with(option.name(), plain)).empty()) << option.name();
  }
  EXPECT_EQ(default_text(job_option("ranks")), "2");
  EXPECT_EQ(default_text(job_option("compute")), "declared");
  EXPECT_EQ(default_text(job_option("mtu")), "");
  EXPECT_EQ(default_text(job_option("timeout")), "");
  EXPECT_EQ(with("timeout", "1.5").timeout, milliseconds(1500));
}

TEST(JobOptions, OneThatMayBeRepeatedKeepsAllValues) {
  WorldOptions options = with("set", "ni.clock_MHz=66");
  EXPECT_TRUE(read_option(job_option("set"), "--set", "ni.window=4", options).ok());
  EXPECT_EQ(option_texts(job_option("set"), options),
            (std::vector<std::string>{"ni.clock_MHz=66", "ni.window=4"}));
}

TEST(JobOptions, WrongValuesAreNamedWithWhatIsValid) {
  const struct {
    const char *name, *written, *text, *says;
  } cases[] = {
      {"auth", "--auth", "rot13", "--auth rot13: unknown; valid: header, full, encrypt"},
      {"auth", "FAIRLEAD_AUTH=", "", "FAIRLEAD_AUTH=: unknown; valid: header, full, encrypt"},
      {"compute", "--compute", "some", "--compute some: unknown; valid: declared, none, measured"},
      {"mtu", "FAIRLEAD_MTU=", "12", "FAIRLEAD_MTU=12: must be a whole number from 640 to 65535"},
      {"ranks", "--ranks", "-1", "--ranks -1: must be a whole number from 1 to 2^20"},
      {"timeout", "--timeout", "nan", "--timeout nan: must be a number of seconds"}};
  for (const auto& [name, written, text, says] : cases) {
    WorldOptions options;
    const Result<void> read = read_option(job_option(name), written, text, options);
    ASSERT_FALSE(read.ok()) << name;
    EXPECT_EQ(read.error().text.substr(0, std::string_view(says).size()), says);
    // Expect: nothing was set
    EXPECT_TRUE(option_texts(job_option(name), options).empty()) << name;
  }
}

TEST(JobOptions, AskForNoMoreMemoryThanThereAreAddresses) {
  WorldOptions options = with("rank-memory", "524288");
  EXPECT_EQ(rank_memory(options), 1ULL << 39);
  EXPECT_TRUE(check_options(options).ok());
  options.ranks = 200;
  EXPECT_EQ(check_options(options).error().text,
            "--rank-memory 524288: 200 ranks of so much need more than the 64 TiB of address space "
            "that there are; try 335544");
}

TEST(JobOptions, VariablesThatAreRefusedSayWhatToDoInstead) {
  for (const JobOption& option : job_options()) {
    EXPECT_EQ(*option.instead != '\0', option.environment == OptionVariable::refused)
        << option.name();
  }
  EXPECT_EQ(job_option("mtu").environment, OptionVariable::sets);
  EXPECT_EQ(job_option("timeout").environment, OptionVariable::refused);
  EXPECT_EQ(job_option("ranks").environment, OptionVariable::ignored);
}

TEST(JobOptions, HaveAMeaningAtSomePlacesOnly) {
  const struct {
    const char *name, *text, *on, *says;
  } cases[] = {{"mtu", "1400", "shm", "--mtu is of udp, and not of shm: try --on udp"},
               {"provider", "tcp", "udp", "--provider is of ofi, and not of udp: try --on ofi"},
               {"address", "10.0.0.1", "loop",
                "--address is of networks, and not of loop: try --on udp or --on ofi"},
               {"topology", "grid", "shm",
                "--topology works on modelled platforms only, and not on shm: try --on myrinet-p3"},
               {"memory", "f", "udp", "--memory is of shm, and not of udp: try --on shm"},
               {"memory", "f", "shm", ""},
               {"mtu", "1400", "udp", ""},
               {"faster", "ni=2", "myrinet-p3", ""},
               {"address", "10.0.0.1", "ofi", ""}};
  for (const auto& [name, text, on, says] : cases) {
    WorldOptions options = with(name, text);
    options.on = on;
    EXPECT_EQ(refusal(options), says);
  }
  EXPECT_EQ(not_modelled("sweep", "udp", "qsnet-es40").text,
            "sweep works on modelled platforms only, and not on udp: try --on qsnet-es40");
  // Expect: between nodes a job on shared memory uses udp
  WorldOptions nodes = with("mtu", "1400");
  nodes.several_nodes = true;
  EXPECT_EQ(refusal(nodes), "");
  // Expect: not where hosts share the job's memory
  nodes.memory = "f";
  EXPECT_EQ(refusal(nodes), "--mtu is of udp, and not of shm: try --on udp");
  nodes.memory.clear();
  // Expect: what a program filled in is checked like what a user wrote
  nodes.mtu = 12;
  EXPECT_EQ(refusal(nodes), "--mtu 12: must be a whole number from 640 to 65535");
}

}  // namespace
}  // namespace fairlead::run
