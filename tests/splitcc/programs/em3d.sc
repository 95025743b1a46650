/* Waves on a bipartite graph, as the Split-C paper's em3d: every node takes values of others by
 * get. Prints a sum that depends on the number of nodes alone. */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

#define DEGREE 4

typedef struct node {
  double value;
  struct node *global from[DEGREE];
} node_t;

static int other(int i, int k, int n) { return (i * 7 + k * 13 + 3) % n; }

int splitc_main(int argc, char **argv) {
  int n = atoi(argv[1]), steps = atoi(argv[2]), i, k, step;
  node_t *spread e = all_spread_malloc(n, sizeof(node_t));
  node_t *spread h = all_spread_malloc(n, sizeof(node_t));
  double values[DEGREE], sum = 0;

  for_my_1d(i, n) {
    node_t *mine = tolocal(e + i), *its = tolocal(h + i);
    mine->value = i;
    its->value = 2 * i;
    for (k = 0; k < DEGREE; k++) {
      mine->from[k] = (node_t *global)(h + other(i, k, n));
      its->from[k] = (node_t *global)(e + other(i, k + 1, n));
    }
  }
  barrier();
  for (step = 0; step < 2 * steps; step++) {
    node_t *spread nodes = step % 2 == 0 ? e : h;
    for_my_1d(i, n) {
      node_t *mine = tolocal(nodes + i);
      for (k = 0; k < DEGREE; k++) values[k] := mine->from[k]->value;
      sync();
      for (k = 0; k < DEGREE; k++) mine->value -= 0.0625 * values[k];
    }
    barrier();
  }
  on_one {
    for (i = 0; i < n; i++) sum += e[i].value + h[i].value;
    printf("em3d: %.12g\n", sum);
  }
  barrier();
}
