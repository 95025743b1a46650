#include "fairlead/run/join/pmi1_messages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead::run {
namespace {

using Nodes = std::vector<std::uint32_t>;

TEST(Pmi1Line, FieldsOfWhatLaunchersSend) {
  const std::string text = "cmd=get_result rc=0 msg=success value=(vector,(0,1,4))";
  const auto line = parse_pmi1_line(text);
  ASSERT_TRUE(line.ok()) << line.error().text;
  // Expect: the values, also one with '=' in it; nothing for a name that is not there
  EXPECT_EQ(line.value().get("cmd"), "get_result");
  EXPECT_EQ(line.value().number("rc"), 0);
  EXPECT_EQ(line.value().get("value"), "(vector,(0,1,4))");
  EXPECT_EQ(line.value().get("key"), "");
  EXPECT_EQ(line.value().number("msg"), std::nullopt);
  EXPECT_EQ(parse_pmi1_line("cmd=x value=a=b").value().get("value"), "a=b");
  // Expect: free text and double blanks are passed over
  EXPECT_EQ(parse_pmi1_line("cmd=x  msg=key not found rc=-1").value().number("rc"), -1);
}

TEST(Pmi1Line, RefusesWhatIsNone) {
  for (const std::string& text :
       {std::string(), std::string("rc=0"), std::string("=cmd"), std::string("cmd="),
        std::string("cmd=a\0b", 7), "cmd=" + std::string(kPmi1LineMax, 'x')}) {
    EXPECT_FALSE(parse_pmi1_line(text).ok()) << text.substr(0, 20);
  }
  std::string many = "cmd=x";
  for (std::size_t i = 1; i < kPmi1FieldsMax; ++i) many += " a=b";
  // Expect: as many fields as are allowed, and not one more
  EXPECT_TRUE(parse_pmi1_line(many).ok());
  EXPECT_FALSE(parse_pmi1_line(many + " a=b").ok());
}

TEST(Pmi1Lines, OfAnyPieces) {
  Pmi1Lines lines;
  ASSERT_TRUE(lines.append("cmd=a\ncm").ok());
  EXPECT_EQ(lines.next(), "cmd=a");
  EXPECT_EQ(lines.next(), std::nullopt);
  ASSERT_TRUE(lines.append("d=b\n\n").ok());
  EXPECT_EQ(lines.next(), "cmd=b");
  EXPECT_EQ(lines.next(), "");
  EXPECT_EQ(lines.next(), std::nullopt);
}

TEST(Pmi1Lines, AnEndlessLineIsAnErrorAndNoMemory) {
  Pmi1Lines lines;
  Result<void> added;
  std::size_t taken = 0;
  while (added.ok() && taken < 10 * kPmi1LineMax) {
    added = lines.append(std::string(1000, 'x'));
    taken += 1000;
  }
  EXPECT_FALSE(added.ok());
  EXPECT_LE(taken, kPmi1LineMax + 1000);
}

TEST(ProcessMapping, BlocksInTurn) {
  EXPECT_EQ(parse_process_mapping("(vector,(0,1,4))", 4).value(), (Nodes{0, 0, 0, 0}));
  EXPECT_EQ(parse_process_mapping("(vector,(0,2,2))", 4).value(), (Nodes{0, 0, 1, 1}));
  EXPECT_EQ(parse_process_mapping("(vector,(0,2,2),(2,1,1))", 5).value(), (Nodes{0, 0, 1, 1, 2}));
  // Expect: what is described is repeated until every rank has a node
  EXPECT_EQ(parse_process_mapping("(vector,(0,2,1))", 5).value(), (Nodes{0, 1, 0, 1, 0}));
  EXPECT_EQ(parse_process_mapping("(vector,(0,1,4))", 2).value(), (Nodes{0, 0}));
}

TEST(ProcessMapping, RefusesNonsense) {
  for (const char* text :
       {"", "vector", "(vector)", "(vector,)", "(vector,(0,1,4)", "(vector,(0,0,4))",
        "(vector,(0,1,0))", "(vector,(-1,1,1))", "(vector,(0,1,4)) ", "(vector,(0,1))",
        "(vector,(99999999999,1,1))", "(vector,(4294967295,2,1))"}) {
    EXPECT_FALSE(parse_process_mapping(text, 4).ok()) << text;
  }
}

TEST(Hex, AnyBytesThereAndBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(from_hex(to_hex(all)).value(), all);
  EXPECT_EQ(to_hex(std::string("\0 =\n\xff", 5)), "00203d0aff");
  for (const char* text : {"0", "0g", "0G", "A0", " 00"}) EXPECT_FALSE(from_hex(text).ok()) << text;
}

TEST(Pmi1Parsers, MutatedTextNeverPassesUnchecked) {
  const std::vector<std::string> good{
      "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
      "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
      "cmd=get_result rc=0 msg=success value=(vector,(0,2,2),(2,1,1))", "(vector,(0,2,2),(2,1,1))"};
  Prng random(11);
  for (int i = 0; i < 40000; ++i) {
    std::string text = good[random.below(good.size())];
    for (std::uint64_t n = random.below(6); n > 0; --n) {
      const std::size_t at = random.below(text.size() + 1);
      switch (random.below(3)) {
        case 0:
          text.insert(at, 1, static_cast<char>(random.next()));
          break;
        case 1:
          text.erase(at, random.below(4));
          break;
        default:
          text.insert(at, text.substr(random.below(text.size() + 1), random.below(8)));
      }
    }
    if (const auto line = parse_pmi1_line(text); line.ok()) {
      // Expect: a command, and fields that lie within the text
      ASSERT_FALSE(line.value().get("cmd").empty());
      for (const auto& [key, value] : line.value().fields) {
        ASSERT_GE(key.data(), text.data());
        ASSERT_LE(value.data() + value.size(), text.data() + text.size());
      }
    }
    if (const auto nodes = parse_process_mapping(text, 7); nodes.ok()) {
      ASSERT_EQ(nodes.value().size(), 7u);
    }
    Pmi1Lines lines;
    if (lines.append(text).ok()) {
      while (lines.next().has_value()) {
      }
    }
  }
}

}  // namespace
}  // namespace fairlead::run
