/* Sorts numbers by counting: each goes to its place by a store, and all_store_sync says that all
 * have come. Prints whether they are sorted, and their sum. */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

#define VALUES 64

int counts[PROCS]::[VALUES];

int splitc_main(int argc, char **argv) {
  int n = atoi(argv[1]), i, p, value, place[VALUES], bad = 0;
  long sum = 0;
  int *spread keys = all_spread_malloc(n, sizeof(int));
  int *spread sorted = all_spread_malloc(n, sizeof(int));
  int *mine = tolocal(counts[MYPROC]);

  for (i = 0; i < VALUES; i++) mine[i] = 0;
  for_my_1d(i, n) {
    keys[i] = (int)((i * 2654435761u >> 7) % VALUES);
    mine[keys[i]]++;
  }
  barrier();
  for (i = 0, value = 0; value < VALUES; value++) {
    for (p = 0; p < PROCS; p++) {
      if (p == MYPROC) place[value] = i;
      i += counts[p][value];
    }
  }
  for_my_1d(i, n) sorted[place[keys[i]]++] :- keys[i];
  all_store_sync();
  on_one {
    for (i = 0; i < n; i++) {
      sum += sorted[i] * (long)(i + 1);
      if (i > 0 && sorted[i] < sorted[i - 1]) bad++;
    }
    printf("sort: %d out of place, %ld\n", bad, sum);
  }
  barrier();
  return bad;
}
