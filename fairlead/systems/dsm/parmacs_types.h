/* What PARMACS' macros declare: locks, barriers, pauses, conditions and subscripts (parmacs.h).
 * fairlead-parmacs-cc includes it before each source, as programs declare them in headers that have
 * no EXTERN_ENV above them; so it includes nothing itself. */
#ifndef FAIRLEAD_PARMACS_TYPES_H
#define FAIRLEAD_PARMACS_TYPES_H

/* NOLINTBEGIN(readability-identifier-naming, modernize-use-using): C */
/* Each is made by its macro of initialisation, in shared memory or, locks and conditions, in a
 * static variable that was initialised before the processes were created. */
typedef struct {
  unsigned id; /* 0: not initialised */
} fairlead_parmacs_lock;
typedef struct {
  unsigned id;
  unsigned arrived;
  unsigned turn;
} fairlead_parmacs_barrier;
typedef struct {
  unsigned id;
  unsigned set;
} fairlead_parmacs_pause;
typedef struct {
  unsigned id;
  unsigned lock; /* of those that wait; 0: nobody ever did */
} fairlead_parmacs_condition;
typedef struct {
  unsigned id;
  unsigned next;
  unsigned finished;
  unsigned turn;
} fairlead_parmacs_subscripts;
/* NOLINTEND(readability-identifier-naming, modernize-use-using) */

#endif
