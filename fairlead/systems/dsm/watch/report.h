// The profile of a job on page-based shared memory: what its ranks saw, brought together, for
// people and as JSON.
#pragma once
#include <string>
#include <vector>

#include "fairlead/systems/dsm/watch/rank_profile.h"

namespace fairlead::dsm {

struct JobProfile {
  std::vector<RankProfile> ranks;  // places are numbers of `lines`
  std::vector<std::string> lines;  // names of places, the first not known
  std::string protocol;
  std::string engine;
  std::uint64_t heap_address = 0;  // of page 0
  PageId pages = 0;                // of the heap
  bool is_virtual = false;         // times are the model's
  bool races = false;              // they were looked for
};

// Makes one list of the ranks' places, those of one source line together.
std::vector<std::string> name_places(std::vector<RankProfile>& ranks);

std::string profile_text(const JobProfile& job);
// The part of it about races, alone.
std::string races_text(const JobProfile& job);
// {"kind": "dsm-profile", ..}: docs/results-format.md has the members.
std::string profile_json(const JobProfile& job);

// Writes to `where`: the standard error stream for "-", else a file as JSON, in which case races go
// to the standard error stream, too. Empty: races only.
void report(const JobProfile& job, const std::string& where);

}  // namespace fairlead::dsm
