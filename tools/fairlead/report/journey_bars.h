// The way of one small message, stage by stage: a stacked bar an implementation.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "tools/fairlead/trace_summary.h"

namespace fairlead::tools {

struct JourneyBar {
  std::string lci;
  TracedMessage message;
};

// The median of 16-byte messages between rank 0 and its mean partner on an idle machine of 64
// nodes. From a traced run. Error: the platform or the implementation is not there.
Result<TracedMessage> small_message(const std::string& on, const std::string& lci);

// `number`: of the picture, apart from others of its document.
std::string bars_svg(const std::vector<JourneyBar>& bars, std::size_t number);
std::string sentence_of(const std::vector<JourneyBar>& bars);

}  // namespace fairlead::tools
