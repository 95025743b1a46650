/* What a program may tell Fairlead beyond the programming interface (MPI, ...) that it uses. C, so
 * that any language can say it; an MPI program that includes this still builds with any other MPI.
 */
#ifndef FAIRLEAD_RUN_FAIRLEAD_H
#define FAIRLEAD_RUN_FAIRLEAD_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Declares computing done since the last call into the library; a modelled platform turns it into
 * virtual time, on a real machine (and before the rank has started) it does nothing.
 * ops: simple operations, one a cycle on the modelled hosts; bytes: memory swept over once;
 * working_set_bytes: the memory those bytes range over, which decides what caches hold. */
void fairlead_work(uint64_t ops, uint64_t bytes, uint64_t working_set_bytes)
#ifdef __GNUC__
    __attribute__((weak)) /* null when no libfairlead is linked: test it before the call */
#endif
    ;

/* Placed once at file scope of a program, promises that it keeps no mutable globals and no
 * thread-local state, so that its main may run once per rank as a fiber of one process. */
#define FAIRLEAD_FIBER_PROGRAM                                                    \
  __attribute__((visibility("default"))) extern const int fairlead_fiber_program; \
  __attribute__((used)) const int fairlead_fiber_program = 1

#ifdef __cplusplus
}
#endif
#endif
