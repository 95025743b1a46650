/* Each processor counts its part of an image of tiles; the counts are transposed by bulk gets and
 * added. Prints them. */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

static void count(int v, int w, int q, int r, int X[v][w]::[q][r], int k, int all[PROCS]::[k]) {
  int parts[PROCS]::[k], mine[PROCS]::[k * PROCS];
  int (*tile)[r] = tolocal(X[MYPROC / w][MYPROC % w]);
  int *own = tolocal(parts[MYPROC]), *rows = tolocal(mine[MYPROC]);
  int i, j, each = (k + PROCS - 1) / PROCS, first = MYPROC * each;
  int n = first >= k ? 0 : k - first < each ? k - first : each;

  for (i = 0; i < k; i++) own[i] = 0;
  for (i = 0; i < q; i++)
    for (j = 0; j < r; j++) own[tile[i][j]]++;
  barrier();
  for (i = 0; i < PROCS; i++) {
    if (n > 0) bulk_get(rows + i * each, &parts[i][first], n * sizeof(int));
  }
  sync();
  for (j = 0; j < n; j++) {
    int sum = 0;
    for (i = 0; i < PROCS; i++) sum += rows[i * each + j];
    all[0][first + j] := sum;
  }
  sync();
  barrier();
}

int splitc_main(int argc, char **argv) {
  int v = 1, w = PROCS, n = atoi(argv[1]), k = 7, i, j;
  int q = n / v, r = n / w;
  int (*spread X)[q][r] = all_spread_malloc(v * w, q * r * sizeof(int));
  int all[PROCS]::[k];

  for (i = 0; i < q; i++)
    for (j = 0; j < r; j++) X[MYPROC][i][j] = (i * i + (MYPROC * r + j) * 3) % k;
  barrier();
  count(v, w, q, r, X, k, all);
  on_one {
    printf("histogram:");
    for (i = 0; i < k; i++) printf(" %d", all[0][i]);
    printf("\n");
  }
  barrier();
  all_spread_free(X);
  return 0;
}
