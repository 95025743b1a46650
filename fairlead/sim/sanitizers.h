// What AddressSanitizer and ThreadSanitizer must be told when one thread changes stacks. Empty
// inline functions in other builds.
#pragma once
#include <cstddef>

#include "fairlead/base/sanitized.h"

#ifdef FAIRLEAD_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef FAIRLEAD_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace fairlead::sim::sanitizers {

#ifdef FAIRLEAD_ASAN
// Instrumented frames are several times larger.
constexpr std::size_t kStackFactor = 4;
// `keep` receives the leaving stack's state; nullptr when that stack will not run again.
inline void leave_stack(void** keep, const void* to_bottom, std::size_t to_size) {
  __sanitizer_start_switch_fiber(keep, to_bottom, to_size);
}
inline void enter_stack(void* kept, const void** from_bottom, std::size_t* from_size) {
  __sanitizer_finish_switch_fiber(kept, from_bottom, from_size);
}
inline void forget_stack(void* bottom, std::size_t size) {
  __asan_unpoison_memory_region(bottom, size);
}
// What abandoned stacks hold is not a leak: true when they must stay mapped to prove it.
inline bool keep_abandoned_stacks(const void* arena, std::size_t size) {
  __lsan_register_root_region(arena, size);
  return true;
}
#else
constexpr std::size_t kStackFactor = 1;
inline void leave_stack(void**, const void*, std::size_t) {}
inline void enter_stack(void*, const void**, std::size_t*) {}
inline void forget_stack(void*, std::size_t) {}
inline bool keep_abandoned_stacks(const void*, std::size_t) { return false; }
#endif

#ifdef FAIRLEAD_TSAN
inline void* make_fiber() { return __tsan_create_fiber(0); }
inline void destroy_fiber(void* fiber) { __tsan_destroy_fiber(fiber); }
inline void* current_fiber() { return __tsan_get_current_fiber(); }
inline void switch_to_fiber(void* fiber) { __tsan_switch_to_fiber(fiber, 0); }
#else
inline void* make_fiber() { return nullptr; }
inline void destroy_fiber(void*) {}
inline void* current_fiber() { return nullptr; }
inline void switch_to_fiber(void*) {}
#endif

}  // namespace fairlead::sim::sanitizers
