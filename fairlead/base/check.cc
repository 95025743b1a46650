#include "fairlead/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace fairlead {
namespace {
thread_local const CheckContext* current_context = nullptr;
}  // namespace

void set_check_context(const CheckContext* context) { current_context = context; }

void check_failed(const char* file, int line, const char* expression, std::string_view values) {
  std::string text = fmt::format("fairlead: {}:{}: check failed: {}", file, line, expression);
  if (!values.empty()) text += fmt::format(" ({})", values);
  if (current_context != nullptr) {
    text += fmt::format(" [rank {}, time {:.3f} us]", current_context->rank,
                        static_cast<double>(current_context->now_ps(current_context->clock)) / 1e6);
  }
  text += '\n';
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace fairlead
