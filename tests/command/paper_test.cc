// Which tables and figures of which paper a name asks for, with papers of its own.
#include "tools/fairlead/reproduce/paper.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace fairlead::tools {
namespace {

std::vector<Study> made(std::initializer_list<const char*> ids) {
  std::vector<Study> studies;
  for (const char* id : ids) {
    studies.emplace_back();
    studies.back().id = id;
  }
  return studies;
}
std::vector<Study> first(bool quick) {
  return quick ? made({"table1", "figure8"}) : made({"table1", "figure8", "figure9"});
}
std::vector<Study> second(bool) { return made({"table1", "figure8", "figure14"}); }

constexpr Paper kPapers[] = {{"lci", "", "", {}, &first}, {"qsnet", "", "", {}, &second}};

// "lci/table1 qsnet/figure14", or the error.
std::string chosen(std::vector<std::string> asked, bool quick = false) {
  const auto studies = choose_studies(kPapers, asked, quick);
  if (!studies.ok()) return studies.error().text;
  std::string text;
  for (const PaperStudies& paper : studies.value()) {
    for (const Study& study : paper.studies) {
      text += (text.empty() ? "" : " ") + full_id(*paper.paper, study);
    }
  }
  return text;
}

TEST(Papers, a_name_with_its_paper) {
  EXPECT_EQ(chosen({"qsnet/figure8"}), "qsnet/figure8");
  EXPECT_EQ(chosen({"lci/figure8"}), "lci/figure8");
}

TEST(Papers, a_bare_name_is_the_first_papers_that_has_it) {
  EXPECT_EQ(chosen({"figure8"}), "lci/figure8");
  EXPECT_EQ(chosen({"figure14"}), "qsnet/figure14");
}

TEST(Papers, each_once_and_in_the_papers_order) {
  EXPECT_EQ(chosen({"qsnet/table1", "figure8", "table1", "lci/table1"}),
            "lci/table1 lci/figure8 qsnet/table1");
}

TEST(Papers, all_of_one_or_of_each) {
  EXPECT_EQ(chosen({"qsnet"}), "qsnet/table1 qsnet/figure8 qsnet/figure14");
  EXPECT_EQ(chosen({"qsnet/all"}), chosen({"qsnet"}));
  EXPECT_EQ(chosen({"all"}, true),
            "lci/table1 lci/figure8 qsnet/table1 qsnet/figure8 qsnet/figure14");
  EXPECT_EQ(chosen({"all"}),
            "lci/table1 lci/figure8 lci/figure9 qsnet/table1 qsnet/figure8 "
            "qsnet/figure14");
}

TEST(Papers, unknown_names_list_what_there_is) {
  for (const char* name : {"table2", "qsnet/figure9", "nobody/table1", "lci/", "/table1", ""}) {
    const std::string error = chosen({"table1", name});
    // Expect: the name, and full names to choose from.
    EXPECT_NE(error.find(fmt::format("'{}'", name)), std::string::npos) << error;
    EXPECT_NE(error.find("qsnet/figure14"), std::string::npos) << error;
  }
}

TEST(Papers, what_is_not_there_in_brief_says_so) {
  EXPECT_EQ(chosen({"lci/figure9"}, true), "lci/figure9 has no quick form; leave --quick out");
  EXPECT_EQ(chosen({"figure9"}, false), "lci/figure9");
}

}  // namespace
}  // namespace fairlead::tools
