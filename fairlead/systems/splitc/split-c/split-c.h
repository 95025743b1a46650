/* What Split-C programs include: the library of the language, in its own syntax. fairlead-splitcc
 * compiles them; docs/splitc.md says what each call does. Other compilers see nothing here. */
#ifndef FAIRLEAD_SPLIT_C_H
#define FAIRLEAD_SPLIT_C_H

#ifdef __SPLIT_C__
/* clang-format off */

extern const int MYPROC, PROCS, PROCSLOG;

int splitc_main();

#define on_one if (MYPROC == 0)
#define on_proc(proc) if (MYPROC == (proc))
/* The indices of a spread array's blocks that lie on this processor. */
#define for_my_1d(i, n) for ((i) = MYPROC; (i) < (n); (i) += PROCS)
#define for_my_1D(i, n) for_my_1d(i, n)
#define for_my_2d(i, j, n, m) \
  for ((i) = 0; (i) < (n); (i)++) \
    for ((j) = 0; (j) < (m); (j)++) \
      if (((i) * (m) + (j)) % PROCS == MYPROC)
#define for_my_2D(i, j, n, m) for_my_2d(i, j, n, m)

/* Pointers. */
int toproc(const void *global place);
void *tolocal(const void *global place);
void *global toglobal(int proc, const void *address);

/* One value: what `:=` and `:-` do of any type. */
void splitc_sync(void);
#define sync(...) splitc_sync(__VA_ARGS__) /* the C library has another */
void store_sync(int bytes);
void reset_store_sync(void);
void all_store_sync(void);
void splitc_poll(void);

/* Blocks of bytes on one processor. */
void bulk_read(void *to, const void *global from, unsigned long bytes);
void bulk_write(void *global to, const void *from, unsigned long bytes);
void bulk_get(void *to, const void *global from, unsigned long bytes);
void bulk_put(void *global to, const void *from, unsigned long bytes);
void bulk_store(void *global to, const void *from, unsigned long bytes);

/* By all processors. `count` blocks of `bytes`, spread over them, zeroed. */
void *spread all_spread_malloc(long count, unsigned long bytes);
void all_spread_free(void *spread memory);
void barrier(void);
double get_seconds(void);

/* Processor 0's value, on all. */
int all_bcast(int value);
int all_bcast_i(int value);
double all_bcast_d(double value);
/* Over all processors; to_one: the result is processor 0's, others have 0. */
int all_reduce_to_all_add(int value);
int all_reduce_to_all_max(int value);
int all_reduce_to_all_min(int value);
double all_reduce_to_all_dadd(double value);
double all_reduce_to_all_dmax(double value);
double all_reduce_to_all_dmin(double value);
int all_reduce_to_one_add(int value);
int all_reduce_to_one_max(int value);
int all_reduce_to_one_min(int value);
double all_reduce_to_one_dadd(double value);
double all_reduce_to_one_dmax(double value);
double all_reduce_to_one_dmin(double value);
/* Over processors 0 to this one. */
int all_scan_add(int value);
int all_scan_max(int value);
int all_scan_min(int value);
double all_scan_dadd(double value);
double all_scan_dmax(double value);
double all_scan_dmin(double value);

/* Runs function(address, argument) where `place` is, of its address there, while nothing else runs
 * on that processor, and returns what it returns. The function must not communicate. */
long splitc_atomic(long (*function)(), void *global place, long argument);
#define atomic(function, place, argument) splitc_atomic(function, place, argument)

/* clang-format on */
#endif
#endif
