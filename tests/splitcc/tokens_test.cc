// The first pass of fairlead-splitcc: tokens in, plain C out.
#include "tools/splitcc/tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::splitcc {
namespace {

std::string plain(const std::string& text) {
  const auto made = to_plain_c(text);
  return made.ok() ? made.value().text : "refused: " + made.error().text;
}

TEST(Tokens, PointersAreMarked) {
  EXPECT_EQ(plain("int *global a, *b;"), "int (__sc_g * a), *b;");
  EXPECT_EQ(plain("int *spread f(int x) {"), "int (__sc_g * __sc_s f(int x)) {");
  EXPECT_EQ(plain("p = (int *global)(q + 1);"), "p = (int (__sc_g *))(q + 1);");
  EXPECT_EQ(plain("int *global *spread p = 0;"), "int (__sc_g * (__sc_g * __sc_s p)) = 0;");
  EXPECT_EQ(plain("int *global f(a) int a; {"), "int (__sc_g * f(a)) int a; {");
}

TEST(Tokens, SpreadArraysBecomePointersToBlocks) {
  EXPECT_EQ(plain("void f(int X[v][w]::[q][r]);"), "void f(int (__sc_g * __sc_s X)[w][q][r]);");
  EXPECT_EQ(plain("extern int a[]::[2];"), "extern int (__sc_g * __sc_s a)[2];");
  EXPECT_EQ(plain("int a[n]::, b;"), "int (__sc_g * __sc_s a), b; __sc_static_1(a, n)");
  EXPECT_EQ(plain("{ int a[n]::[3], *b; }"),
            "{ int (__sc_g * __sc_s a)[3] __sc_auto_1(a, n), *b; }");
  EXPECT_EQ(plain("{ int *global a[n]::; }"),
            "{ int (__sc_g * (__sc_g * __sc_s a)) __sc_auto_1(a, n); }");
}

TEST(Tokens, AssignmentsAreRemembered) {
  const auto made = to_plain_c("x := *g; *g :- y ? a :-1;");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().text, "x =  *g; *g =  y ? a :-1;");
  const std::map<std::size_t, Assignment> expected = {{2, Assignment::get_or_put},
                                                      {12, Assignment::store}};
  EXPECT_EQ(made.value().assignments, expected);
  // Expect: a label's colon, and not a store.
  EXPECT_EQ(plain("case 1:-x;"), "case 1:-x;");
}

TEST(Tokens, SystemHeadersAreLeftAlone) {
  const std::string text =
      "# 1 \"/usr/include/x.h\" 1 3\nint *global;\n# 2 \"a.sc\" 2\nint *global p;";
  EXPECT_EQ(plain(text),
            "# 1 \"/usr/include/x.h\" 1 3\nint *global;\n# 2 \"a.sc\" 2\nint (__sc_g * p);");
  EXPECT_EQ(plain("s = \"*global\"; c = ':'; d = '\\'';"), "s = \"*global\"; c = ':'; d = '\\'';");
}

TEST(Tokens, ErrorsSayWhere) {
  EXPECT_EQ(
      plain("# 7 \"dir/a.sc\"\n\nx = y :: z;"),
      "refused: dir/a.sc:8: error: `::` is not behind the name and indices of a spread array");
  EXPECT_EQ(
      plain("typedef int T[n]::;"),
      "refused: input:1: error: a type of spread arrays cannot be named; name the type of its "
      "blocks");
  EXPECT_EQ(plain("{ int a[1][2][3][4]::; }"),
            "refused: input:1: error: 'a' has 4 indices left of `::`, 3 are the most");
}

TEST(Tokens, MainIsFound) {
  EXPECT_TRUE(to_plain_c("int splitc_main(int c, char **v) { }").value().has_main);
  EXPECT_FALSE(to_plain_c("int splitc_main();").value().has_main);
}

TEST(Tokens, BracketsThatDoNotMatchEnd) {
  for (const char* text : {"int a[", "int *global (", ")))]]}}", "int a[n]::[", "\"", "'\\", "{{[(",
                           "*spread", "splitc_main(", "# 1 \"", "a[1]::"}) {
    (void)to_plain_c(text);
  }
}

}  // namespace
}  // namespace fairlead::splitcc
