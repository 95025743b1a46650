/* The null program that memory is compared with: waits for a line, prints its proportional set
 * size, stays until its input ends. */
#include "bench/peers/pss.h"

int main(void) {
  if (getchar() == EOF) return 1;
  printf("%ld\n", pss_kib());
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
