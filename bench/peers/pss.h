/* Proportional set size of this process. */
#ifndef FAIRLEAD_BENCH_PEERS_PSS_H
#define FAIRLEAD_BENCH_PEERS_PSS_H
#include <stdio.h>

/* In KiB; 0 where the kernel does not say. */
static inline long pss_kib(void) {
  char line[256];
  long value = 0;
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "Pss: %ld kB", &value) == 1) break;
  }
  fclose(file);
  return value;
}

#endif
