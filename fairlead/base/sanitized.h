// Which sanitizer this is built with: FAIRLEAD_ASAN for AddressSanitizer, FAIRLEAD_TSAN for
// ThreadSanitizer, by gcc's names for that and by clang's.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define FAIRLEAD_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define FAIRLEAD_TSAN
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(FAIRLEAD_ASAN)
#define FAIRLEAD_ASAN
#endif
#if __has_feature(thread_sanitizer) && !defined(FAIRLEAD_TSAN)
#define FAIRLEAD_TSAN
#endif
#endif
