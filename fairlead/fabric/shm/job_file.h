// The file that holds a job's memory where several hosts map the same one: on a file system over
// memory that they share (DAX, famfs on CXL). It must show every host what another one has stored
// there, as one machine's memory does; nothing here can make up for a file system that does not.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"

namespace fairlead::fabric {

// Opens `path` for a new job, makes it first where it is missing, and sees to it that it has at
// least `bytes`, of whatever content; it never gets shorter, as others may have mapped it. It is
// locked until share_job_file(), so that no other job of this machine gets it; whatever the job
// does, it stays when that ends. Error: names the file, the cause and what would do.
Result<Fd> make_job_file(const std::string& path, std::uint64_t bytes);
// Its first `bytes` are zero afterwards.
Result<void> clear_job_file(const Fd& file, const std::string& path, std::uint64_t bytes);
// From here on others of the same job may use it, and no other job, until all have closed it.
void share_job_file(const Fd& file);
// Opens it for a job that another process makes. Invalid: there is none yet.
Result<Fd> find_job_file(const std::string& path);
// Keeps other jobs of this machine away from it. False: its maker has not shared it yet.
bool join_job_file(const Fd& file);

}  // namespace fairlead::fabric
