// Strings of more than one line, before the preprocessor.
#include "tools/splitcc/strings.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::splitcc {
namespace {

std::string joined(const std::string& source) {
  return join_lines_of_strings(source).value_or("as it was");
}

TEST(Strings, EndsOfLinesInThemAreWrittenOut) {
  EXPECT_EQ(joined("f(\"a %d\nb\", x);\n"), "f(\"a %d\\n\\\nb\", x);\n");
  // Expect: the backslash that the source has stays, and an empty line is one.
  EXPECT_EQ(joined("s = \"a\\n\n\nb\";"), "s = \"a\\n\\n\\\n\\n\\\nb\";");
  EXPECT_EQ(joined("\"1\n2\" x \"3\n4\" \"5\""), "\"1\\n\\\n2\" x \"3\\n\\\n4\" \"5\"");
}

TEST(Strings, OthersStayAsTheyAre) {
  EXPECT_EQ(joined("s = \"one line\"; c = '\"'; d = '\\''; e = \"\\\"\";\n"), "as it was");
  EXPECT_EQ(joined("s = \"over the \\\nend of a line\";\n"), "as it was");
}

TEST(Strings, CommentsAndDirectivesHaveNone) {
  EXPECT_EQ(joined("/* 5\" or\n6\" */ x;\n"), "as it was");
  EXPECT_EQ(joined("x; // 5\" or\ny; // 6\"\n"), "as it was");
  EXPECT_EQ(joined("#error 5\" is\n  # error not 6\"\n"), "as it was");
  EXPECT_EQ(joined("#define x 5\" or \\\n6\" or\n7\n"), "as it was");
  // Expect: an apostrophe ends with its line, and hides no string of the next.
  EXPECT_EQ(joined("don't\n\"a\nb\"\n"), "don't\n\"a\\n\\\nb\"\n");
}

TEST(Strings, WhatIsNotClosedIsNone) {
  EXPECT_EQ(joined("#if 0\n5\" wide\n#endif\nf(\"x\");\n"), "as it was");
  EXPECT_EQ(joined("f(\"x\n"), "as it was");
  // Expect: a later one is found all the same.
  EXPECT_EQ(joined("5\" wide\n#endif\nf(\"x\ny\");\n"), "5\" wide\n#endif\nf(\"x\\n\\\ny\");\n");
  for (const char* text : {"\"", "'", "\"\\", "'\\", "/*", "#", "#\\", "\"\n"}) {
    EXPECT_EQ(joined(text), "as it was") << text;
  }
}

}  // namespace
}  // namespace fairlead::splitcc
