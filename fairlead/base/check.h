// Checks for our own bugs: print the expression, the values, the rank and its time, then abort.
// Back-pressure is lci::Post, the outside world is Result<T>; neither may end here.
#pragma once
#include <fmt/format.h>

#include <string_view>

namespace fairlead {

// Who is running, for the first line of a failed check. run/ sets it per thread, switched with the
// fibers; nullptr outside a rank.
struct CheckContext {
  unsigned rank;
  long long (*now_ps)(const void* clock);
  const void* clock;
};
void set_check_context(const CheckContext* context);

[[noreturn]] void check_failed(const char* file, int line, const char* expression,
                               std::string_view values);

}  // namespace fairlead

// FAIRLEAD_CHECK(condition, "format", values...): always on.
#define FAIRLEAD_CHECK(condition, ...)                                                         \
  do {                                                                                         \
    if (!(condition)) [[unlikely]]                                                             \
      ::fairlead::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)

// FAIRLEAD_DCHECK: compiled into the dev and sanitizer presets only.
#ifdef FAIRLEAD_DEBUG_CHECKS
#define FAIRLEAD_DCHECK(condition, ...) FAIRLEAD_CHECK(condition, __VA_ARGS__)
#else
#define FAIRLEAD_DCHECK(condition, ...) \
  do {                                  \
    if (false) {                        \
      (void)(condition);                \
    }                                   \
  } while (false)
#endif
