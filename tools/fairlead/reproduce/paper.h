// The papers whose tables and figures are reproduced. A study is asked for as PAPER/ID
// ("lci/table3"), or by its id alone.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

struct Paper {
  const char* id;         // "lci"
  const char* title;      // "Verstoep et al., ACM TOCS 2004"
  const char* published;  // the file of its values, beside the platforms' folder
  std::span<const PaperPlatform> platforms;
  std::vector<Study> (*studies)(bool quick);
};

// Every paper there is, the LCI paper first.
std::span<const Paper> papers();

// "lci/table3".
std::string full_id(const Paper& paper, const Study& study);
// Every study, as PAPER/ID, in the papers' order.
std::vector<std::string> study_ids(std::span<const Paper> papers);

struct PaperStudies {
  const Paper* paper = nullptr;
  std::vector<Study> studies;
};

// What was asked for, by paper, each study once and in the paper's order: "PAPER/ID"; "ID" alone,
// which is that of the first paper that has it; "PAPER" or "PAPER/all", all of a paper; "all".
// Papers of which nothing was asked for are left out. Error: an unknown one, with what there is.
Result<std::vector<PaperStudies>> choose_studies(std::span<const Paper> papers,
                                                 std::span<const std::string> asked, bool quick);

}  // namespace fairlead::tools
