/* What the language has, each thing checked. Prints "rank R: all checks passed". */
#include <split-c/split-c.h>
#include <split-c/control.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                        \
  do {                                                                     \
    checks++;                                                              \
    if (!(what)) {                                                         \
      printf("rank %d: line %d: %s\n", MYPROC, __LINE__, #what);           \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

struct inner { short s[3]; double d; };
struct item {
  int number;
  struct inner in;
  struct item *global next;
};

int checks;
int counter = 5; /* every processor has its own */
static double statics[4];
int outside[PROCS]::[4], plain;
int grid[PROCS][3]::[2];
struct item items[8];

/* A spread array as a parameter, of blocks whose size is another one. */
static int sum(int v, int w, int b, int X[v][w]::[b]) {
  int i, j, k, all = 0;
  for (i = 0; i < v; i++)
    for (j = 0; j < w; j++)
      for (k = 0; k < b; k++) all += X[i][j][k];
  return all;
}

/* One in a variable: gone at the end, whichever way. */
static int automatic(int n) {
  int mine[PROCS]::[n], i, others[2 * PROCS]::;
  if (n == 0) return 0;
  for (i = 0; i < n; i++) mine[MYPROC][i] = MYPROC * n + i;
  for_my_1d(i, 2 * PROCS) others[i] = i;
  barrier();
  i = mine[(MYPROC + 1) % PROCS][n - 1] + others[2 * PROCS - 1];
  barrier();
  return i + automatic(n / 2);
}

static long add(void *at, long amount) { return *(int *)at += (int)amount; }

/* The other calls of all, and those of blocks. */
static void together() {
  int first = MYPROC == 0, last = PROCS - 1, block[4], i;
  double half = 0.5 * MYPROC, sum = 0.25 * PROCS * (PROCS - 1);
  CHECK(all_bcast_i(MYPROC + 8) == 8 && all_bcast_d(MYPROC + 0.5) == 0.5);
  CHECK(all_reduce_to_all_max(MYPROC) == last && all_reduce_to_all_min(MYPROC + 3) == 3);
  CHECK(all_reduce_to_all_dadd(half) == sum && all_reduce_to_all_dmin(half + 1) == 1);
  CHECK(all_reduce_to_one_add(1) == first * PROCS && all_reduce_to_one_min(MYPROC + 2) == first * 2);
  CHECK(all_reduce_to_one_dadd(half) == first * sum);
  CHECK(all_reduce_to_one_dmax(half) == first * 0.5 * last);
  CHECK(all_reduce_to_one_dmin(half + 2) == first * 2);
  CHECK(all_scan_max(-MYPROC) == 0 && all_scan_min(-MYPROC) == -MYPROC);
  CHECK(all_scan_dadd(0.5) == 0.5 * (MYPROC + 1));
  CHECK(all_scan_dmax(half) == half && all_scan_dmin(half) == 0);
  CHECK(get_seconds() >= 0 && PROCSLOG >= 0 && 1 << PROCSLOG <= PROCS && PROCS < 2 << PROCSLOG);
  splitc_poll();
  barrier();
  for (i = 0; i < 4; i++) block[i] = 7 * MYPROC + i;
  bulk_write(outside[(MYPROC + 1) % PROCS], block, sizeof block);
  barrier();
  bulk_get(block, outside[MYPROC], sizeof block);
  sync();
  CHECK(block[3] == 7 * ((MYPROC + PROCS - 1) % PROCS) + 3);
  barrier();
  bulk_store(outside[(MYPROC + 1) % PROCS], block, sizeof block);
  store_sync(sizeof block);
  barrier();
}

static int *global there(int proc) { return (int *global)toglobal(proc, &counter); }

int splitc_main(int argc, char **argv) {
  int right = (MYPROC + 1) % PROCS, left = (MYPROC + PROCS - 1) % PROCS;
  int *global gp = there(right), *lp = &counter;
  int i, j, x = 0, y = 0;
  double d;
  struct item copy, *global gi;
  int *spread sp, *spread begin;
  int block[4];

  CHECK(argc == 3 && strcmp(argv[2], "two") == 0);
  /* A string of two lines, as old compilers took it: the lines below it keep their numbers. */
  x = __LINE__;
  y = strcmp("it's MYPROC, // x
*global PROCS", "it's MYPROC, // x\n*global PROCS");
  CHECK(y == 0 && __LINE__ - x == 3);
  CHECK(toproc(gp) == right && tolocal(gp) == (void *)lp);
  CHECK((int *)gp == lp && (int *global)lp == there(MYPROC));
  CHECK((int *global)0 == 0);

  /* Global pointers: reads, writes, and what is made of them. */
  *gp = 10 + MYPROC;
  barrier();
  CHECK(counter == 10 + left);
  CHECK(*gp == 10 + MYPROC && *there(right) + 1 == 11 + MYPROC);
  barrier();
  *gp += 5;
  CHECK((*gp)++ == 15 + MYPROC);
  CHECK(++*gp == 17 + MYPROC);
  CHECK((*gp -= 7) == 10 + MYPROC);
  barrier();
  *(double *global)toglobal(right, &statics[1]) = 2.5;
  barrier();
  CHECK(statics[1] == 2.5);

  /* Structures, their members, and global pointers in them. */
  gi = (struct item *global)toglobal(right, items);
  gi[2].number = MYPROC;
  gi[2].in.s[1] = -3;
  (gi + 2)->in.d = 0.5;
  (*(gi + 2)).next = gi + 1;
  (gi + 1)->number = 77;
  barrier();
  CHECK(items[2].number == left && items[2].in.s[1] == -3 && items[2].in.d == 0.5);
  CHECK(items[2].next->number == 77 && toproc(items[2].next) == MYPROC);
  copy = gi[2];
  CHECK(copy.number == MYPROC && copy.in.s[1] == -3 && copy.next == gi + 1);
  CHECK(copy.next - gi == 1);
  copy.number = 5;
  gi[3] = copy;
  barrier();
  CHECK(items[3].number == 5);

  /* Gets, puts and stores. */
  barrier();
  x := *gp;
  copy := gi[2];
  sync();
  CHECK(x == 10 + MYPROC && copy.number == MYPROC);
  gi[4].in.d := x + 0.25;
  sync();
  barrier();
  CHECK(items[4].in.d == 10.25 + left);
  barrier();
  gi[5].number :- x > 0 ? 1 : -1; /* the second `:` and `-` are no store */
  store_sync(sizeof(int));
  CHECK(items[5].number == 1);
  gi[6].number :- 4;
  all_store_sync();
  reset_store_sync();
  barrier();
  gi[6].number :- 2;
  store_sync(sizeof(int));
  CHECK(items[6].number == 2);
  barrier();
  *gp :- 3;
  all_store_sync();
  CHECK(counter == 3);
  y = x ?x :-1;
  CHECK(y == x);
  barrier();

  /* Spread arrays outside of functions, with one and two indices left of the colons. */
  for (i = 0; i < 4; i++) outside[right][i] = 100 * MYPROC + i;
  barrier();
  CHECK(((int *)tolocal(outside[MYPROC]))[3] == 100 * left + 3);
  bulk_read(block, outside[right], sizeof block);
  CHECK(block[2] == 100 * MYPROC + 2);
  block[2] = 1;
  bulk_put(&outside[right][1], block + 2, 2 * sizeof(int));
  sync();
  barrier();
  CHECK(outside[MYPROC][1] == 1 && outside[MYPROC][2] == 100 * left + 3);
  for_my_2d(i, j, PROCS, 3) {
    grid[i][j][0] = 10 * i + j;
    grid[i][j][1] = 1000;
  }
  barrier();
  for (i = 0; i < PROCS; i++)
    for (j = 0; j < 3; j++) {
      CHECK(grid[i][j][0] == 10 * i + j);
      CHECK(toproc(grid[i][j]) == (3 * i + j) % PROCS);
    }
  CHECK(sum(PROCS, 3, 2, grid) == 3 * PROCS * 1000 + 3 * PROCS + 15 * PROCS * (PROCS - 1));
  barrier();

  /* Spread pointers walk the processors first. */
  begin = all_spread_malloc(3 * PROCS, sizeof(int));
  for (sp = begin + MYPROC, i = MYPROC; i < 3 * PROCS; i += PROCS, sp += PROCS) *sp = i * i;
  barrier();
  for (sp = begin, i = 0; sp < begin + 3 * PROCS; sp++, i++) {
    CHECK(*sp == i * i && toproc(sp) == i % PROCS && sp - begin == i && begin[i] == i * i);
  }
  CHECK(*--sp == (3 * PROCS - 1) * (3 * PROCS - 1));
  CHECK(*((int *global)(begin + 1 % PROCS) + 1) == (PROCS + 1 % PROCS) * (PROCS + 1 % PROCS));
  barrier();
  all_spread_free(begin);

  CHECK(automatic(8) == 4 * (2 * PROCS - 1) + right * 15 + 7 + 3 + 1 + 0);

  /* All together. */
  CHECK(all_reduce_to_all_add(MYPROC + 1) == PROCS * (PROCS + 1) / 2);
  CHECK(all_reduce_to_one_max(MYPROC) == (MYPROC == 0 ? PROCS - 1 : 0));
  CHECK(all_scan_add(1) == MYPROC + 1);
  CHECK(all_bcast(MYPROC + 9) == 9);
  d = all_reduce_to_all_dmax(0.5 * MYPROC);
  CHECK(d == 0.5 * (PROCS - 1));
  together();
  counter = 0;
  barrier();
  atomic(add, (int *global)toglobal(0, &counter), 2);
  barrier();
  on_one CHECK(counter == 2 * PROCS);
  on_proc(PROCS - 1) plain = 1;
  CHECK(plain == (MYPROC == PROCS - 1));
  printf("rank %d: all checks passed\n", MYPROC);
}
