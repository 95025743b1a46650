#include "fairlead/systems/splitc/other_stack.h"

#include <ucontext.h>

#include <cstdint>

#include "fairlead/base/check.h"

namespace fairlead::splitc {
namespace {

struct Call {
  int (*body)(void*);
  void* argument;
  int answer = 0;
};

// makecontext passes ints.
void run(unsigned low, unsigned high) {
  auto& call = *reinterpret_cast<Call*>(std::uintptr_t{high} << 32 | low);
  call.answer = call.body(call.argument);
}

}  // namespace

int call_on_stack(std::span<std::byte> stack, int (*body)(void*), void* argument) {
  Call call{body, argument};
  ucontext_t here;
  ucontext_t there;
  FAIRLEAD_CHECK(getcontext(&there) == 0, "no context");
  there.uc_stack.ss_sp = stack.data();
  there.uc_stack.ss_size = stack.size();
  there.uc_link = &here;
  const auto at = reinterpret_cast<std::uintptr_t>(&call);
  makecontext(&there, reinterpret_cast<void (*)()>(&run), 2, static_cast<unsigned>(at),
              static_cast<unsigned>(at >> 32));
  FAIRLEAD_CHECK(swapcontext(&here, &there) == 0, "no other stack");
  return call.answer;
}

}  // namespace fairlead::splitc
