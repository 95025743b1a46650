#include "fairlead/fabric/shm/kernel.h"

#include <linux/membarrier.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace fairlead::fabric {

bool shm_barrier_known() {
  const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0;
}

bool shm_barrier_register() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool shm_barrier() { return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0; }

void shm_permit_copies(std::uint32_t root) {
  // Fails where there is no Yama: nothing is restricted then.
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(root), 0, 0, 0);
}

Post shm_copy(std::uint32_t pid, std::uint64_t address, void* local, std::size_t size, bool write) {
  auto* at = static_cast<char*>(local);
  while (size > 0) {
    iovec here{at, size};
    iovec there{reinterpret_cast<void*>(address), size};
    const auto id = static_cast<pid_t>(pid);
    const ssize_t n = write ? process_vm_writev(id, &here, 1, &there, 1, 0)
                            : process_vm_readv(id, &here, 1, &there, 1, 0);
    if (n <= 0) {
      if (n < 0 && errno == ESRCH) return Post::peer_down;
      if (n < 0 && errno == EFAULT) return Post::invalid;
      return Post::not_delivered;
    }
    at += n;
    address += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return Post::done;
}

}  // namespace fairlead::fabric
