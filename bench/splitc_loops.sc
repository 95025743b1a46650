/* The loops of splitc_loops.cc in Split-C's own syntax. */
#include <split-c/split-c.h>
#include <stdio.h>

#define INTS 1024
#define TURNS 20000

int splitc_main() {
  int *spread all = all_spread_malloc(PROCS, INTS * sizeof(int));
  int *global there = (int *global)(all + 1 % PROCS);
  int *block = (int *)tolocal(all + MYPROC), turn, i;
  unsigned sum = 0;
  double begin, read, write;

  for (i = 0; i < INTS; i++) block[i] = i;
  barrier();
  on_one {
    begin = get_seconds();
    for (turn = 0; turn < TURNS; turn++)
      for (i = 0; i < INTS; i++) sum += there[i];
    read = get_seconds() - begin;
    begin = get_seconds();
    for (turn = 0; turn < TURNS; turn++)
      for (i = 0; i < INTS; i++) there[i] = turn + i;
    write = get_seconds() - begin;
    printf("{\"read_ns\":%.3f,\"write_ns\":%.3f,\"sum\":%u}\n", read * 1e9 / TURNS / INTS,
           write * 1e9 / TURNS / INTS, sum);
  }
  barrier();
}
