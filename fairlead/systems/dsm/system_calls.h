// System calls on memory of the shared heap. The kernel takes no faults for a program: read(2) into
// a page that is not here, or that may not be written yet, answers EFAULT. These have the buffer's
// pages here first, and else are the calls of their names, on other memory, too. What they read or
// write of the heap is the program's own access: two ranks that do so at the same time race.
#pragma once
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <span>

#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {

// `bytes` from `begin` on are handed to a call that, where `write`, stores into them.
inline void hand_over(Dsm& dsm, const void* begin, std::size_t bytes, bool write) {
  if (bytes > 0 && dsm.has(begin)) dsm.touch(begin, bytes, write);
}
inline void hand_over(Dsm& dsm, std::span<const iovec> buffers, bool write) {
  for (const iovec& buffer : buffers) hand_over(dsm, buffer.iov_base, buffer.iov_len, write);
}

inline ssize_t read(Dsm& dsm, int fd, void* to, std::size_t bytes) {
  hand_over(dsm, to, bytes, true);
  return ::read(fd, to, bytes);
}
inline ssize_t pread(Dsm& dsm, int fd, void* to, std::size_t bytes, off_t offset) {
  hand_over(dsm, to, bytes, true);
  return ::pread(fd, to, bytes, offset);
}
inline ssize_t readv(Dsm& dsm, int fd, std::span<const iovec> to) {
  hand_over(dsm, to, true);
  return ::readv(fd, to.data(), static_cast<int>(to.size()));
}
inline ssize_t recv(Dsm& dsm, int fd, void* to, std::size_t bytes, int flags) {
  hand_over(dsm, to, bytes, true);
  return ::recv(fd, to, bytes, flags);
}
inline ssize_t write(Dsm& dsm, int fd, const void* from, std::size_t bytes) {
  hand_over(dsm, from, bytes, false);
  return ::write(fd, from, bytes);
}
inline ssize_t pwrite(Dsm& dsm, int fd, const void* from, std::size_t bytes, off_t offset) {
  hand_over(dsm, from, bytes, false);
  return ::pwrite(fd, from, bytes, offset);
}
inline ssize_t writev(Dsm& dsm, int fd, std::span<const iovec> from) {
  hand_over(dsm, from, false);
  return ::writev(fd, from.data(), static_cast<int>(from.size()));
}
inline ssize_t send(Dsm& dsm, int fd, const void* from, std::size_t bytes, int flags) {
  hand_over(dsm, from, bytes, false);
  return ::send(fd, from, bytes, flags);
}
// Long ones of the C library are system calls on the buffer itself.
inline std::size_t fread(Dsm& dsm, void* to, std::size_t size, std::size_t count,
                         std::FILE* stream) {
  hand_over(dsm, to, size * count, true);
  return std::fread(to, size, count, stream);
}
inline std::size_t fwrite(Dsm& dsm, const void* from, std::size_t size, std::size_t count,
                          std::FILE* stream) {
  hand_over(dsm, from, size * count, false);
  return std::fwrite(from, size, count, stream);
}

}  // namespace fairlead::dsm
