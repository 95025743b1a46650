// The profile of a whole job: what its ranks counted, brought together, for people and as JSON.
#pragma once
#include <string>
#include <vector>

#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/watch/profile.h"

namespace fairlead::mpi {

struct JobProfile {
  std::vector<RankProfile> ranks;
  bool is_virtual = false;  // times are the model's
};

// {"kind": "mpi-profile", ..}: docs/results-format.md has the members.
std::string profile_json(const JobProfile& job);
std::string profile_text(const JobProfile& job);

// All ranks call it: rank 0 writes the job's profile to `where` (WatchOptions::profile). A file
// that cannot be written is told on the standard error stream.
void report_profile(Process& process, const Profile& mine, const std::string& where);

}  // namespace fairlead::mpi
