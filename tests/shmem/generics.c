/* C11's choice of a function by type, and static variables that are symmetric. */
#include <stdio.h>
#include <stdlib.h>

#include "fairlead/systems/shmem/shmem.h"

static long counter;
static double numbers[64];
static int flag = 5; /* initialised: .data, the others: .bss */
static uint64_t signals;

static void expect(int ok, const char* what) {
  if (ok) return;
  fprintf(stderr, "PE %d: not so: %s\n", shmem_my_pe(), what);
  shmem_global_exit(3);
}

static void use_statics(int me, int pes) {
  const int right = (me + 1) % pes;
  for (int pe = 0; pe < pes; ++pe) {
    shmem_atomic_add(&counter, me + 1, pe);
    const double mine = me + 0.5;
    shmem_put(&numbers[me], &mine, 1, pe);
  }
  shmem_p(&flag, me, right);
  shmem_barrier_all();
  expect(counter == (long)pes * (pes + 1) / 2, "each PE added its number");
  for (int pe = 0; pe < pes; ++pe) expect(numbers[pe] == pe + 0.5, "each PE put its number");
  expect(flag == (me + pes - 1) % pes, "the left neighbour put its number");
  expect(shmem_g(&flag, right) == me, "what was put can be got");
  expect(shmem_atomic_fetch(&counter, right) == counter, "a fetch");
}

static void use_generics(int me, int pes) {
  const int right = (me + 1) % pes;
  shmem_ctx_t ctx;
  expect(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0, "a context");
  long* words = shmem_calloc(8, sizeof(long));
  long ten[4] = {10, 11, 12, 13};
  shmem_put_signal(ctx, words, ten, 4, &signals, 7, SHMEM_SIGNAL_SET, right);
  shmem_wait_until(&signals, SHMEM_CMP_EQ, 7);
  expect(words[0] == 10 && words[3] == 13, "the data is there when the signal is");
  long got[4] = {0};
  shmem_iget(ctx, got, words, 1, 2, 2, right);
  shmem_quiet();
  expect(got[0] == 10 && got[1] == 12, "every second word");
  expect(shmem_atomic_compare_swap(ctx, &words[5], 0L, 9L, right) == 0, "was zero");
  long before;
  shmem_atomic_fetch_add_nbi(ctx, &before, &words[5], 1L, right);
  shmem_ctx_quiet(ctx);
  expect(before == 9, "was nine");
  shmem_ctx_destroy(ctx);
  shmem_team_sync(SHMEM_TEAM_WORLD);
  expect(words[5] == 10, "was swapped and increased");
  expect(shmem_sum_reduce(SHMEM_TEAM_WORLD, &words[6], &words[5], 1) == 0, "a reduction");
  expect(words[6] == 10L * pes, "the sum");
  shmem_sync(SHMEM_TEAM_WORLD);
  expect(shmem_sum_exscan(SHMEM_TEAM_WORLD, &words[7], &words[5], 1) == 0, "a scan");
  expect(words[7] == 10L * me, "the sum of those before");
  shmem_sync(SHMEM_TEAM_WORLD);
  shmem_free(words);
}

/* Names of before 1.4. PE `right` is this one's alone until the barrier. */
static void use_old_generics(int me, int pes) {
  static long long word;
  static float real;
  const int right = (me + 1) % pes;
  shmem_set(&word, 20LL, right);
  expect(shmem_finc(&word, right) == 20 && shmem_fadd(&word, 4LL, right) == 21, "a sum");
  shmem_inc(&word, right);
  shmem_add(&word, 2LL, right);
  expect(shmem_swap(&word, 30LL, right) == 28, "a larger sum");
  expect(shmem_cswap(&word, 30LL, 31LL, right) == 30, "was swapped");
  const long long* const same = &word;
  expect(shmem_fetch(same, right) == 31, "was swapped again");
  expect(shmem_swap(&real, 2.5F, right) == 0, "was zero");
  shmem_barrier_all();
  expect(word == 31 && real == 2.5F, "the left neighbour's words");
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();
  use_statics(me, pes);
  shmem_barrier_all();
  use_generics(me, pes);
  shmem_barrier_all();
  use_old_generics(me, pes);
  shmem_barrier_all();
  if (me == 0) printf("all is well on %d PEs\n", pes);
  shmem_finalize();
  return EXIT_SUCCESS;
}
