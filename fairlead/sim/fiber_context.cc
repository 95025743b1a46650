#include "fairlead/sim/fiber_context.h"

#include <cstdint>

#ifdef FAIRLEAD_FIBER_BOOST
#include <boost/context/detail/fcontext.hpp>
#endif

namespace fairlead::sim {

#ifdef FAIRLEAD_FIBER_BOOST

namespace {
namespace boost_context = boost::context::detail;

struct Start {
  void (*entry)(void*);
  void* argument;
};

// A jump carries the address where the one who left wants its context.
void store_previous(boost_context::transfer_t transfer) {
  *static_cast<FiberContext*>(transfer.data) = transfer.fctx;
}

void first_run(boost_context::transfer_t transfer) {
  // make_fiber_context came first, to learn what to run.
  const Start* const start = static_cast<const Start*>(transfer.data);
  const Start copy = *start;
  store_previous(boost_context::jump_fcontext(transfer.fctx, nullptr));
  copy.entry(copy.argument);
}
}  // namespace

FiberContext make_fiber_context(void* top, std::size_t size, void (*entry)(void*), void* argument) {
  Start start{entry, argument};
  const auto fresh = boost_context::make_fcontext(top, size, &first_run);
  return boost_context::jump_fcontext(fresh, &start).fctx;
}

void switch_fiber_context(FiberContext* from, FiberContext to) {
  store_previous(boost_context::jump_fcontext(to, from));
}

#else

// The frame a suspended context leaves on its stack, from its stack pointer up.
struct SwitchFrame {
  std::uint32_t mxcsr;
  std::uint16_t x87_control;
  std::uint16_t unused;
  std::uint64_t r12, r13, r14, r15, rbx, rbp;
  void (*resume_at)();
};
static_assert(sizeof(SwitchFrame) == 64);

extern "C" void fairlead_start_fiber();

FiberContext make_fiber_context(void* top, std::size_t /*size*/, void (*entry)(void*),
                                void* argument) {
  const auto aligned = reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15};
  auto* const frame = reinterpret_cast<SwitchFrame*>(aligned - sizeof(SwitchFrame));
  *frame = SwitchFrame{};
  // A fiber starts with the floating-point control of its maker.
  asm("stmxcsr %0\n\tfnstcw %1" : "=m"(frame->mxcsr), "=m"(frame->x87_control));
  frame->r12 = reinterpret_cast<std::uint64_t>(argument);
  frame->r13 = reinterpret_cast<std::uint64_t>(entry);
  frame->resume_at = &fairlead_start_fiber;
  return frame;
}

// System V x86-64: rbx, rbp, r12-r15 and the control bits of MXCSR and of the x87 word belong to
// the caller; MXCSR's low six bits are the sticky flags, which belong to nobody and stay as they
// are. It ends in a jump: a return would be predicted to go where the other stack came from, which
// costs 4 ns a switch.
asm(R"(
  .text
  .p2align 5
  .globl fairlead_switch_fiber_context
  .hidden fairlead_switch_fiber_context
  .type fairlead_switch_fiber_context, @function
fairlead_switch_fiber_context:
  .cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbx, 0
  pushq %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r15, 0
  pushq %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r14, 0
  pushq %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r13, 0
  pushq %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r12, 0
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movl (%rsp), %eax
  movzwl 4(%rsp), %ecx
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  xorl (%rsp), %eax
  andl $0xffffffc0, %eax
  jnz 2f
  cmpw %cx, 4(%rsp)
  jne 3f
1:
  .cfi_remember_state
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore r12
  popq %r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore r13
  popq %r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore r14
  popq %r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore r15
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbx
  popq %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbp
  popq %rdx
  .cfi_adjust_cfa_offset -8
  .cfi_register %rip, %rdx
  jmpq *%rdx
2:
  .cfi_restore_state
  ldmxcsr (%rsp)
3:
  fldcw 4(%rsp)
  jmp 1b
  .cfi_endproc
  .size fairlead_switch_fiber_context, .-fairlead_switch_fiber_context

  .p2align 4
  .globl fairlead_start_fiber
  .hidden fairlead_start_fiber
  .type fairlead_start_fiber, @function
fairlead_start_fiber:
  .cfi_startproc
  .cfi_undefined %rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
  .size fairlead_start_fiber, .-fairlead_start_fiber
)");

#endif

}  // namespace fairlead::sim
