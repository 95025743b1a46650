// Calls of pthreads that are handed an object in the shared heap by mistake: what orders the
// threads of one process orders no ranks, as each has a copy, and a thread's stack is one
// process's. They come here first, whoever in the process makes them, as this library is before the
// C library; one whose object is elsewhere pays a comparison more. Sanitizers have such calls of
// their own.
#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <semaphore.h>

#include <cstddef>
#include <cstdint>

#include "fairlead/base/sanitized.h"
#include "fairlead/systems/dsm/core.h"

#if !defined(FAIRLEAD_ASAN) && !defined(FAIRLEAD_TSAN)

namespace fairlead::dsm {
namespace {

// The C library's.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

[[gnu::cold, gnu::noinline]] void refuse(Core& core, const char* call, const void* object,
                                         const char* remedy) {
  core.fail(fmt::format("{} of {}, which lies in the shared heap, where each rank has a copy: {}",
                        call, object, remedy));
}

void check_private(const char* call, const void* object, const char* remedy) {
  if (!Memory::may_have(reinterpret_cast<std::uintptr_t>(object))) [[likely]] {
    return;
  }
  Core* const core = Core::current();
  if (core != nullptr && core->has(object)) refuse(*core, call, object, remedy);
}

constexpr const char* kLock = "ranks take turns by Tmk_lock_acquire, LOCK or Dsm::acquire";
constexpr const char* kBarrier = "ranks meet at Tmk_barrier, BARRIER or Dsm::barrier";
constexpr const char* kStack = "stacks take memory of malloc or mmap";

}  // namespace
}  // namespace fairlead::dsm

using fairlead::dsm::check_private;
using fairlead::dsm::next;

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto call = next<int(pthread_mutex_t*)>("pthread_mutex_lock");
  check_private("pthread_mutex_lock", mutex, fairlead::dsm::kLock);
  return call(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static const auto call = next<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  check_private("pthread_mutex_trylock", mutex, fairlead::dsm::kLock);
  return call(mutex);
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static const auto call = next<int(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  check_private("pthread_rwlock_rdlock", lock, fairlead::dsm::kLock);
  return call(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static const auto call = next<int(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  check_private("pthread_rwlock_wrlock", lock, fairlead::dsm::kLock);
  return call(lock);
}

int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  static const auto call = next<int(pthread_spinlock_t*)>("pthread_spin_lock");
  check_private("pthread_spin_lock", const_cast<int*>(lock), fairlead::dsm::kLock);
  return call(lock);
}

int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  static const auto call = next<int(pthread_barrier_t*)>("pthread_barrier_wait");
  check_private("pthread_barrier_wait", barrier, fairlead::dsm::kBarrier);
  return call(barrier);
}

int sem_wait(sem_t* semaphore) {
  static const auto call = next<int(sem_t*)>("sem_wait");
  check_private("sem_wait", semaphore, fairlead::dsm::kLock);
  return call(semaphore);
}

int pthread_attr_setstack(pthread_attr_t* attributes, void* stack, std::size_t bytes) noexcept {
  static const auto call = next<int(pthread_attr_t*, void*, std::size_t)>("pthread_attr_setstack");
  check_private("pthread_attr_setstack", stack, fairlead::dsm::kStack);
  return call(attributes, stack, bytes);
}

}  // extern "C"

#endif
