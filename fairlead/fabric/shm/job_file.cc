#include "fairlead/fabric/shm/job_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace fairlead::fabric {
namespace {

Error refused(const std::string& path, const std::string& why) {
  return Error{fmt::format("--memory {}: {}", path, why)};
}

std::string mib(std::uint64_t bytes) { return fmt::format("{} MiB", (bytes + 0xfffff) >> 20); }

Result<std::uint64_t> size_of(const Fd& file, const std::string& path) {
  struct stat known {};
  if (::fstat(file.get(), &known) != 0) return refused(path, std::strerror(errno));
  if (!S_ISREG(known.st_mode)) {
    return refused(path, "is no regular file, which is what ranks of several hosts can map");
  }
  return static_cast<std::uint64_t>(known.st_size);
}

}  // namespace

Result<Fd> make_job_file(const std::string& path, std::uint64_t bytes) {
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return refused(path, std::strerror(errno));
  const Result<std::uint64_t> size = size_of(file, path);
  if (!size.ok()) return size.error();
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return refused(path, "another job uses it; give this one a file of its own");
  }
  if (size.value() >= bytes) return file;
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0) return file;
  return refused(path, fmt::format("has {}, cannot be made longer ({}), and the job needs {}; try "
                                   "a smaller --rank-memory or a longer file",
                                   mib(size.value()), std::strerror(errno), mib(bytes)));
}

Result<void> clear_job_file(const Fd& file, const std::string& path, std::uint64_t bytes) {
  const auto length = static_cast<off_t>(bytes);
  if (::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, length) == 0) {
    return {};
  }
  // A file system without holes.
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) {
    return refused(path, fmt::format("cannot be mapped: {}", std::strerror(errno)));
  }
  std::memset(at, 0, bytes);
  ::munmap(at, bytes);
  return {};
}

void share_job_file(const Fd& file) { (void)::flock(file.get(), LOCK_SH | LOCK_NB); }

Result<Fd> find_job_file(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid() && errno == ENOENT) return file;
  if (!file.valid()) return refused(path, std::strerror(errno));
  if (const Result<std::uint64_t> size = size_of(file, path); !size.ok()) return size.error();
  return file;
}

bool join_job_file(const Fd& file) {
  return ::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace fairlead::fabric
