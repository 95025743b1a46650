#include "tools/fairlead/reproduce/paper.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fairlead::tools {

namespace {

bool has(const std::vector<Study>& studies, std::string_view id) {
  return std::any_of(studies.begin(), studies.end(),
                     [&](const Study& study) { return study.id == id; });
}

// `name` is none of those there are, quick ones if so asked.
Error unknown(std::span<const Paper> papers, const std::string& name, bool quick) {
  if (quick && choose_studies(papers, std::span(&name, 1), false).ok()) {
    return Error{fmt::format("{} has no quick form; leave --quick out", name)};
  }
  return Error{fmt::format("no table or figure '{}'; there are: all, {}", name,
                           fmt::join(study_ids(papers), ", "))};
}

}  // namespace

std::string full_id(const Paper& paper, const Study& study) {
  return fmt::format("{}/{}", paper.id, study.id);
}

std::vector<std::string> study_ids(std::span<const Paper> papers) {
  std::vector<std::string> ids;
  for (const Paper& paper : papers) {
    for (const Study& study : paper.studies(false)) ids.push_back(full_id(paper, study));
  }
  return ids;
}

Result<std::vector<PaperStudies>> choose_studies(std::span<const Paper> papers,
                                                 std::span<const std::string> asked, bool quick) {
  std::vector<PaperStudies> all;
  for (const Paper& paper : papers) all.push_back({&paper, paper.studies(quick)});
  std::vector<std::set<std::string, std::less<>>> wanted(all.size());
  const auto want_all = [&](std::size_t paper) {
    for (const Study& study : all[paper].studies) wanted[paper].insert(study.id);
  };
  for (const std::string& name : asked) {
    const std::size_t slash = name.find('/');
    const std::string_view paper_id = std::string_view(name).substr(0, slash);
    const std::string_view id =
        std::string_view(name).substr(slash == std::string::npos ? 0 : slash + 1);
    bool found = name == "all";
    for (std::size_t i = 0; i < all.size() && !(found && name != "all"); ++i) {
      const bool whole = name == "all" || name == papers[i].id ||
                         (slash != std::string::npos && paper_id == papers[i].id && id == "all");
      if (whole) want_all(i);
      const bool one =
          (slash == std::string::npos || paper_id == papers[i].id) && has(all[i].studies, id);
      if (one) wanted[i].insert(std::string(id));
      found = found || whole || one;
    }
    if (!found) return unknown(papers, name, quick);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::erase_if(all[i].studies,
                  [&](const Study& study) { return wanted[i].count(study.id) == 0; });
  }
  std::erase_if(all, [](const PaperStudies& one) { return one.studies.empty(); });
  return all;
}

}  // namespace fairlead::tools
