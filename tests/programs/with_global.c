#include <stdio.h>

int iterations_done = 0;

int main(void) {
  printf("%d\n", ++iterations_done);
  return 0;
}
