// The switch between two stacks of one thread; for fiber.cc alone. On x86-64 our own: it saves the
// callee-saved integer registers and the two floating-point control words, and loads a control word
// only where the two contexts differ in it. Boost.Context elsewhere (or with FAIRLEAD_FIBER_BOOST):
// it loads MXCSR whole at every jump. fiber_bench shows both: 4.5 ns a jump on Zen 5, where ours
// takes 7.5 with all of Fiber's checks; but 72-89 ns were seen for Boost where the sticky exception
// flags of two contexts differ, as programs that compute make them, and ours never loads those.
#pragma once
#include <cstddef>

#if !defined(__x86_64__) && !defined(FAIRLEAD_FIBER_BOOST)
#define FAIRLEAD_FIBER_BOOST
#endif

namespace fairlead::sim {

// A suspended stack: valid until it is switched to.
using FiberContext = void*;

// A context that runs entry(argument) on the stack that ends (above) at `top` when first switched
// to. entry never returns. `size` is the stack's, below top.
FiberContext make_fiber_context(void* top, std::size_t size, void (*entry)(void* argument),
                                void* argument);

}  // namespace fairlead::sim

// Suspends the running stack into *from and continues `to`.
#ifdef FAIRLEAD_FIBER_BOOST
namespace fairlead::sim {
void switch_fiber_context(FiberContext* from, FiberContext to);
}
#else
extern "C" void fairlead_switch_fiber_context(void** from, void* to);
namespace fairlead::sim {
inline void switch_fiber_context(FiberContext* from, FiberContext to) {
  fairlead_switch_fiber_context(from, to);
}
}  // namespace fairlead::sim
#endif
