divert(-1)
PARMACS on page-based shared memory. fairlead-parmacs-cc gives this file to m4 before each source;
where a makefile does that itself: MACROS=$(fairlead-parmacs-cc -macros). parmacs.h says what each
call does. Lock, barrier and clock macros are blocks, as programs write them with and without a
semicolon behind them; for that, G_MALLOC ends in one.

define(`FAIRLEAD_INCLUDES', ``#include <fairlead/systems/dsm/parmacs.h>'
')
define(`INCLUDES', `FAIRLEAD_INCLUDES')
define(`MAIN_ENV', `FAIRLEAD_INCLUDES
__attribute__((constructor, used)) static void fairlead_parmacs_start(void) { fairlead_parmacs_begin(FAIRLEAD_PARMACS_HAS_THREADS); }')
define(`EXTERN_ENV', `FAIRLEAD_INCLUDES')
define(`ENV', `')
define(`MAIN_INITENV', `{;}')
define(`MAIN_END', `{fairlead_parmacs_end(); exit(0);}')

define(`CREATE', `ifelse(`$#', `1', `{fairlead_parmacs_create((void (*)(void))($1));}',
 `{fairlead_parmacs_create_all((void (*)(void))($1), ($2));}')')
define(`WAIT_FOR_END', `{fairlead_parmacs_wait_for_end();}')
define(`NEWPROC', `')
define(`THREAD_INIT_FREE', `{;}')

define(`G_MALLOC', `fairlead_parmacs_malloc($1);')
define(`G_MALLOC_F', `fairlead_parmacs_malloc($1)')
define(`NU_MALLOC', `fairlead_parmacs_malloc($1);')
define(`NU_MALLOC_F', `fairlead_parmacs_malloc($1)')
define(`G_FREE', `{fairlead_parmacs_free((void*)($1));}')
define(`NU_FREE', `{fairlead_parmacs_free((void*)($1));}')
define(`G_MEMSIZE', `0')

define(`LOCKDEC', `fairlead_parmacs_lock $1;')
define(`LOCKINIT', `{fairlead_parmacs_lock_init(&($1));}')
define(`LOCK', `{fairlead_parmacs_acquire(&($1));}')
define(`UNLOCK', `{fairlead_parmacs_release(&($1));}')
define(`LOCK_FREE', `{;}')

define(`ALOCKDEC', `fairlead_parmacs_lock $1[$2];')
define(`ALOCKINIT', `{ long fairlead_i; for (fairlead_i = 0; fairlead_i < ($2); ++fairlead_i) fairlead_parmacs_lock_init(&($1)[fairlead_i]); }')
define(`ALOCK', `{fairlead_parmacs_acquire(&($1)[$2]);}')
define(`AULOCK', `{fairlead_parmacs_release(&($1)[$2]);}')
define(`AUNLOCK', `{fairlead_parmacs_release(&($1)[$2]);}')
define(`AGETL', `(($1)[$2])')
define(`ALOCK_FREE', `{;}')

define(`BARDEC', `fairlead_parmacs_barrier $1;')
define(`BARINIT', `{fairlead_parmacs_barrier_init(&($1));}')
define(`BARRIER', `{fairlead_parmacs_arrive(&($1), ($2));}')
define(`BARFREE', `{;}')
define(`BARINCLUDE', `{;}')

define(`PAUSEDEC', `fairlead_parmacs_pause $1;')
define(`PAUSEINIT', `{fairlead_parmacs_pause_init(&($1));}')
define(`SETPAUSE', `{fairlead_parmacs_pause_set(&($1), 1);}')
define(`CLEARPAUSE', `{fairlead_parmacs_pause_set(&($1), 0);}')
define(`WAITPAUSE', `{fairlead_parmacs_pause_wait(&($1), 1);}')
define(`PAUSE', `{fairlead_parmacs_pause_wait(&($1), 1);}')
define(`EVENT', `{fairlead_parmacs_pause_wait(&($1), 0);}')

define(`CONDVARDEC', `fairlead_parmacs_condition $1;')
define(`CONDVARINIT', `{fairlead_parmacs_condition_init(&($1));}')
define(`CONDVARWAIT', `{fairlead_parmacs_condition_wait(&($1), &($2));}')
define(`CONDVARSIGNAL', `{fairlead_parmacs_condition_wake(&($1), 0);}')
define(`CONDVARBCAST', `{fairlead_parmacs_condition_wake(&($1), 1);}')

define(`GSDEC', `fairlead_parmacs_subscripts $1;')
define(`GSINIT', `{fairlead_parmacs_subscripts_init(&($1));}')
define(`GETSUB', `{($2) = fairlead_parmacs_next_subscript(&($1), ($3), ($4));}')

define(`CLOCK', `{($1) = fairlead_parmacs_clock();}')

Fences order what locks and barriers order here; the others mark the part that simulators time.
define(`RELEASE_FENCE', `{;}')
define(`ACQUIRE_FENCE', `{;}')
define(`FULL_FENCE', `{;}')
define(`SPLASH3_ROI_BEGIN', `')
define(`SPLASH3_ROI_END', `')

Words of m4 that are also words of C programs. `include' stays: m4 takes it for its own with
parentheses only, and programs have headers come in by it.
undefine(`len', `index', `shift', `eval', `incr', `decr', `format', `substr', `translit', `sinclude',
 `builtin', `indir', `patsubst', `regexp', `changequote', `changecom', `changeword',
 `divnum', `undivert', `dumpdef', `errprint', `esyscmd', `syscmd', `sysval', `maketemp',
 `mkstemp', `m4exit', `m4wrap', `traceon', `traceoff', `debugmode', `debugfile', `pushdef', `popdef',
 `defn', `ifdef', `unix', `__unix__', `__gnu__', `__file__', `__line__', `__program__')
divert(0)undefine(`divert')dnl
